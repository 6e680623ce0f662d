import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FetchConnector, FetchRun } from '../../src/contracts/fetch-connector.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { SourcePositions } from '../../src/streams/sources/source-positions.ts'
import { DecidedState } from '../support/decided-state.ts'
import { FetchingSource } from '../support/fetching-source.ts'

/** A source of numbers that has so many, gives some at a time, and forgets whom it has given what. */
function numbers(count: number, perPage: number): FetchConnector & { readonly runs: FetchRun[] } {
  const runs: FetchRun[] = []
  return {
    runs,
    takes: () => true,
    destinationOf: () => ({ host: '127.0.0.1', port: 1 }),
    open: ({ source }) => ({
      identity: String(source['endpoint']),
      async run(run) {
        runs.push(run)
        run.onRunning()
        for (let next = Number(run.position?.['next'] ?? 0); next < count; ) {
          const end = Math.min(count, next + perPage)
          const page = Array.from({ length: end - next }, (_, index) => payloadOf(next + index))
          await run.accept(page, { next: end })
          next = end
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        if (run.signal.aborted) resolve()
        run.signal.addEventListener('abort', () => resolve())
        await promise
      },
    }),
  }
}

function payloadOf(number: number) {
  const timestamp = new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()
  return { payload: Buffer.from(JSON.stringify({ number, timestamp })), source: 'a test' }
}

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

const patience = { timeout: 30_000, interval: 5 }

describe('a source that is read from a position', () => {
  test('goes on exactly where it stopped, wherever it was killed and whatever the disk did', async () => {
    const life = fc.record({ after: fc.nat(4), failures: fc.nat(1), isWritten: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 5, max: 40 }),
        async (lives, perPage) => {
          const count = (lives.length + 1) * perPage * 5
          const connector = numbers(count, perPage)
          await using source = new FetchingSource({ connector, source: {}, ports: [] })
          for (const { after, failures, isWritten } of lives) {
            source.journal.failuresLeft = failures
            const dying = source.journal.crashIn({ after: after + failures, isWritten })
            source.start()
            await dying
            await source.kill()
          }
          source.start()
          await expect.poll(() => source.entries().numbers.length, patience).toBe(count)
          expect(source.entries()).toMatchObject({ numbers: numbersTo(count), refused: [] })
        },
      ),
      { numRuns: 20 },
    )
  })

  test('begins anew when another source takes its place', async () => {
    const connector = numbers(10, 5)
    const definition = { connector, source: { endpoint: 'one' }, ports: [] }
    await using source = new FetchingSource(definition)
    source.start()
    await expect.poll(() => source.entries().numbers.length, patience).toBe(10)
    await source.runner.stop()

    definition.source.endpoint = 'another'
    source.start()

    await expect.poll(() => source.entries().numbers.length, patience).toBe(20)
    expect(connector.runs.map(({ position }) => position)).toEqual([undefined, undefined])
  })

  test('moves without a message, too', async () => {
    const connector = numbers(0, 5)
    await using source = new FetchingSource({ connector, source: {}, ports: [] })
    source.start()
    await expect.poll(() => connector.runs.length, patience).toBe(1)
    expect(await connector.runs[0]?.accept([], { next: 0, seen: 'all' })).toEqual([])
    await source.runner.stop()
    source.start()
    await expect.poll(() => connector.runs.length, patience).toBe(2)
    expect(connector.runs[1]?.position).toEqual({ next: 0, seen: 'all' })
  })
})

describe('the state', () => {
  test('has the newest position of each source, of those alone that are fetched', async () => {
    await using decided = await DecidedState.open()
    const [fetched, other] = [newId<StreamId>(), newId<StreamId>()]
    await decided.state
      .insertInto('users')
      .values({ id: 'owner', username: 'owner', created_at: 0 })
      .execute()
    await decided.state
      .insertInto('stream_sources')
      .values({ stream_id: fetched, owner_id: 'owner', secrets_encrypted: new Uint8Array() })
      .execute()
    await decided.decideWritten((writer) => {
      writer.position({ streamId: fetched, version: 1 }, '{"next":1}', 5)
      writer.position({ streamId: other, version: 1 }, '{"next":2}', 6)
      writer.position({ streamId: fetched, version: 1 }, '{"next":3}', 7)
    })
    const rows = await decided.state
      .selectFrom('stream_sources')
      .select(['stream_id', 'position'])
      .execute()
    expect(rows).toEqual([{ stream_id: fetched, position: '{"next":3}' }])
    // Nothing was received, and a stream without counters has no row.
    expect(await decided.counters(fetched)).toBeUndefined()
  })

  test('is waited for as long as it is behind what the journal had at the start', async () => {
    let decided = 0
    let text: string | undefined
    const positions = new SourcePositions({
      load: async () => text,
      head: async () => 3,
      decided: async () => decided++,
    })
    const found = positions.find(newId<StreamId>(), 'a source', new AbortController().signal)
    text = positions.textOf('a source', { next: 3 })
    expect(await found).toEqual({ next: 3 })
    expect(decided).toBe(4)
  })
  test('is what is asked again where a stream is gone', async () => {
    let asked = 0
    const positions = new SourcePositions({
      load: async () => {
        asked++
        return undefined
      },
      head: async () => 0,
      decided: async () => 0,
    })
    const id = newId<StreamId>()
    positions.note(id, positions.textOf('a source', { next: 3 }))
    const found = () => positions.find(id, 'a source', new AbortController().signal)
    expect([await found(), asked]).toEqual([{ next: 3 }, 0])
    positions.forget(id)
    expect([await found(), asked]).toEqual([undefined, 1])
  })
})
