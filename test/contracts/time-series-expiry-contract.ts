import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import type { ExpiringStore } from '../../src/storage/time-series/expiry.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import {
  allPoints,
  expire,
  hourUs,
  marchUs,
  ship,
  storedReading,
} from '../support/stored-readings.ts'
import type { OpenStore } from './open-store.ts'

const dayUs = 24 * hourUs

/** What every store promises about readings that are too old. */
export function timeSeriesExpiryContract(
  open: (clock?: Clock) => Promise<OpenStore<TimeSeriesStore & ExpiringStore>>,
): void {
  describe('readings that expire', () => {
    test('are gone and counted, up to their time and of their streams only', async () => {
      await using opened = await open()
      const { store } = opened
      await ship(store, everyDay('boiler'))
      await ship(store, everyDay('pump'))
      await ship(store, everyDay('fan'))

      await expire(store, { boiler: marchUs + 1, pump: marchUs - 10 * dayUs, unknown: marchUs })

      expect(await timesOf(store, 'boiler')).toEqual(days(1, 40))
      expect(await timesOf(store, 'pump')).toEqual(days(-10, 40))
      expect(await timesOf(store, 'fan')).toEqual(days(-40, 40))
      expect(store.counts('boiler')).toMatchObject({ stored: 80, deleted: 0, expired: 41 })
      expect(store.counts('pump')).toMatchObject({ stored: 80, expired: 30 })
      expect(store.counts('fan')).toMatchObject({ stored: 80, expired: 0, keptFromUs: 0 })
      expect(store.totals()).toMatchObject({ stored: 240, deleted: 0, expired: 71 })
    })

    test('are told of by the time from which on readings are kept', async () => {
      await using opened = await open()
      await ship(opened.store, everyDay('boiler'))

      await expire(opened.store, { boiler: marchUs })
      await expire(opened.store, { boiler: marchUs - dayUs })
      await opened.reopen()
      await expire(opened.store, { boiler: marchUs - dayUs })

      expect(opened.store.counts('boiler')).toMatchObject({ expired: 40, keptFromUs: marchUs })
    })

    test('leave nothing that a new reading could be compared with', async () => {
      await using opened = await open()
      const reading = storedReading()
      await ship(opened.store, [reading])

      await expire(opened.store, { boiler: marchUs + 1 })
      await ship(opened.store, [reading])

      expect(opened.store.counts('boiler')).toMatchObject({ stored: 2, duplicates: 0, expired: 1 })
      expect(await timesOf(opened.store, 'boiler')).toEqual([marchUs])
    })

    test('that come late are stored, and go the next time', async () => {
      await using opened = await open()
      const { store } = opened
      await ship(store, everyDay('boiler'))
      await expire(store, { boiler: marchUs })
      const late = storedReading({ timestampUs: marchUs - 35 * dayUs + 1 })
      await ship(store, [late, { ...late }])

      expect(await timesOf(store, 'boiler')).toEqual([late.timestampUs, ...days(0, 40)])
      expect(store.counts('boiler')).toMatchObject({ stored: 81, duplicates: 1, expired: 40 })
      await expire(store, { boiler: marchUs + hourUs })

      expect(await timesOf(store, 'boiler')).toEqual(days(1, 40))
      expect(store.counts('boiler')).toMatchObject({ stored: 81, expired: 42 })
    })

    test('are counted the same after it was opened again, and are gone', async () => {
      await using opened = await open()
      await ship(opened.store, [...everyDay('boiler'), ...everyDay('pump')])
      await expire(opened.store, { boiler: marchUs, pump: marchUs + 100 * dayUs })
      const before = [opened.store.counts('boiler'), opened.store.counts('pump')]

      await opened.reopen()

      const { store } = opened
      expect([store.counts('boiler'), store.counts('pump')]).toEqual(before)
      expect(await timesOf(store, 'boiler')).toEqual(days(0, 40))
      expect(await timesOf(store, 'pump')).toEqual([])
      const { readings } = await store.latest({ streamIds: ['boiler', 'pump'], bytesMax: 1e6 })
      expect(readings.map(({ point }) => point.timestampUs)).toEqual([marchUs + 39 * dayUs])
    })

    test('of all shapes that a stream has had go', async () => {
      await using opened = await open()
      const shape = shapeOf({ pressure: { type: 'number' } })
      const other = everyDay('boiler').map((reading) => ({
        ...reading,
        shape,
        timestampUs: reading.timestampUs + 1,
        values: '{"pressure":1}',
      }))
      await ship(opened.store, [...everyDay('boiler'), ...other])

      await expire(opened.store, { boiler: marchUs })

      expect(await timesOf(opened.store, 'boiler')).toHaveLength(80)
      expect(opened.store.counts('boiler')).toMatchObject({ stored: 160, expired: 80 })
    })

    test('are begun anew where it was ended before it was done', async () => {
      await using opened = await open()
      await ship(opened.store, [...everyDay('boiler'), ...everyDay('pump')])
      const expiries = [{ streamId: 'boiler', beforeUs: marchUs + 20 * dayUs }]
      await opened.store.expire(expiries, AbortSignal.abort())
      const { expired } = opened.store.counts('boiler')
      expect(await timesOf(opened.store, 'boiler')).toHaveLength(80 - expired)
      await opened.store.expire(expiries, new AbortController().signal)

      expect(await timesOf(opened.store, 'boiler')).toEqual(days(20, 40))
      expect(opened.store.counts('boiler')).toMatchObject({ stored: 80, expired: 60 })
    })

    test('hold up neither shipments nor those who read', async () => {
      await using opened = await open()
      const { store } = opened
      const streams = ['boiler', 'pump', 'fan']
      for (const streamId of streams) await ship(store, everyDay(streamId))
      const done = new AbortController()
      const expiring = (async () => {
        for (let day = -40; day <= 40; day += 8) {
          await expire(store, { boiler: marchUs + day * dayUs, pump: marchUs + day * dayUs })
        }
        done.abort()
      })()
      let written = 0
      while (!done.signal.aborted) {
        const newer = marchUs + 60 * dayUs + ++written
        await ship(store, [storedReading({ timestampUs: newer })])
        for (const streamId of streams) {
          const times = await timesOf(store, streamId)
          expect(times).toEqual(times.toSorted((left, right) => left - right))
        }
        await store.latest({ streamIds: streams, bytesMax: 1e6 })
      }
      await expiring

      expect(await timesOf(store, 'pump')).toEqual([])
      expect(await timesOf(store, 'fan')).toHaveLength(80)
      expect(await timesOf(store, 'boiler')).toHaveLength(written)
      expect(store.counts('boiler')).toMatchObject({ stored: 80 + written, expired: 80 })
    })
  })
}

/** The first instants of days, counted from the first of March. */
function days(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => marchUs + (from + index) * dayUs)
}

/** A reading each day for forty days before and after the first of March. */
function everyDay(streamId: string) {
  return days(-40, 40).map((timestampUs) => storedReading({ streamId, timestampUs }))
}

async function timesOf(store: TimeSeriesStore, streamId: string): Promise<number[]> {
  const points = await allPoints(store, { streamId })
  return points.map(({ timestampUs }) => timestampUs)
}
