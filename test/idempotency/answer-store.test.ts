import type { Compilable } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { keptKey } from '../../src/core/idempotency-key.ts'
import type { UserId } from '../../src/core/ids.ts'
import { AnswerStore } from '../../src/requests/idempotency/answer-store.ts'
import type { StateWriter } from '../../src/storage/state/database.ts'
import { PurgeTimer } from '../../src/storage/state/purge-timer.ts'
import { totalOf } from '../../src/storage/state/totals.ts'
import { TestState } from '../support/test-state.ts'

const dayUs = 24 * 3_600 * 1_000_000
const minuteMs = 60_000
const cipher = new MasterKey(Buffer.alloc(32, 7))

function request(key = 'k', user = 'ada') {
  return { userId: user as UserId, scope: '/users {}', key, bodyDigest: 'd' }
}

function storeOver(database: TestState, writer: StateWriter = database): AnswerStore {
  return new AnswerStore({ state: database.state, writer, cipher })
}

function answer(id: string) {
  return { statusCode: 201, body: { id } }
}

/** Lets something happen between the decision to make a change and the change. */
class LateWriter implements StateWriter {
  readonly #writer: StateWriter
  readonly #before: () => Promise<unknown>

  constructor(writer: StateWriter, before: () => Promise<unknown>) {
    this.#writer = writer
    this.#before = before
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    await this.#before()
    await this.#writer.commit(...changes)
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    await this.#before()
    return await this.#writer.attempt(...changes)
  }
}

test('who is late to forget an expired answer leaves the new one that another process has made', async () => {
  await using database = await TestState.open()
  const store = storeOver(database)
  await database.attempt(...store.remember(request(), answer('old'), 0))
  const late = new LateWriter(database, async () => {
    expect(await store.find(request(), dayUs)).toBeUndefined()
    expect(await database.attempt(...store.remember(request(), answer('new'), dayUs))).toBe(true)
  })

  await storeOver(database, late).find(request(), dayUs)

  expect(await store.find(request(), dayUs)).toMatchObject(answer('new'))
  expect(await totalOf(database.state, 'idempotent_answers', 'ada')).toBe(1)
})

async function keysIn({ state }: TestState): Promise<readonly string[]> {
  const rows = await state.selectFrom('idempotent_answers').select('key').execute()
  return rows.map(({ key }) => key)
}

describe('expired answers', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  test('are removed although nobody asks for them', async () => {
    await using database = await TestState.open()
    const store = storeOver(database)
    await database.attempt(...store.remember(request('old'), answer('1'), 0))
    await database.attempt(...store.remember(request('old', 'bob'), answer('2'), 0))
    await database.attempt(...store.remember(request('young'), answer('3'), 1))
    const timer = new PurgeTimer([() => store.purge(dayUs)], (error) => {
      throw error
    })

    vi.advanceTimersByTime(minuteMs)

    await expect.poll(() => keysIn(database)).toEqual([keptKey(cipher, 'young')])
    expect(await totalOf(database.state, 'idempotent_answers', 'ada')).toBe(1)
    expect(await totalOf(database.state, 'idempotent_answers', 'bob')).toBe(0)
    await timer.stop()
  })

  test('that cannot be removed are told of, keep nothing else waiting, and are tried again', async () => {
    await using database = await TestState.open()
    const store = storeOver(database)
    await database.attempt(...store.remember(request(), answer('1'), 0))
    const failures: unknown[] = []
    const full = new Error('the disk is full')
    const timer = new PurgeTimer([() => Promise.reject(full), () => store.purge(dayUs)], (error) =>
      failures.push(error),
    )

    vi.advanceTimersByTime(minuteMs)
    await expect.poll(() => keysIn(database)).toEqual([])
    const failuresAfterMinute = () => {
      vi.advanceTimersByTime(minuteMs)
      return failures.length
    }
    await expect.poll(failuresAfterMinute).toBeGreaterThan(1)

    expect(new Set(failures)).toEqual(new Set([full]))
    await timer.stop()
  })
})
