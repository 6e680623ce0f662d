import { expect, test, vi } from 'vitest'
import { largePageMs, PageRoom, smallBytesMax } from '../../connectors/http-client/page-room.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'

const never = new AbortController().signal
const large = 2 * smallBytesMax

/** All places for large pages, taken. */
async function full() {
  const rooms = Array.from({ length: 4 }, () => new PageRoom())
  for (const room of rooms) await room.need(large, never)
  return rooms
}

async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  const waits = Symbol('waits')
  await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.race([promise, Promise.resolve(waits)])) === waits
}

test('a large page waits until another one is done, in turn, and a small one does not', async () => {
  const rooms = await full()
  const [first, second, small] = [new PageRoom(), new PageRoom(), new PageRoom()]
  const [one, two] = [first.need(large, never), second.need(large, never)]
  await small.need(smallBytesMax, never)
  expect([await isWaiting(one), await isWaiting(two)]).toEqual([true, true])
  rooms[0]?.[Symbol.dispose]()
  await one
  expect(await isWaiting(two)).toBe(true)
  first[Symbol.dispose]()
  await two
  for (const room of [...rooms, first, second, small]) room[Symbol.dispose]()
})

test('who has a place does not take another one, and gives back what it took', async () => {
  const rooms = await full()
  await rooms[0]?.need(2 * large, never)
  for (const room of rooms) room[Symbol.dispose]()
  rooms[0]?.[Symbol.dispose]()
  for (const room of await full()) room[Symbol.dispose]()
})

test('who gives up waiting takes no place', async () => {
  const rooms = await full()
  const [gone, last] = [new PageRoom(), new PageRoom()]
  const stop = new AbortController()
  const waiting = gone.need(large, stop.signal)
  const next = last.need(large, never)
  stop.abort(new Error('given up'))
  await expect(waiting).rejects.toThrow('given up')
  await expect(new PageRoom().need(large, stop.signal)).rejects.toThrow('given up')
  rooms[0]?.[Symbol.dispose]()
  await next
  for (const room of [...rooms, gone, last]) room[Symbol.dispose]()
  for (const room of await full()) room[Symbol.dispose]()
})

test('who gives up when it is just given a place gives it back', async () => {
  const rooms = await full()
  const [called, last] = [new PageRoom(), new PageRoom()]
  const stop = new AbortController()
  const given = called.need(large, stop.signal)
  const next = last.need(large, never)
  rooms[0]?.[Symbol.dispose]()
  stop.abort(new Error('given up'))
  await given
  expect(await isWaiting(next)).toBe(true)
  called[Symbol.dispose]()
  await next
  for (const room of [...rooms, last]) room[Symbol.dispose]()
  for (const room of await full()) room[Symbol.dispose]()
})

test('a large page is taken when there is room, and holds it until it is durable', async () => {
  const rooms = await full()
  const body = JSON.stringify([{ text: 'x'.repeat(large) }])
  await using api = await ApiServer.start((_, answer) => json(answer, body))
  const waiting = new ApiRounds({ endpoint: api.origin, timeout: '200ms' }, [api.port])
  expect((await waiting.failure()).message).toContain('no complete answer')
  rooms[0]?.[Symbol.dispose]()
  expect(await new ApiRounds({ endpoint: api.origin }, [api.port]).texts()).toEqual([
    body.slice(1, -1),
  ])
  for (const room of rooms) room[Symbol.dispose]()
  for (const room of await full()) room[Symbol.dispose]()
})

test('a large page that drips gives its place back, however patient its source is', async () => {
  const begun = Promise.withResolvers<void>()
  await using api = await ApiServer.start((_, answer) => {
    answer.write('x'.repeat(large), () => begun.resolve())
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const failure = new ApiRounds({ endpoint: api.origin, timeout: '1h' }, [api.port]).failure()
    await begun.promise
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 60_000 })
    vi.advanceTimersByTime(largePageMs)
    expect((await failure).message).toContain('has to be here within 60 s')
  } finally {
    vi.useRealTimers()
  }
  for (const room of await full()) room[Symbol.dispose]()
})
