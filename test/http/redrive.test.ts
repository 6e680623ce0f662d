import { beforeEach, describe, expect, test } from 'vitest'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Entry {
  readonly id: number
  readonly reason: string
  readonly payload: string
}

interface Redriven {
  readonly redriven: number
  readonly accepted: number
  readonly remaining: number
  readonly stillRefused: readonly { readonly id: number; readonly reason: string }[]
}

let streamId: string

beforeEach(async () => {
  streamId = await service.api.createStream({ temperature: { type: 'number' } })
})

async function push(...readings: readonly object[]): Promise<void> {
  for (const one of readings) await service.api.withToken('POST', `/streams/${streamId}/data`, one)
}

async function held(): Promise<readonly Entry[]> {
  const path = `/streams/${streamId}/quarantine`
  return (await service.api.withToken<{ entries: Entry[] }>('GET', path)).body.entries
}

function redrive(body?: object, headers = {}): Promise<Answer<Redriven>> {
  const path = `/streams/${streamId}/quarantine/redrive`
  return service.api.withToken<Redriven>('POST', path, body, headers)
}

/** The definition as it would have been right. */
async function fix(type = 'string'): Promise<void> {
  const schema = { temperature: { type } }
  const { status, body } = await service.api.withToken('PUT', `/streams/${streamId}`, { schema })
  expect(status, JSON.stringify(body)).toBe(200)
}

const t = (second: number) => `2026-01-01T00:00:0${second}.000000Z`
const hot = (second: number) => ({ timestamp: t(second), temperature: 'hot' })

describe('a redrive after a fix of the definition', () => {
  test('stores what fits now, and takes it out of the quarantine', async () => {
    await push(hot(1), [hot(2), { timestamp: t(3), temperature: 21 }])
    await fix()

    const { status, body } = await redrive()

    expect(status).toBe(200)
    expect(body).toEqual({ streamId, redriven: 2, accepted: 2, remaining: 0, stillRefused: [] })
    expect(await held()).toEqual([])
    expect(await service.api.settled(streamId, 3)).toEqual({
      received: 3,
      stored: 3,
      duplicates: 0,
      unchanged: 0,
      filtered: 0,
      quarantined: 0,
      discarded: 0,
      pending: 0,
    })
    const stored = await service.api.readAll(streamId, `&end=${t(3)}`)
    expect(stored).toMatchObject([hot(1), hot(2)])
  })

  test('leaves what still does not fit, and says why', async () => {
    await push(hot(1), { timestamp: t(2), temperature: [] })
    await fix()

    const { body } = await redrive()

    const [entry] = await held()
    expect(body).toMatchObject({ redriven: 1, accepted: 1, remaining: 1 })
    expect(body.stillRefused).toEqual([
      {
        id: entry?.id,
        reason: 'schema_mismatch',
        message: 'temperature must be string',
        remedy: refusalRemedy('schema_mismatch'),
        details: [{ path: 'temperature', message: 'must be string' }],
      },
    ])
    expect(entry).toMatchObject({ message: 'temperature must be string' })
  })

  test('asked for twice finds nothing more to do', async () => {
    await push(hot(1))
    await fix()
    await redrive()

    expect((await redrive()).body).toMatchObject({ redriven: 0, accepted: 0, remaining: 0 })
    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, stored: 1 })
  })

  test('takes only the ids that it was given', async () => {
    await push(hot(1), hot(2), hot(3))
    await fix()
    const [first, , third] = await held()

    const { body } = await redrive({ ids: [first?.id, third?.id] })

    expect(body).toMatchObject({ redriven: 2 })
    expect(await held()).toMatchObject([{ payload: JSON.stringify(hot(2)) }])
  })

  test.each([
    ['one reason', 'timestamp_invalid'],
    ['several', ['timestamp_invalid', 'malformed']],
  ])('takes only entries with %s', async (_, reason) => {
    await push(hot(1), { timestamp: 'never', temperature: 1 })
    await fix()

    const { body } = await redrive({ reason })

    expect(body).toMatchObject({ redriven: 0, remaining: 1 })
    expect(await held()).toHaveLength(2)
  })

  test('takes only what was received in a time', async () => {
    await push(hot(1))
    await fix()

    expect((await redrive({ end: t(9) })).body).toMatchObject({ redriven: 0, remaining: 0 })
    expect((await redrive({ start: t(9) })).body).toMatchObject({ redriven: 1 })
  })

  test('is done once under an Idempotency-Key', async () => {
    await push(hot(1))
    await fix()
    const key = { 'idempotency-key': `redrive ${streamId}` }
    const first = await redrive({}, key)
    await push({ timestamp: t(2), temperature: 7 })

    const again = await redrive({}, key)

    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  test('many times at once redrives everything once, or says that one is under way', async () => {
    const readings = Array.from({ length: 2_000 }, (_, index) => ({
      timestamp: new Date(index).toISOString(),
      temperature: 'hot',
    }))
    await push(readings)
    await fix()

    const answers = await Promise.all(Array.from({ length: 5 }, () => redrive()))

    const done = answers.filter(({ status }) => status === 200)
    expect(done.reduce((sum, { body }) => sum + body.redriven, 0)).toBe(2_000)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([409]))
    expect(await service.api.settled(streamId, 2_000)).toMatchObject({
      received: 2_000,
      stored: 2_000,
      duplicates: 0,
    })
  })

  test('does nothing to a paused stream', async () => {
    await push(hot(1))
    await service.api.withToken('POST', `/streams/${streamId}/pause`)

    const { status, body } = await redrive()

    expect(status).toBe(409)
    expect(body).toMatchObject({ error: 'stream_paused' })
    expect(await held()).toMatchObject([{ reason: 'schema_mismatch' }])
  })
})

describe('a redrive is refused', () => {
  test.each([
    ['an unknown member', { all: true }, 'all'],
    ['ids that are none', { ids: ['x'] }, 'ids.0'],
    ['no ids', { ids: [] }, 'ids'],
    ['a time that is none', { start: 'yesterday' }, 'start'],
    ['an end before the start', { start: t(2), end: t(1) }, 'end'],
  ])('with 400 for %s', async (_, body, path) => {
    const answer = await redrive(body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })
})
