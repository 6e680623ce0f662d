import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../scripts/servers/free-port.ts'
import { startQuestDb } from '../scripts/servers/questdb.ts'
import { systemClock } from '../src/core/clock.ts'
import type {
  AggregatedField,
  AggregateFunction,
  AggregateQuery,
} from '../src/storage/time-series/aggregate-query.ts'
import { QuestDbConnection } from '../src/storage/time-series/questdb/connection.ts'
import { quoted } from '../src/storage/time-series/questdb/layout.ts'
import { QuestDbStore } from '../src/storage/time-series/questdb/questdb-store.ts'
import { ofStreams } from '../src/storage/time-series/questdb/read/statement.ts'
import type { StoreServer } from '../src/storage/time-series/store-copy.ts'
import { ship, storedReading } from '../test/support/stored-readings.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import { medianOf } from './fleet.ts'
import { type Figure } from './report.ts'
import { averages, everyUs, fromUs } from './rollup-speed.ts'

const readings = 5_000_000

const rounds = 15

/** Who has five million readings, and how far they are from each other. */
interface Load {
  readonly name: string
  readonly streams: number
  readonly everyUs: number
}

const loads: readonly Load[] = [
  { name: '1 stream', streams: 1, everyUs },
  { name: '1 stream in a year', streams: 1, everyUs: (365 * 86_400_000_000) / readings },
  { name: '100 streams together', streams: 100, everyUs },
]

interface Question {
  readonly functions: readonly AggregateFunction[]
  /** What says about the same in the least possible SQL. */
  readonly plain: string
}

const questions: readonly Question[] = [
  { functions: ['avg'], plain: 'avg(temperature)' },
  { functions: ['first', 'latest'], plain: 'first(temperature), last(temperature)' },
]

/**
 * How long aggregates by the hour and by the day take in QuestDB, in turns: by us without rollups, with them, and in
 * plain SQL, which knows of no removed reading.
 */
export async function questDbRollups(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const load of loads) figures.push(...(await measured(load)))
  return figures
}

async function measured(load: Load): Promise<readonly Figure[]> {
  const { streams } = load
  using folder = new TemporaryFolder()
  const port = await freePort()
  const child = await startQuestDb({ folder: folder.file('questdb'), port })
  try {
    const server = { secure: false, host: '127.0.0.1', port, user: undefined, prefix: '' }
    const path = folder.file('positions.db')
    const ids = Array.from({ length: streams }, (_, index) => `stream-${index}`)
    const filling = openStore(server, path, 10_000)
    const connection = new QuestDbConnection(server, { sockets: 1 })
    const table = await fill(filling, { connection, ids, load })
    await filling.close()
    pretend(path, Math.floor(readings / streams))
    const unrolledPath = folder.file('unrolled.db')
    copyFileSync(path, unrolledPath)
    const unrolled = openStore(server, unrolledPath, Number.POSITIVE_INFINITY)
    const store = openStore(server, path, 10_000)
    const beganMs = performance.now()
    while (await store.rollUp());
    const tookS = (performance.now() - beganMs) / 1_000
    const found = await times(load, [
      (asked) => unrolled.aggregate(queryOf(ids, asked)),
      (asked) => store.aggregate(queryOf(ids, asked)),
      (asked) => connection.run(plainSql(table, ids, asked)),
    ])
    const tookMb = rollupBytes(path) / 1e6
    const readingsMb = (await diskBytes(connection, table)) / 1e6
    connection.close()
    await unrolled.close()
    await store.close()
    const aside = `rolled up in ${tookS.toFixed(1)} s, ${tookMb.toFixed(1)} MB beside ${readingsMb.toFixed(0)} MB`
    return found.map(({ name, ms: [without = 0, rolledUp = 0, plain = 0] }) => ({
      name: `${name} of 5,000,000 readings of ${load.name}, without and with rollups`,
      measured: `${without.toFixed(1)} ms, ${rolledUp.toFixed(1)} ms; in plain SQL ${plain.toFixed(1)} ms (${aside})`,
      target: 'less than a fifth for averages of one stream by the day',
      isMet: streams > 1 || name !== 'avg by the day' || rolledUp < without / 5,
    }))
  } finally {
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
  }
}

