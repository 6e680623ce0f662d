import { describe, expect, test } from 'vitest'
import type { ExpiringStore } from '../../src/storage/time-series/expiry.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import {
  allPoints,
  expire,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../support/stored-readings.ts'
import { computeUntil, maxOfHours, shipHours } from '../support/windowed-store.ts'
import type { OpenStore } from './open-store.ts'

type Opened = OpenStore<TimeSeriesStore & ExpiringStore>

const pressure = shapeOf({ pressure: { type: 'number' } })

/** What every store promises about streams that leave. */
export function timeSeriesDeparturesContract(open: () => Promise<Opened>): void {
  describe('streams that leave', () => {
    test('are known to nobody any more, and the totals are what they were', async () => {
      await using opened = await open()
      await fill(opened.store)
      const before = opened.store.totals()

      await opened.store.removeStreams(['boiler', 'unknown', 'fan'])

      for (let round = 0; round < 2; round++) {
        const { store } = opened
        expect([...store.streamIds()]).toEqual(['pump'])
        expect(store.counts('boiler')).toMatchObject({ received: 0, stored: 0, keptFromUs: 0 })
        expect(store.fieldsOf('boiler')).toEqual([])
        expect(await allPoints(store)).toEqual([])
        expect(await allPoints(store, { streamId: 'pump' })).toHaveLength(2)
        expect(sums(store)).toEqual({ ...sumsOf(before), streams: 1 })
        await opened.reopen()
      }
    })

    test('can leave twice, and the second time nothing happens', async () => {
      await using opened = await open()
      await fill(opened.store)
      await opened.store.removeStreams(['boiler'])
      const once = sums(opened.store)
      await opened.store.removeStreams(['boiler'])

      expect(sums(opened.store)).toEqual(once)
    })

    test('leave nothing to those that come after them', async () => {
      await using opened = await open()
      await fill(opened.store)
      await opened.store.removeStreams(opened.store.streamIds())
      await opened.reopen()
      const before = sums(opened.store)
      await ship(opened.store, [storedReading({ streamId: 'new', timestampUs: marchUs })])

      expect(opened.store.counts('new')).toMatchObject({ received: 1, stored: 1, duplicates: 0 })
      expect(await allPoints(opened.store, { streamId: 'new' })).toHaveLength(1)
      expect(opened.store.windows.totals().marks).toBe(0)
      expect(sums(opened.store)).toEqual({
        ...before,
        streams: 1,
        received: before.received + 1,
        stored: before.stored + 1,
      })
    })
  })
}

/** Three streams of two shapes, with windows, duplicates, removed and expired readings. */
async function fill(store: TimeSeriesStore & ExpiringStore): Promise<void> {
  await shipHours(store, 'boiler', { hours: [0, 1, 2, 3, 4, 5], definition: maxOfHours(1) })
  await shipHours(store, 'pump', { hours: [0, 1, 2], definition: maxOfHours(1) })
  const twice = storedReading({ streamId: 'fan', shape: pressure, values: { pressure: 1 } })
  await ship(store, [twice])
  await ship(store, [twice])
  await computeUntil(store, 3)
  await remove(store, { startUs: marchUs + 4 * hourUs, endUs: marchUs + 5 * hourUs })
  await expire(store, { boiler: marchUs + hourUs, pump: marchUs + hourUs })
  await store.placeLate?.()
}

type Sums = ReturnType<typeof sumsOf>

function sums(store: TimeSeriesStore): Sums {
  return sumsOf(store.totals())
}

function sumsOf({
  streams,
  received,
  stored,
  duplicates,
  deleted,
  expired,
}: ReturnType<TimeSeriesStore['totals']>) {
  return { streams, received, stored, duplicates, deleted, expired }
}
