import * as fc from 'fast-check'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import type { SteadyClock } from '../../src/core/clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import { handleError } from '../../src/requests/http/error-handler.ts'
import { takeStrictJson } from '../../src/requests/http/json-body.ts'
import { AnswerStore } from '../../src/requests/idempotency/answer-store.ts'
import { answerKind } from '../../src/requests/idempotency/keyed-request.ts'
import { Posts } from '../../src/requests/idempotency/posts.ts'
import { countChange, totalOf } from '../../src/storage/state/totals.ts'
import { TestState } from '../support/test-state.ts'

const dayUs = 24 * 3_600 * 1_000_000

/** A service with one POST that adds a user with the name in the body, on a real state database. */
class Subject implements AsyncDisposable, SteadyClock {
  readonly #state: TestState
  readonly #app: FastifyInstance
  #nowUs = 1_000 * dayUs
  /** How often it was decided what a request does. */
  planned = 0
  /** What the server has warned of, or worse. */
  readonly complaints: string[] = []

  static async open(): Promise<Subject> {
    return new Subject(await TestState.open())
  }

  private constructor(state: TestState) {
    this.#state = state
    const stream = { write: (line: string) => void this.complaints.push(line) }
    this.#app = Fastify({ logger: { level: 'warn', stream } })
    this.#app.setErrorHandler(handleError)
    takeStrictJson(this.#app)
    const cipher = new MasterKey(Buffer.alloc(32, 7))
    const answers = new AnswerStore({ state: state.state, writer: state, cipher })
    const posts = new Posts({ answers, writer: state, clock: this })
    let made = 0
    this.#app.post<{ Body: { name: string }; Params: { place: string } }>(
      '/:place',
      async (request, reply) => {
        const userId = String(request.headers['x-user'] ?? 'somebody') as UserId
        return await posts.answer({ request, reply, userId }, async () => {
          this.planned++
          const { name } = request.body
          if (name === 'broken') throw new Error('broken')
          const id = `${name} ${made++}`
          const insert = state.state.insertInto('users').values({ id, username: id, created_at: 0 })
          return { statusCode: 201, body: { id }, changes: [insert] }
        })
      },
    )
  }

  steadyUs(): number {
    return this.#nowUs
  }

  pass(us: number): void {
    this.#nowUs += us
  }

  async post(
    key: string | undefined,
    name: string,
    { place = 'users', user = 'somebody' } = {},
  ): Promise<LightMyRequestResponse> {
    const headers = { 'x-user': user, ...(key !== undefined && { 'idempotency-key': key }) }
    return await this.#app.inject({ method: 'POST', url: `/${place}`, headers, payload: { name } })
  }

  async made(): Promise<readonly string[]> {
    const rows = await this.#state.state.selectFrom('users').select('id').execute()
    return rows.map(({ id }) => id).toSorted()
  }

  async remembered(user = 'somebody'): Promise<number> {
    const { state } = this.#state
    const counted = await totalOf(state, 'idempotent_answers', user)
    const rows = await state
      .selectFrom('idempotent_answers')
      .select('key')
      .where('user_id', '=', user)
      .execute()
    expect(rows).toHaveLength(counted)
    return counted
  }

  /** Makes it look as if the user had used so many keys. */
  async pretend(count: number, user: string): Promise<void> {
    const { state } = this.#state
    await this.#state.commit(
      countChange(state, 'idempotent_answers', user, 1),
      state.updateTable('totals').set({ total: count }).where('owner_id', '=', user),
    )
  }

  async storedText(): Promise<string> {
    const rows = await this.#state.state.selectFrom('idempotent_answers').selectAll().execute()
    return rows.map((row) => Buffer.from(row.body_encrypted).toString('latin1')).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close()
    await this.#state[Symbol.asyncDispose]()
  }
}

