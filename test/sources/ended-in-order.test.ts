import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { webSocket } from '../../connectors/web-events/web-socket.ts'
import type { FetchConnector, FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { MessageServer } from '../support/message-server.ts'

const patience = { timeout: 30_000, interval: 5 }

function payloadOf(number: number): FetchedMessage {
  const timestamp = new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()
  return { payload: Buffer.from(JSON.stringify({ number, timestamp })), source: 'a test' }
}

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}

/** A source whose other side sends each message once, and goes on until it is told to end. */
function onceOnly(perPortion: number, hasPositions: boolean) {
  const taken = { count: 0 }
  const connector: FetchConnector = {
    takes: () => true,
    destinationOf: () => undefined,
    open: () => ({
      identity: 'numbers',
      async run({ accept, onRunning, signal }) {
        onRunning()
        const underWay: Promise<unknown>[] = []
        while (!signal.aborted) {
          const portion = numbersTo(perPortion).map((place) => payloadOf(taken.count + place))
          taken.count += perPortion
          const position = hasPositions ? { next: taken.count } : undefined
          const accepted = accept(portion, position)
          accepted.catch(() => undefined)
          underWay.push(accepted)
          await nextTurn()
        }
        await Promise.allSettled(underWay)
      },
    }),
  }
  return { connector, taken }
}

describe('a source that is told to end while what it has taken waits for the disk', () => {
  test('has all of it on disk in the end, whatever it was told to end for', async () => {
    const turns = fc.record({
      perPortion: fc.integer({ min: 1, max: 7 }),
      hasPositions: fc.boolean(),
      before: fc.nat(30),
      held: fc.nat(30),
      isHeldBeyond: fc.boolean(),
      isPaused: fc.boolean(),
    })
    const property = fc.asyncProperty(turns, async (how) => {
      const { connector, taken } = onceOnly(how.perPortion, how.hasPositions)
      await using source = new FetchingSource({ connector, source: {}, ports: [] })
      source.start()
      for (let turn = 0; turn < how.before; turn++) await nextTurn()
      source.journal.hold()
      for (let turn = 0; turn < how.held; turn++) await nextTurn()
      // Who pauses a stream notes it first, and ends its source then.
      if (how.isPaused) source.pause()
      if (!how.isHeldBeyond) source.journal.release()
      await nextTurn()
      const stopped = source.runner.stop()
      source.journal.release()
      await stopped
      expect(source.entries().numbers).toEqual(numbersTo(taken.count))
    })
    await fc.assert(property, { numRuns: 40 })
  })

  test('and whose disk is full by then, ends all the same', async () => {
    const { connector } = onceOnly(3, true)
    await using source = new FetchingSource({ connector, source: {}, ports: [] })
    source.journal.failuresLeft = Number.POSITIVE_INFINITY
    source.start()
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBeGreaterThan(0)
    await source.runner.stop()
    expect(source.runner.status).toMatchObject({ state: 'paused', unacknowledged: 0 })
  })

  test('loses no message of a WebSocket, which nobody sends again', async () => {
    const count = 900
    await using server = await MessageServer.start((socket) => {
      for (const number of numbersTo(count)) socket.send(payloadOf(number).payload)
    })
    const endpoint = `ws://127.0.0.1:${server.port}/feed`
    const definition = { protocol: 'websocket', endpoint }
    const ports = [server.port]
    await using source = new FetchingSource({ connector: webSocket, source: definition, ports })
    source.journal.hold()
    source.start()
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(count)
    const stopped = source.runner.stop()
    source.journal.release()
    await stopped
    expect(source.entries().numbers).toEqual(numbersTo(count))
  })
})

