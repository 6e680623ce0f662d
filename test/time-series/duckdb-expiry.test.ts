import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import * as fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { timeSeriesExpiryContract } from '../contracts/time-series-expiry-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import {
  allPoints,
  expire,
  hourUs,
  marchUs,
  ship,
  storedReading,
} from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

afterEach(() => void vi.useRealTimers())

timeSeriesExpiryContract(openDuckDbStore)

test('many readings expire in portions, and what is between them stays', async () => {
  await using opened = await openDuckDbStore()
  const rows = 30_000
  for (let part = 0; part < 8; part++) {
    const readings = Array.from({ length: rows }, (_, index) => {
      const streamId = index % 3 === 0 ? 'pump' : 'boiler'
      return storedReading({ streamId, timestampUs: marchUs + part * rows + index })
    })
    await ship(opened.store, readings)
  }

  await expire(opened.store, { boiler: marchUs + 8 * rows - 1 })

  expect(opened.store.counts('boiler')).toMatchObject({ stored: 160_000, expired: 159_999 })
  expect(await allPoints(opened.store)).toHaveLength(1)
  expect(await allPoints(opened.store, { streamId: 'pump' })).toHaveLength(80_000)
})

test('a month in which nothing is to be kept goes as a whole', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  const store = await DuckDbStore.open(path, systemClock)
  for (const streamId of ['boiler', 'pump']) {
    await ship(store, [
      storedReading({ streamId, timestampUs: marchUs - 40 * 24 * hourUs }),
      storedReading({ streamId, timestampUs: marchUs - 1 }),
      storedReading({ streamId, timestampUs: marchUs }),
    ])
  }

  await expire(store, { boiler: marchUs, pump: marchUs - 1 })
  await store.close()

  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const tables = await connection.runAndReadAll(
    `SELECT right(table_name, 6) FROM duckdb_tables() WHERE table_name LIKE 'readings%' ORDER BY 1`,
  )
  instance.closeSync()
  // January is gone; in February a reading of the pump is left.
  expect(tables.getRows().flat()).toEqual(['202602', '202603'])
})

test('a late reading that waited while all else of its stream expired is stored once', async () => {
  // Nothing is looked up before it is asked for.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  using folder = new TemporaryFolder()
  const options = { lookUpRowsMax: 0 }
  const path = folder.file('time-series.duckdb')
  const store = await DuckDbStore.open(path, systemClock, options)
  await ship(store, [storedReading({ timestampUs: marchUs + 5 })])
  const late = [storedReading({ timestampUs: marchUs + 3 })]
  await ship(store, late)
  vi.useRealTimers()

  await expire(store, { boiler: marchUs + 10 })
  expect(store.counts('boiler')).toMatchObject({ stored: 1, expired: 1 })
  // What says the same waits, too: it may come when the first one was just found to be new.
  await ship(store, late)
  expect(store.late).toBe(2)
  await store.placeLate()
  expect(store.counts('boiler')).toMatchObject({ stored: 2, duplicates: 1 })
  await ship(store, late)
  await store.placeLate()
  expect(store.counts('boiler')).toMatchObject({ stored: 2, duplicates: 2 })
  await store.close()

  const reopened = await DuckDbStore.open(path, systemClock, options)
  await ship(reopened, late)
  await reopened.placeLate()
  await expire(reopened, { boiler: marchUs + 20 })
  expect(reopened.counts('boiler')).toMatchObject({ stored: 2, duplicates: 3, expired: 2 })
  await reopened.close()
})

/** What comes at any moment of a pass. */
test('what comes while others expire is stored, counted and found as ever', async () => {
  const streams = Array.from({ length: 8 }, (_, index) => `stream-${index}`)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(9), { minLength: 3, maxLength: 9 }), async (pauses) => {
      await using opened = await openDuckDbStore()
      const { store } = opened
      const old = streams.map((streamId) => storedReading({ streamId, timestampUs: marchUs }))
      await ship(store, old)
      const late: ShippedReading[] = []
      const done = new AbortController()
      const before = Object.fromEntries(streams.map((id) => [id, marchUs + hourUs]))
      const expiring = expire(store, before).finally(() => {
        done.abort()
      })
      while (!done.signal.aborted) {
        const streamId = streams[late.length % streams.length] as string
        const reading = storedReading({ streamId, timestampUs: marchUs + late.length })
        late.push(reading)
        await ship(store, [reading])
        await sleep(pauses[late.length % pauses.length])
      }
      await expiring

      const left = async () =>
        (await Promise.all(streams.map((streamId) => allPoints(store, { streamId })))).flat().length
      const { stored, expired } = store.totals()
      expect(stored).toBe(old.length + late.length)
      expect(await left()).toBe(stored - expired)
      // What is there is known to be there; what has expired comes in anew.
      await ship(store, late)
      const now = store.totals()
      expect(now.duplicates).toBe(stored - expired)
      expect(await left()).toBe(now.stored - now.expired)
    }),
    { numRuns: 12 },
  )
})

test('who reads does not notice that months go', async () => {
  await using opened = await openDuckDbStore()
  const { store } = opened
  const months = Array.from({ length: 60 }, (_, month) => Date.UTC(2020, month, 1) * 1000)
  const newest = months.at(-1) as number
  await ship(
    store,
    months.map((timestampUs) => storedReading({ timestampUs })),
  )
  const done = new AbortController()
  const expiring = expire(store, { boiler: newest }).finally(() => {
    done.abort()
  })
  const read = async () => {
    let counts: number[] = []
    while (!done.signal.aborted) {
      const times = (await allPoints(store)).map(({ timestampUs }) => timestampUs)
      expect(times.at(-1)).toBe(newest)
      counts = [...counts, times.length]
    }
    return counts
  }
  const counts = await Promise.all([read(), read()])
  await expiring

  for (const each of counts) expect(each).toEqual(each.toSorted((left, right) => right - left))
  expect(await allPoints(store)).toHaveLength(1)
})