describe('a POST under a key', () => {
  test('is done once and answered the same again, which the answer says', async () => {
    await using subject = await Subject.open()

    const first = await subject.post('a', 'boiler')
    const second = await subject.post('a', 'boiler')

    expect(first.statusCode).toBe(201)
    expect([second.statusCode, second.body]).toEqual([first.statusCode, first.body])
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(await subject.made()).toHaveLength(1)
  })

  test('is neither decided nor answered a second time when it comes again', async () => {
    await using subject = await Subject.open()

    for (let times = 0; times < 3; times++) await subject.post('a', 'boiler')

    expect(subject.planned).toBe(1)
    expect(subject.complaints).toEqual([])
  })

  test('is done once however many come at once', async () => {
    await using subject = await Subject.open()

    const answers = await Promise.all(Array.from({ length: 50 }, () => subject.post('a', 'boiler')))

    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    expect(await subject.made()).toHaveLength(1)
  })

  test('is refused with another body, and nothing is done', async () => {
    await using subject = await Subject.open()
    await subject.post('a', 'boiler')

    const other = await subject.post('a', 'pump')

    expect(other.statusCode).toBe(422)
    expect(other.json()).toMatchObject({ error: 'idempotency_conflict' })
    expect(await subject.made()).toHaveLength(1)
  })

  test('that failed is done by the next one', async () => {
    await using subject = await Subject.open()

    const failed = await subject.post('a', 'broken')
    const next = await subject.post('a', 'boiler')

    expect([failed.statusCode, next.statusCode]).toEqual([500, 201])
  })

  test('lets those that waited go on when it fails', async () => {
    await using subject = await Subject.open()

    const answers = await Promise.all(Array.from({ length: 5 }, () => subject.post('a', 'broken')))

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([500, 500, 500, 500, 500])
    expect((await subject.post('a', 'boiler')).statusCode).toBe(201)
  })

  test('is remembered for 24 hours, and then forgotten', async () => {
    await using subject = await Subject.open()
    const first = await subject.post('a', 'boiler')

    subject.pass(dayUs - 1)
    const inTime = await subject.post('a', 'boiler')
    subject.pass(1)
    const late = await subject.post('a', 'pump')

    expect(inTime.body).toBe(first.body)
    expect(late.statusCode).toBe(201)
    expect(late.headers['idempotency-replayed']).toBeUndefined()
    expect(await subject.made()).toHaveLength(2)
    expect(await subject.remembered()).toBe(1)
  })

  test('is refused with 429 when the user has too many, and others are not', async () => {
    await using subject = await Subject.open()
    await subject.pretend(answerKind.max, 'eager')

    const refused = await subject.post('a', 'boiler', { user: 'eager' })

    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({ error: 'rate_limited' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(await subject.made()).toEqual([])
    expect((await subject.post('a', 'boiler', { user: 'calm' })).statusCode).toBe(201)
    expect((await subject.post(undefined, 'boiler', { user: 'eager' })).statusCode).toBe(201)
  })

  test('leaves nothing readable of its answer on the disk', async () => {
    await using subject = await Subject.open()

    await subject.post('a', 'a-secret-that-is-shown-once')

    expect(await subject.storedText()).not.toBe('')
    expect(await subject.storedText()).not.toContain('secret')
  })
})

test('without a key, every POST is done', async () => {
  await using subject = await Subject.open()

  await Promise.all(Array.from({ length: 5 }, () => subject.post(undefined, 'boiler')))

  expect(await subject.made()).toHaveLength(5)
  expect(await subject.remembered()).toBe(0)
})

test.each(['', 'x'.repeat(256)])('a key that is empty or too long is 400', async (key) => {
  await using subject = await Subject.open()

  const { statusCode } = await subject.post(key, 'boiler')

  expect(statusCode).toBe(400)
  expect(await subject.made()).toEqual([])
})

test('whatever comes in whatever order, one thing is made for each user, path and key', async () => {
  const request = fc.record({
    key: fc.constantFrom('a', 'b', 'ab', '__proto__'),
    name: fc.constantFrom('boiler', 'pump', 'broken'),
    place: fc.constantFrom('users', 'vaults'),
    user: fc.constantFrom('one', 'two', 'one","users'),
  })
  const waves = fc.array(fc.array(request, { minLength: 1, maxLength: 8 }), { maxLength: 6 })
  const property = fc.asyncProperty(waves, async (all) => {
    await using subject = await Subject.open()
    const winners = new Map<string, { readonly name: string; readonly body: string }>()
    for (const wave of all) {
      const answers = await Promise.all(wave.map((one) => subject.post(one.key, one.name, one)))
      for (const [index, { key, name, place, user }] of wave.entries()) {
        const { statusCode, body, headers } = answers[index] as LightMyRequestResponse
        const identity = JSON.stringify([key, place, user])
        const winner = winners.get(identity)
        if (statusCode === 201 && headers['idempotency-replayed'] === undefined) {
          expect(winner).toBeUndefined()
          winners.set(identity, { name, body })
        }
      }
      for (const [index, { key, name, place, user }] of wave.entries()) {
        const { statusCode, body } = answers[index] as LightMyRequestResponse
        const winner = winners.get(JSON.stringify([key, place, user]))
        if (statusCode === 201) expect({ name, body }).toEqual(winner)
        else if (statusCode === 422) expect(name).not.toBe(winner?.name)
        else expect([statusCode, name]).toEqual([500, 'broken'])
      }
    }
    const made = [...winners.values()].map(({ body }) => (JSON.parse(body) as { id: string }).id)
    expect(await subject.made()).toEqual(made.toSorted())
  })
  await fc.assert(property, { numRuns: 40 })
})
