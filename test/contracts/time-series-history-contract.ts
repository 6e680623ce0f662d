import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  beforeAll,
  type HistoryPage,
  type ReadingsCursor,
} from '../../src/storage/time-series/readings-query.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/** What every store promises to those who go on in the journal where it ends. */
export function timeSeriesHistoryContract(open: OpenNewStore): void {
  const crowdedUs = fc.integer({ min: -3, max: 3 }).map((hour) => marchUs + hour * hourUs)

  test('a page is what the store held at its position, whatever is written meanwhile', async () => {
    await using opened = await open()
    const { store } = opened
    const shipped: ShippedReading[] = []
    const pages: HistoryPage[] = []
    const after = beforeAll
    const positions = () => new Set(pages.map(({ position }) => position)).size
    const writing = { isOver: false }

    const reading = (async () => {
      while (!writing.isOver) {
        pages.push(await store.history({ streamId: 'boiler', after, limit: 10_000 }))
      }
    })()
    // A store that reads more slowly than it writes has to be given the time to read in between.
    for (let round = 0; round < 40 || positions() <= 2; round++) {
      // Now and then in another month: that is another table.
      const timestampUs = marchUs + (round % 7) * 31 * 24 * hourUs
      const batch = Array.from({ length: 5 }, () => storedReading({ timestampUs }))
      await ship(store, batch)
      shipped.push(...batch)
    }
    writing.isOver = true
    await reading

    for (const { points, position } of pages) {
      expect(points.map(placeOf)).toEqual(shipped.slice(0, position).map(placeOf).sort(inOrder))
    }
    expect(positions()).toBeGreaterThan(2)
  })

  test('pages behind a place are all that is behind it, each once', async () => {
    const history = fc.record({
      times: fc.array(crowdedUs, { maxLength: 12 }),
      limit: fc.integer({ min: 1, max: 5 }),
    })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(history, async ({ times, limit }) => {
          const streamId = newStream()
          const readings = times.map((timestampUs) => storedReading({ streamId, timestampUs }))
          await ship(store, readings)

          const places: ReadingsCursor[] = []
          let page: HistoryPage | undefined
          do {
            const after = places.at(-1) ?? beforeAll
            page = await store.history({ streamId, after, limit })
            expect(page.points.length).toBeLessThanOrEqual(limit)
            places.push(...page.points.map(placeOf))
          } while (page.next)

          expect(places).toEqual(readings.map(placeOf).sort(inOrder))
        }),
        { numRuns: 40 },
      )
    })
  })

  test('behind the place before the newest few are just those', async () => {
    const history = fc.record({
      times: fc.array(crowdedUs, { maxLength: 12 }),
      count: fc.integer({ min: 1, max: 8 }),
    })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(history, async ({ times, count }) => {
          const streamId = newStream()
          const readings = times.map((timestampUs) => storedReading({ streamId, timestampUs }))
          await ship(store, readings)

          const after = await store.placeBeforeNewest(streamId, count)
          const { points } = await store.history({ streamId, after, limit: 100 })

          expect(points.map(placeOf)).toEqual(readings.map(placeOf).sort(inOrder).slice(-count))
        }),
        { numRuns: 40 },
      )
    })
  })
}

function placeOf({ timestampUs, digest }: ReadingsCursor): ReadingsCursor {
  return { timestampUs, digest }
}

function inOrder(left: ReadingsCursor, right: ReadingsCursor): number {
  if (left.timestampUs !== right.timestampUs) return left.timestampUs - right.timestampUs
  return left.digest < right.digest ? -1 : 1
}
