import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { allRolledUp, minutes, rolledUp } from '../contracts/time-series-rollups-contract.ts'
import { answerOfReadings, eagerRollups, longAfter } from '../support/rollup-history.ts'
import {
  aggregateQuery,
  allAggregates,
  expire,
  hourUs,
  marchUs,
  ship,
} from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const eager = { rollups: eagerRollups }
/** Removes all readings behind the back of the store: what it answers then, it has from rollups. */
async function loseReadings(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const tables = await columnOf(
    connection,
    `SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'readings%'`,
  )
  for (const table of tables) await connection.run(`DELETE FROM "${String(table)}"`)
  instance.closeSync()
}

async function columnOf(connection: DuckDBConnection, sql: string): Promise<readonly unknown[]> {
  return (await connection.runAndReadAll(sql)).getRows().flat()
}

test('what is rolled up is answered without its readings, with the very same doubles', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  const store = await DuckDbStore.open(path, longAfter, eager)
  await ship(
    store,
    minutes(48, (index) => index / 8),
  )
  const day = aggregateQuery({ ...allRolledUp })
  const hour = { ...day, buckets: { kind: 'fixed', widthUs: hourUs } as const }
  const answers = [await allAggregates(store, day), await allAggregates(store, hour)]
  await rolledUp(store)
  await store.close()
  await loseReadings(path)

  const reopened = await DuckDbStore.open(path, longAfter, eager)
  expect([await allAggregates(reopened, day), await allAggregates(reopened, hour)]).toEqual(answers)
  expect(answers[0]?.map(({ count }) => count)).toEqual([1_440, 1_440])
  expect(await answerOfReadings(reopened, day)).toEqual([])
  await reopened.close()
})

test('rows go with the readings that are not kept any longer, and with their stream', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  const store = await DuckDbStore.open(path, longAfter, eager)
  await ship(store, [...minutes(4, Number), ...minutes(4, Number, 'pump')])
  await rolledUp(store)
  await expire(store, { boiler: marchUs + 2 * hourUs })
  await rolledUp(store)
  const hour = { ...allRolledUp, buckets: { kind: 'fixed', widthUs: hourUs } as const }
  expect((await allAggregates(store, hour)).map(({ count }) => count)).toEqual([60, 60])
  await store.removeStreams(['pump'])
  await store.close()

  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const [table] = await columnOf(
    connection,
    `SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'rollups%'`,
  )
  const rows = await columnOf(connection, `SELECT count(*)::INTEGER FROM "${String(table)}"`)
  instance.closeSync()
  expect(rows).toEqual([4])
})
