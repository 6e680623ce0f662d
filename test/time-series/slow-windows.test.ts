import { expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { Materialiser } from '../../src/reading/windows/materialiser.ts'
import type { TooSlowWindow } from '../../src/reading/windows/portions.ts'
import type { AggregateQuery } from '../../src/storage/time-series/aggregate-query.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { hourUs, marchUs } from '../support/stored-readings.ts'
import { keptResults, maxOfHours, shipHours } from '../support/windowed-store.ts'

const hours = Array.from({ length: 40 }, (_, hour) => hour)
const streams = ['a', 'b', 'c', 'd', 'e']

test('what a query is too slow for is computed in portions', async () => {
  await using opened = await openDuckDbStore()
  const { store } = opened
  for (const id of streams) await shipHours(store, id, { hours, definition: maxOfHours(1) })
  const slow = new SlowStore(store, ({ series, startUs, endUs }) => {
    return series.length * ((endUs - startUs) / hourUs) > 3
  })

  await slow.compute()

  const results = await keptResults(store, streams)
  expect(results.map(({ streamId, values }) => [streamId, values['temperature']])).toEqual(
    hours.flatMap((hour) => streams.map((id) => [id, hour])),
  )
  expect(slow.left).toEqual([])
  // A failure takes as long as a query may: what was found to go well is kept for a while.
  expect(slow.failures).toBeLessThanOrEqual(streams.length * 8)
})

test('many streams are computed by a few at a time', async () => {
  await using opened = await openDuckDbStore()
  const { store } = opened
  for (const id of streams) await shipHours(store, id, { hours: [0], definition: maxOfHours(1) })
  const slow = new SlowStore(store, ({ series }) => series.length > 2)

  await slow.compute()

  expect(await keptResults(store, streams)).toHaveLength(streams.length)
  expect(slow.failures).toBeLessThanOrEqual(3)
})

test('a single window that takes too long is told of, left for an hour, and holds up no other', async () => {
  await using opened = await openDuckDbStore()
  const { store } = opened
  for (const id of streams) await shipHours(store, id, { hours, definition: maxOfHours(1) })
  const slowUs = marchUs + 7 * hourUs
  let isSlow = true
  const slow = new SlowStore(store, ({ series, startUs, endUs }) => {
    const isAsked = series.some(({ key }) => key === 'b') && startUs <= slowUs && slowUs < endUs
    return isSlow && isAsked
  })
  await slow.compute()

  const all = streams.length * hours.length
  expect(slow.left).toEqual([{ streamId: 'b', timestampUs: slowUs }])
  const results = await keptResults(store, streams)
  expect(results).toHaveLength(all - 1)
  const { failures } = slow
  await slow.compute()
  expect(slow.failures).toBe(failures)

  isSlow = false
  slow.nowUs += hourUs
  await slow.compute()
  expect(await keptResults(store, streams)).toHaveLength(all)
  expect(store.windows.totals().marks).toBe(0)
})

/** A store that some questions take too long for. */
class SlowStore {
  readonly #materialiser: Materialiser
  readonly left: TooSlowWindow[] = []
  nowUs = marchUs + 1_000 * hourUs
  failures = 0

  constructor(store: TimeSeriesStore, isTooSlow: (query: AggregateQuery) => boolean) {
    this.#materialiser = new Materialiser({
      store: {
        windows: store.windows,
        aggregate: async (query) => {
          if (!isTooSlow(query)) return await store.aggregate(query)
          this.failures++
          throw new DomainError('query_too_slow', 'the query takes longer than 10 s')
        },
      },
      clock: { nowUs: () => this.nowUs },
      nowMs: () => this.nowUs / 1_000,
      onFailure: (error) => {
        throw error
      },
      onTooSlow: (window) => void this.left.push(window),
    })
  }

  /** Computes all that can be computed now. */
  async compute(): Promise<void> {
    for (let steps = 0; await this.#materialiser.step(); steps++) {
      if (steps > 500) throw new Error('there is no end to what is due')
    }
  }
}
