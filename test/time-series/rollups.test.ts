import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import type { AggregateFunction } from '../../src/time-series/aggregate-query.ts'
import { DuckDbStore } from '../../src/time-series/duckdb/duckdb-store.ts'
import type { StoredReading } from '../../src/time-series/time-series-store.ts'
import { fieldsOf } from '../support/aggregation-samples.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { answerOfReadings, eagerRollups, longAfter } from '../support/rollup-history.ts'
import {
  aggregateQuery,
  allAggregates,
  expire,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const eager = { rollups: eagerRollups }
const minuteUs = 60_000_000

/** How often something arrives while rows are being computed. */
const rounds = 20

/** A reading a minute, for so many hours. */
function minutes(
  hours: number,
  valueOf: (index: number) => number,
  streamId = 'boiler',
): StoredReading[] {
  return Array.from({ length: hours * 60 }, (_, index) => {
    const values = { temperature: valueOf(index) }
    return storedReading({ streamId, timestampUs: marchUs + index * minuteUs, values })
  })
}

/** A reading every so many hours, for twenty days. */
function lateReadings(everyHours: number, offsetUs: number): StoredReading[] {
  return Array.from({ length: (24 * 20) / everyHours - 1 }, (_, index) =>
    storedReading({ timestampUs: marchUs + index * everyHours * hourUs + offsetUs }),
  )
}

async function settled(store: DuckDbStore): Promise<void> {
  while (await store.rollUp());
}

function temperatures(...functions: AggregateFunction[]) {
  return { fields: fieldsOf('temperature', 'double', functions) }
}

const functions = temperatures('avg', 'sum', 'min', 'max', 'count', 'first', 'latest')

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
  const day = aggregateQuery({ ...functions })
  const hour = { ...day, buckets: { kind: 'fixed', widthUs: hourUs } as const }
  const answers = [await allAggregates(store, day), await allAggregates(store, hour)]
  await settled(store)
  await store.close()
  await loseReadings(path)

  const reopened = await DuckDbStore.open(path, longAfter, eager)
  expect([await allAggregates(reopened, day), await allAggregates(reopened, hour)]).toEqual(answers)
  expect(answers[0]?.map(({ count }) => count)).toEqual([1_440, 1_440])
  expect(await answerOfReadings(reopened, day)).toEqual([])
  await reopened.close()
})

test('sums of any doubles differ in their last digits at most, and those of whole numbers in none', async () => {
  await using opened = await openDuckDbStore(longAfter, eager)
  const { store } = opened
  await ship(
    store,
    minutes(24, (index) => Math.sin(index) * 10 ** (index % 9)),
  )
  await settled(store)
  const [rolledUp] = await allAggregates(store, functions)
  const [exact] = await answerOfReadings(store, functions)
  const magnitude = 24 * 60 * 10 ** 8
  for (const key of ['temperature:sum', 'temperature:avg']) {
    const difference = Math.abs(Number(rolledUp?.values[key]) - Number(exact?.values[key]))
    expect(difference).toBeLessThan(magnitude * Number.EPSILON * 4)
  }
})

test('sums beyond what a double can hold are left to the readings', async () => {
  await using opened = await openDuckDbStore(longAfter, eager)
  const { store } = opened
  const max = Number.MAX_VALUE
  await ship(
    store,
    minutes(4, (index) => (index % 2 === 0 ? max : max / 2)),
  )
  await settled(store)
  const answer = await allAggregates(store, functions)
  expect(answer).toEqual(await answerOfReadings(store, functions))
  expect(Number(answer[0]?.values['temperature:avg'])).toBeCloseTo((max / 4) * 3, -300)
  expect(answer[0]?.values).not.toHaveProperty('temperature:sum')
})

test('streams with few readings, or few in half an hour, are not rolled up', async () => {
  const rollups = { readingsMin: 100, perRowMin: 20, quietMs: 0 }
  await using opened = await openDuckDbStore(longAfter, { rollups })
  const { store } = opened
  await ship(store, minutes(1, Number, 'few'))
  const rare = minutes(4, Number, 'rare').map((reading, index) => ({
    ...reading,
    timestampUs: marchUs + index * 2 * minuteUs,
  }))
  await ship(store, rare)
  await settled(store)
  expect(store.totals().rollups?.streams).toBe(0)

  await ship(store, minutes(2, Number, 'dense'))
  await settled(store)
  expect(store.totals().rollups).toMatchObject({ streams: 1, marks: 0, computed: 4 })
})

test('what was touched a moment ago, or has not ended, is left alone', async () => {
  await using opened = await openDuckDbStore(longAfter, {
    rollups: { ...eagerRollups, quietMs: 60_000 },
  })
  await ship(opened.store, minutes(2, Number))
  await settled(opened.store)
  expect(opened.store.totals().rollups).toMatchObject({ streams: 1, marks: 1, computed: 0 })

  const clock = { nowUs: () => marchUs + hourUs + minuteUs }
  await using early = await openDuckDbStore(clock, eager)
  await ship(early.store, minutes(2, Number))
  await settled(early.store)
  expect(early.store.totals().rollups).toMatchObject({ marks: 1, computed: 2 })
})

test('rows that were computed before their readings have changed are not kept', async () => {
  await using opened = await openDuckDbStore(longAfter, eager)
  const { store } = opened
  const [first, ...all] = minutes(24, (index) => index)
  if (!first) throw new Error('there are readings')
  await ship(store, [first])
  await settled(store)
  const ofReadings: unknown[] = []
  const answered: unknown[] = []
  for (const reading of all.slice(0, rounds)) {
    await ship(store, [reading])
    const arrived = { ...reading, timestampUs: reading.timestampUs + 1 }
    const rolling = store.rollUp()
    await Promise.all([rolling, ship(store, [arrived])])
    answered.push(await allAggregates(store, functions))
    ofReadings.push(await answerOfReadings(store, functions))
  }
  expect(answered).toEqual(ofReadings)
})

test('rows go with the readings that are not kept any longer, and with their stream', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  const store = await DuckDbStore.open(path, longAfter, eager)
  await ship(store, [...minutes(4, Number), ...minutes(4, Number, 'pump')])
  await settled(store)
  await expire(store, { boiler: marchUs + 2 * hourUs })
  await settled(store)
  const hour = { ...functions, buckets: { kind: 'fixed', widthUs: hourUs } as const }
  expect((await allAggregates(store, hour)).map(({ count }) => count)).toEqual([60, 60])
  await store.removeStream('pump')
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

test('a shipment that touches hundreds of rows is right after a crash, too', async () => {
  await using opened = await openDuckDbStore(longAfter, eager)
  const all = minutes(24 * 20, (index) => index)
  await ship(opened.store, all)
  await settled(opened.store)
  const hour = { ...functions, buckets: { kind: 'fixed', widthUs: hourUs } as const }
  // Marks of so many places are brought together; what falls in between afterwards is not to be forgotten.
  await ship(opened.store, lateReadings(8, 1))
  await ship(opened.store, lateReadings(3, 2))
  await remove(opened.store, { startUs: marchUs + 7 * hourUs, endUs: marchUs + 9 * hourUs })
  await opened.reopen()
  await settled(opened.store)

  expect(await allAggregates(opened.store, hour)).toEqual(
    await answerOfReadings(opened.store, hour),
  )
})
