import { describe, expect, test } from 'vitest'
import type { ExpiringStore } from '../../src/storage/time-series/expiry.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { allPoints, expire, hourUs, marchUs, remove } from '../support/stored-readings.ts'
import { computeUntil, keptResults, maxOfHours, shipHours } from '../support/windowed-store.ts'
import type { OpenStore } from './open-store.ts'

type Opened = OpenStore<TimeSeriesStore & ExpiringStore>

const hourly = maxOfHours(1)
const dayOfHours = Array.from({ length: 24 }, (_, hour) => hour)

/** What every store promises about windows whose readings, or that themselves, are not kept any longer. */
export function timeSeriesWindowEndsContract(open: () => Promise<Opened>): void {
  describe('windows that come to an end', () => {
    test('have their readings for as long as they are to be computed', async () => {
      await using opened = await open()
      const { store } = opened
      await shipHours(store, 'boiler', { hours: dayOfHours, definition: hourly })
      await computeUntil(store, 6)

      await expire(store, { boiler: at(20) })
      expect(store.counts('boiler')).toMatchObject({ expired: 6, keptFromUs: at(6) })
      await computeUntil(store, 100)
      await expire(store, { boiler: at(20) })

      expect(store.counts('boiler')).toMatchObject({ expired: 20, keptFromUs: at(20) })
      expect(await resultsOf(store, 'boiler')).toEqual(dayOfHours.map((hour) => [hour, hour, 1]))
    })

    test('stay as they are when their readings have expired, whatever comes late', async () => {
      await using opened = await open()
      await shipHours(opened.store, 'boiler', { hours: dayOfHours, definition: hourly })
      await computeUntil(opened.store, 100)
      await expire(opened.store, { boiler: at(20) })

      await shipHours(opened.store, 'boiler', { hours: [3.5, 21.5] })
      await opened.reopen()
      await computeUntil(opened.store, 100)

      const results = new Map((await resultsOf(opened.store, 'boiler')).map((one) => [one[0], one]))
      expect(results.get(3)).toEqual([3, 3, 1])
      expect(results.get(21)).toEqual([21, 21.5, 2])
    })

    test('stay as they were cut when their readings were removed before the definition changed', async () => {
      await using opened = await open()
      const { store } = opened
      await shipHours(store, 'boiler', { hours: dayOfHours, definition: hourly })
      await computeUntil(store, 100)
      await remove(store, { startUs: at(20), endUs: at(24) })
      await computeUntil(store, 100)
      await shipHours(store, 'boiler', { hours: [1.5], definition: maxOfHours(2), version: 2 })
      await shipHours(store, 'boiler', { hours: [21, 25] })
      await computeUntil(store, 100)

      const results = await resultsOf(store, 'boiler')
      expect(results.slice(19)).toEqual([
        [19, 19, 1],
        [20, undefined, 2],
        [21, 21, 3],
        [22, undefined, 2],
        [23, undefined, 2],
        [24, 25, 1],
      ])
    })

    test('go when they are too old, and those of other streams stay', async () => {
      await using opened = await open()
      for (const streamId of ['boiler', 'fan', 'pump']) {
        await shipHours(opened.store, streamId, { hours: dayOfHours, definition: hourly })
      }
      await computeUntil(opened.store, 100)
      const expiries = [
        { streamId: 'boiler', beforeUs: at(20) },
        { streamId: 'pump', beforeUs: at(0.5) },
        { streamId: 'unknown', beforeUs: at(24) },
      ]
      while (await opened.store.windows.expire(expiries));
      await opened.reopen()

      const counts = ['boiler', 'fan', 'pump'].map(async (streamId) => {
        const results = await resultsOf(opened.store, streamId)
        return [results.length, results[0]?.[0]]
      })
      expect(await Promise.all(counts)).toEqual([
        [4, 20],
        [24, 0],
        [23, 1],
      ])
      expect(await allPoints(opened.store)).toHaveLength(24)
      expect(opened.store.windows.totals().marks).toBe(0)
    })

    test('go with their stream, and it has none when it comes again', async () => {
      await using opened = await open()
      for (const streamId of ['boiler', 'pump']) {
        await shipHours(opened.store, streamId, { hours: dayOfHours, definition: hourly })
      }
      await computeUntil(opened.store, 12)

      await opened.store.removeStreams(['boiler'])
      const { marks } = opened.store.windows.totals()
      await opened.reopen()
      expect(opened.store.windows.totals().marks).toBe(marks)
      await computeUntil(opened.store, 100)
      await shipHours(opened.store, 'boiler', { hours: [30] })

      expect(opened.store.windows.totals().marks).toBe(0)
      expect(await resultsOf(opened.store, 'boiler')).toEqual([])
      expect(await resultsOf(opened.store, 'pump')).toHaveLength(24)
    })

    test('come page by page in the order of time and stream, of however many streams', async () => {
      await using opened = await open()
      const { store } = opened
      const streamIds = Array.from({ length: 12 }, (_, index) => `stream-${index}`).sort()
      for (const [index, streamId] of streamIds.entries()) {
        const definition = maxOfHours(1 + (index % 3))
        const hours = dayOfHours.flatMap((hour) => [hour, hour + 24]).slice(0, 4 * index)
        await shipHours(store, streamId, { hours, definition })
      }
      await computeUntil(store, 100)

      const all = await keptResults(store, streamIds)
      const own = await Promise.all(streamIds.map((id) => keptResults(store, [id])))
      const inOrder = own
        .flat()
        .toSorted(
          (left, right) =>
            left.timestampUs - right.timestampUs || (left.streamId < right.streamId ? -1 : 1),
        )
      expect(all.length).toBeGreaterThan(150)
      expect(all).toEqual(inOrder)
      for (const limit of [1, 7, 50, 200])
        expect(await keptResults(store, streamIds, limit)).toEqual(all)
    })
  })
}

function at(hour: number): number {
  return marchUs + hour * hourUs
}

/** The hour of each result, its temperature, and its revision. */
async function resultsOf(store: TimeSeriesStore, streamId: string) {
  return (await keptResults(store, [streamId])).map(({ timestampUs, values, revision }) => [
    (timestampUs - marchUs) / hourUs,
    values['temperature'],
    revision,
  ])
}