/** A source that is read from its position on, and knows nothing else of what was taken. */
function numbered(count: number) {
  const runs: number[] = []
  const connector: FetchConnector = {
    takes: () => true,
    destinationOf: () => undefined,
    open: () => ({
      identity: 'numbers',
      async run({ accept, position, onRunning, signal }) {
        onRunning()
        let next = (position?.['next'] as number | undefined) ?? 0
        runs.push(next)
        const ended = new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
        while (next < count && !signal.aborted) {
          const portion = [payloadOf(next), payloadOf(next + 1)]
          next += portion.length
          const accepted = accept(portion, { next })
          accepted.catch(() => undefined)
          await Promise.race([accepted, ended])
        }
        await ended
      },
    }),
  }
  return { connector, runs }
}

describe('what a run has handed to a disk that stands still', () => {
  test('is waited for by the next run, which begins where it has ended', async () => {
    const count = 40
    const { connector, runs } = numbered(count)
    await using source = new FetchingSource({ connector, source: {}, ports: [] })
    source.start()
    await expect.poll(() => source.entries().numbers.length, patience).toBeGreaterThan(3)
    source.journal.hold()
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBeGreaterThan(0)
    await source.runner.stop()
    source.runner.start()
    for (let turn = 0; turn < 100; turn++) await nextTurn()
    expect(runs).toEqual([0])
    source.journal.release()
    await expect.poll(() => source.entries().numbers.length, patience).toBeGreaterThanOrEqual(count)
    await source.runner.stop()
    expect(source.entries().numbers).toEqual(numbersTo(count))
    expect(runs).toHaveLength(2)
  })

  test('does not hold up the end of what waits for it', async () => {
    const { connector, runs } = numbered(4)
    await using source = new FetchingSource({ connector, source: {}, ports: [] })
    source.journal.hold()
    source.start()
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBeGreaterThan(0)
    await source.runner.stop()
    source.runner.start()
    await nextTurn()
    await source.runner.stop()
    expect(runs).toEqual([0])
  })
})

/** A source that holds one reading back, as many are as it is asked for. */
const holding: FetchConnector = {
  takes: () => true,
  destinationOf: () => undefined,
  waitingIn: ({ held }, timestampField) =>
    ((held ?? []) as readonly number[]).map((number) => ({
      payload: Buffer.from(
        JSON.stringify({ number, [timestampField]: `2026-03-01T00:00:0${number}Z` }),
      ),
      source: 'a test',
    })),
  open: ({ source }) => ({
    identity: String(source['endpoint']),
    async run({ accept, position, onRunning, signal }) {
      onRunning()
      if (source['holds'] !== undefined && position === undefined) {
        await accept([], { held: source['holds'] })
      }
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
        if (signal.aborted) resolve()
      })
    },
  }),
}

describe('what a source holds back because more of it may come', () => {
  const first = { endpoint: 'one', holds: [1, 2] }

  async function held() {
    const source = new FetchingSource({ connector: holding, source: first, ports: [] })
    source.start()
    await expect.poll(() => source.position, patience).toContain('"held":[1,2]')
    return source
  }

  test('stays where it is when the source is ended and begun again', async () => {
    await using source = await held()
    await source.runner.stop()
    source.start()
    await expect.poll(() => source.runner.status.state, patience).toBe('running')
    expect(source.entries().numbers).toEqual([])
    expect(source.position).toContain('"held":[1,2]')
  })

  test('is handed over once when another source takes its place, in whichever moment that is killed', async () => {
    const moment = fc.record({ isKilled: fc.boolean(), isWritten: fc.boolean() })
    const property = fc.asyncProperty(moment, async ({ isKilled, isWritten }) => {
      await using source = await held()
      await source.runner.stop()
      source.change({ endpoint: 'two' })
      if (isKilled) {
        const dying = source.journal.crashIn({ after: 0, isWritten })
        source.start()
        await dying
        await source.kill()
      }
      source.start()
      await expect.poll(() => source.entries().numbers, patience).toEqual([1, 2])
      await expect.poll(() => source.runner.status.state, patience).toBe('running')
      await source.runner.stop()
      source.start()
      await expect.poll(() => source.runner.status.state, patience).toBe('running')
      expect(source.entries().numbers).toEqual([1, 2])
      expect(source.position).not.toContain('held')
    })
    await fc.assert(property, { numRuns: 12 })
  })
})
