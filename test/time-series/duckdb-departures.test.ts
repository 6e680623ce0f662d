import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { timeSeriesDeparturesContract } from '../contracts/time-series-departures-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { namedInDuckDb } from '../support/files-naming.ts'
import { allPoints, hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { computeUntil, maxOfHours, shipHours } from '../support/windowed-store.ts'

timeSeriesDeparturesContract(openDuckDbStore)

describe('when late readings are looked up later', () => {
  timeSeriesDeparturesContract(() => openDuckDbStore(systemClock, { lookUpRowsMax: 0 }))
})

const pressure = shapeOf({ pressure: { type: 'number' } })

describe('streams that leave a DuckDB file', () => {
  afterEach(() => void vi.restoreAllMocks())

  test('are named nowhere in it, and take tables and shapes with them that nobody else has', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const store = await filled(path)
    await store.removeStreams(['boiler', 'fan'])
    await store.close()

    expect(await namedInDuckDb(path, ['boiler', 'fan'])).toEqual([])
    expect(await namedInDuckDb(path, ['pump'])).toHaveLength(1)
    expect((await tablesOf(path)).filter((name) => name.includes(pressure.id))).toEqual([])
  })

  test('are gone as a whole or not at all for the totals, at whichever statement it is cut off', async () => {
    let failing = -1
    let hasFailed: boolean
    do {
      using folder = new TemporaryFolder()
      const path = folder.file('time-series.duckdb')
      const cut = await filled(path)
      const before = cut.totals()
      hasFailed = await failingAt(++failing, () => cut.removeStreams(['boiler', 'fan']))
      await cut.close().catch(() => undefined)

      const store = await DuckDbStore.open(path, systemClock)
      expect(store.totals()).toMatchObject(totalOf(before))
      await store.removeStreams(['boiler', 'fan'])
      expect(store.totals()).toMatchObject({ ...totalOf(before), streams: 1 })
      await ship(store, [storedReading({ streamId: 'new' })])
      expect(await allPoints(store, { streamId: 'new' })).toHaveLength(1)
      expect(await allPoints(store, { streamId: 'pump' })).toHaveLength(3)
      await store.close()
      expect(await namedInDuckDb(path, ['boiler', 'fan'])).toEqual([])
    } while (hasFailed)
    expect(failing).toBeGreaterThan(20)
  })

  test('never have their numbers given again, as rows of theirs may be met once more', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const numbers: number[] = []
    for (const streamId of ['boiler', 'pump', 'fan']) {
      const store = await DuckDbStore.open(path, systemClock)
      await ship(store, [storedReading({ streamId })])
      await store.close()
      numbers.push(...(await numbersIn(path)))
      const again = await DuckDbStore.open(path, systemClock)
      await again.removeStreams([streamId])
      await again.close()
    }

    expect(numbers).toEqual([1, 2, 3])
  })

  test('have numbers behind those of a file of the version before, and leave it like any others', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const before = await filled(path)
    await before.close()
    await rowsIn(path, 'DROP TABLE given_keys')
    await rowsIn(path, 'UPDATE store_version SET version = 4')

    const store = await DuckDbStore.open(path, systemClock)
    const totals = store.totals()
    await ship(store, [storedReading({ streamId: 'new' })])
    await store.removeStreams(['boiler', 'fan'])
    expect(store.totals()).toMatchObject({ received: totals.received + 1, streams: 2 })
    await store.close()

    expect(new Set(await numbersIn(path))).toEqual(new Set([2, 4]))
    expect(await namedInDuckDb(path, ['boiler', 'fan'])).toEqual([])
  })

  test('leave while one is expiring, and nothing of them is written any more', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const store = await filled(path)
    const expiries = ['boiler', 'fan', 'pump'].map((streamId) => ({
      streamId,
      beforeUs: marchUs + 100 * hourUs,
    }))
    const expiring = store.expire(expiries, new AbortController().signal)
    await Promise.all([expiring, store.removeStreams(['boiler', 'fan'])])
    await store.close()

    expect(await namedInDuckDb(path, ['boiler', 'fan'])).toEqual([])
  })
})

/** Three streams of two shapes, two of them with windows. */
async function filled(path: string): Promise<DuckDbStore> {
  const rollups = { readingsMin: 1, perRowMin: 1, quietMs: 0 }
  const store = await DuckDbStore.open(path, systemClock, { rollups })
  await shipHours(store, 'boiler', { hours: [0, 1, 2], definition: maxOfHours(1) })
  await shipHours(store, 'pump', { hours: [0, 1, 2], definition: maxOfHours(1) })
  const values = { pressure: 1 }
  await ship(store, [storedReading({ streamId: 'fan', shape: pressure, values })])
  await computeUntil(store, 2)
  while (await store.rollUp());
  return store
}

function totalOf({ received, stored }: ReturnType<DuckDbStore['totals']>) {
  return { received, stored }
}

type Run = DuckDBConnection['run']

/** Lets the statement of this number fail, counted from 0, as on a full disk. Resolves with whether there was one. */
async function failingAt(failing: number, work: () => Promise<void>): Promise<boolean> {
  let statements = 0
  const real = Object.getOwnPropertyDescriptor(DuckDBConnection.prototype, 'run')?.value as Run
  vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (
    this: DuckDBConnection,
    ...given
  ) {
    if (statements++ === failing) throw new Error('no space left on device')
    return await real.apply(this, given)
  })
  await work().catch(() => undefined)
  vi.restoreAllMocks()
  return statements > failing
}

async function tablesOf(path: string): Promise<readonly string[]> {
  const rows = await rowsIn(path, 'SELECT table_name FROM duckdb_tables()')
  return rows.map(([name]) => name as string)
}

async function numbersIn(path: string): Promise<readonly number[]> {
  const rows = await rowsIn(path, 'SELECT "streamId" FROM streams')
  return rows.map(([number]) => Number(number))
}

async function rowsIn(path: string, sql: string) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(sql)
  connection.closeSync()
  instance.closeSync()
  return reader.getRowsJS()
}