function openStore(server: StoreServer, path: string, readingsMin: number): QuestDbStore {
  return new QuestDbStore({
    server,
    path,
    clock: systemClock,
    logger: { warn: () => undefined, error: console.error },
    heldBytesMax: 1024 ** 3,
    rollups: { readingsMin, perRowMin: 30, quietMs: 0 },
  })
}

interface Filling {
  readonly connection: QuestDbConnection
  readonly ids: readonly string[]
  readonly load: Load
}

/**
 * The store knows the first and the last reading of each stream; the others are made by QuestDB. Returns the name of
 * their table.
 */
async function fill(store: QuestDbStore, { connection, ids, load }: Filling): Promise<string> {
  const ends = [fromUs, endOf(load)]
  await ship(
    store,
    ids.flatMap((streamId) => ends.map((timestampUs) => storedReading({ streamId, timestampUs }))),
  )
  const { rows } = await connection.run(
    `SELECT table_name FROM tables() WHERE starts_with(table_name, 'readings_')`,
  )
  const table = quoted(String(rows[0]?.[0]))
  await connection.run(
    `INSERT INTO ${table} ("streamId", "timestamp", "$receivedAt", "$digest", "$offset", temperature)
     SELECT 'stream-' || (x % ${ids.length}), (${fromUs} + x * ${load.everyUs})::TIMESTAMP,
       ${fromUs}::TIMESTAMP, x * 7919, 0, 20 + rnd_double()
     FROM long_sequence(${readings - 1})`,
  )
  const count = async () =>
    Number((await connection.run(`SELECT count() FROM ${table}`)).rows[0]?.[0])
  while ((await count()) < readings) await sleep(200)
  return table
}

function endOf(load: Load): number {
  return fromUs + readings * load.everyUs
}

/** Streams are rolled up by what is counted of them. */
function pretend(path: string, stored: number): void {
  using file = new DatabaseSync(path)
  file
    .prepare(`UPDATE streams SET counts = json_set(counts, '$.stored', ?, '$.received', ?)`)
    .run(stored, stored)
}

function rollupBytes(path: string): number {
  using file = new DatabaseSync(path)
  return Number(
    file.prepare('SELECT sum(length(totals)) AS bytes FROM rollup_days').get()?.['bytes'],
  )
}

async function diskBytes(connection: QuestDbConnection, table: string): Promise<number> {
  const { rows } = await connection.run(
    `SELECT sum(diskSize) FROM table_partitions(${table.replaceAll('"', "'")})`,
  )
  return Number(rows[0]?.[0])
}

interface Asked {
  readonly unit: 'hour' | 'day'
  readonly question: Question
  /** As who asks has one: what is before the first reading need not be looked for. */
  readonly range: { readonly startUs: number; readonly endUs: number }
}

/** Medians of each way to ask, in turns: who else is on the machine slows all of them. */
async function times(load: Load, ways: readonly ((asked: Asked) => Promise<unknown>)[]) {
  const found: { readonly name: string; readonly ms: readonly number[] }[] = []
  const range = { startUs: fromUs, endUs: endOf(load) + 1 }
  for (const unit of ['hour', 'day'] as const) {
    for (const question of questions) {
      const took = ways.map((): number[] => [])
      for (let round = 0; round <= rounds; round++) {
        for (const [index, ask] of ways.entries()) {
          const beganMs = performance.now()
          await ask({ unit, question, range })
          // The first time is for what compiles and reads from the disk.
          if (round > 0) took[index]?.push(performance.now() - beganMs)
        }
      }
      found.push({
        name: `${question.functions.join(' and ')} by the ${unit}`,
        ms: took.map(medianOf),
      })
    }
  }
  return found
}

function queryOf(ids: readonly string[], { unit, question, range }: Asked): AggregateQuery {
  const fields = question.functions.map((one): AggregatedField => {
    return { key: one, name: 'temperature', type: 'double', function: one }
  })
  return { ...averages(unit), ...range, series: [{ key: 'all', streamIds: ids }], fields }
}

function plainSql(table: string, ids: readonly string[], { unit, question, range }: Asked): string {
  return `SELECT "timestamp", ${question.plain} FROM ${table}
    WHERE ${ofStreams(ids)} AND "timestamp" >= ${range.startUs} AND "timestamp" < ${range.endUs}
    SAMPLE BY ${unit === 'hour' ? '1h' : '1d'} ALIGN TO CALENDAR TIME ZONE 'Europe/Berlin'`
}
