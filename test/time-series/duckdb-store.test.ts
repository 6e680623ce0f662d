import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { DuckDbFile } from '../../src/storage/time-series/duckdb/duckdb-file.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { timeSeriesContract } from '../contracts/time-series-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { marchUs, remove, ship, storedReading } from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** A shape of so many columns that a few rows are enough for memory to be given back. */
const wideShape = shapeOf(
  Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`f${index}`, { type: 'number' }])),
)

timeSeriesContract(openDuckDbStore)

describe('the file', () => {
  afterEach(() => void vi.useRealTimers())

  test('is refused when a newer version has written it', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const store = await DuckDbStore.open(path, systemClock)
    await store.close()
    await runIn(path, 'UPDATE store_version SET version = 6')

    await expect(DuckDbStore.open(path, systemClock)).rejects.toThrow('newer version (6)')
  })

  test('of the version before is brought up to date, with its counts', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const store = await DuckDbStore.open(path, systemClock)
    await ship(store, [storedReading({ timestampUs: marchUs })])
    await store.close()
    for (const column of ['deleted', 'unchanged', 'newest_content', 'expired', 'kept_from']) {
      await runIn(path, `ALTER TABLE stream_counts DROP COLUMN ${column}`)
    }
    await runIn(path, 'UPDATE store_version SET version = 1')

    const reopened = await DuckDbStore.open(path, systemClock)
    expect(reopened.counts('boiler')).toMatchObject({ received: 1, stored: 1, deleted: 0 })
    await remove(reopened, { startUs: 0, endUs: marchUs + 1 })
    await ship(reopened, [storedReading()])
    expect(reopened.counts('boiler')).toMatchObject({ received: 2, stored: 2, deleted: 1 })
    await reopened.close()
    const [row] = await runIn(path, 'SELECT max(version) AS version FROM store_version')
    expect(row?.['version']).toBe(5)
  })

  test('tells of late readings that cannot be looked up, and looks them up later', async () => {
    using folder = new TemporaryFolder()
    const failure = Promise.withResolvers<unknown>()
    let isBroken = false
    const clock: Clock = {
      nowUs: () => {
        if (isBroken) throw new Error('no time')
        return systemClock.nowUs()
      },
    }
    const store = await DuckDbStore.open(folder.file('time-series.duckdb'), clock, {
      lookUpRowsMax: 0,
      onLookUpFailure: failure.resolve,
    })
    await ship(store, [storedReading({ timestampUs: marchUs + 1 })])
    await ship(store, [storedReading({ timestampUs: marchUs })])
    isBroken = true

    expect(await failure.promise).toMatchObject({ message: 'no time' })
    expect([store.counts('boiler').stored, store.late]).toEqual([1, 1])
    isBroken = false
    await store.placeLate()
    expect([store.counts('boiler').stored, store.late]).toEqual([2, 0])
    await store.close()
  })

  test('stores late readings in portions, and what is left of them after a failure later', async () => {
    // Nothing is looked up before it is asked for.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    using folder = new TemporaryFolder()
    let timesLeft = Number.POSITIVE_INFINITY
    const clock: Clock = {
      nowUs: () => {
        if (timesLeft-- <= 0) throw new Error('no time')
        return systemClock.nowUs()
      },
    }
    const path = folder.file('time-series.duckdb')
    const options = { lookUpRowsMax: 0, rowsPerLateTable: 2 }
    const store = await DuckDbStore.open(path, clock, options)
    await ship(store, [storedReading({ timestampUs: marchUs + 10 })])
    for (const timestampUs of [marchUs, marchUs + 1, marchUs + 2, marchUs + 3, marchUs + 4]) {
      await ship(store, [storedReading({ timestampUs })])
    }

    vi.useRealTimers()

    timesLeft = 2
    await expect(store.placeLate()).rejects.toThrow('no time')
    expect([store.counts('boiler').stored, store.late]).toEqual([5, 1])
    timesLeft = Number.POSITIVE_INFINITY
    await store.close()

    const reopened = await DuckDbStore.open(path, clock, options)
    await reopened.placeLate()
    expect([reopened.counts('boiler').stored, reopened.late]).toEqual([6, 0])
    expect(reopened.counts('boiler').duplicates).toBe(0)
    await reopened.close()
  })

  test('stores portions of late readings when nobody waits for them, and what comes meanwhile', async () => {
    using folder = new TemporaryFolder()
    const options = { lookUpRowsMax: 0, rowsPerLateTable: 2 }
    const store = await DuckDbStore.open(folder.file('time-series.duckdb'), systemClock, options)
    await ship(store, [storedReading({ timestampUs: marchUs + 1_000 })])
    let timestampUs = marchUs
    const shipLate = async () => await ship(store, [storedReading({ timestampUs: timestampUs++ })])
    for (let count = 0; count < 9; count++) await shipLate()

    // The first of them are stored: others may still wait for their turn.
    const when = { timeout: 60_000, interval: 1 }
    await vi.waitFor(() => expect(store.late).toBeLessThan(9), when)
    for (let count = 0; count < 5; count++) await shipLate()
    await vi.waitFor(() => expect(store.late).toBe(0), when)

    const received = timestampUs - marchUs + 1
    expect(store.counts('boiler')).toMatchObject({ received, stored: received, duplicates: 0 })
    await store.close()
  })

  test('keeps a bounded number of rows with counts', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const store = await DuckDbStore.open(path, systemClock)
    const received = new Map(Array.from({ length: 5_000 }, (_, index) => [`stream-${index}`, 1]))
    for (let from = 0; from < 15; from++) {
      await store.write({ readings: [], received, from, nextOffset: from + 1 })
    }
    await store.close()

    const [row] = await runIn(path, 'SELECT count(*)::INTEGER AS rows FROM stream_counts')
    expect(row?.['rows']).toBeLessThanOrEqual(55_000)
    const reopened = await DuckDbStore.open(path, systemClock)
    expect(reopened.counts('stream-4999').received).toBe(15)
    await reopened.close()
  })

  test('gives memory back the sooner the more columns are written to', async () => {
    await using opened = await openDuckDbStore()
    using released = vi.spyOn(DuckDbFile.prototype, 'releaseMemory')
    for (let count = 0; count < 5; count++) await ship(opened.store, [storedReading()])
    expect(released).not.toHaveBeenCalled()

    for (let count = 0; count < 5; count++) {
      await ship(opened.store, [storedReading({ shape: wideShape })])
    }
    expect(released).toHaveBeenCalledOnce()
  })

  test('is opened anew when a checkpoint has made it useless', async () => {
    await using opened = await openDuckDbStore()
    using released = vi.spyOn(DuckDbFile.prototype, 'releaseMemory')
    released.mockImplementationOnce(async function failing(this: DuckDbFile) {
      await this.close()
      throw new Error('no space left on device')
    })
    for (let count = 0; count < 6; count++) {
      const timestampUs = marchUs + count
      await ship(opened.store, [storedReading({ shape: wideShape, timestampUs })])
    }

    expect(released).toHaveBeenCalled()
    expect(opened.store.counts('boiler')).toMatchObject({ received: 6, stored: 6 })
    await opened.reopen()
    expect(opened.store.counts('boiler')).toMatchObject({ received: 6, stored: 6 })
  })

  test('keeps its blocks when it was made with others', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const options = { default_block_size: '16384' }
    const instance = await DuckDBInstance.create(path, options)
    instance.closeSync()

    const store = await DuckDbStore.open(path, systemClock)
    await ship(store, [storedReading()])
    await store.close()

    const [size] = await runIn(path, 'PRAGMA database_size')
    expect(Number(size?.['block_size'])).toBe(16_384)
    const reopened = await DuckDbStore.open(path, systemClock)
    expect(reopened.counts('boiler').stored).toBe(1)
    await reopened.close()
  })

  test('is not locked any more once the store is closed', async () => {
    await using opened = await openDuckDbStore()
    await ship(opened.store, [storedReading()])

    await opened.reopen()
    await opened.reopen()

    expect(opened.store.position()).toBe(1)
  })
})

async function runIn(path: string, sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(sql)
  const rows = reader.getRowObjectsJS()
  connection.closeSync()
  instance.closeSync()
  return rows
}
