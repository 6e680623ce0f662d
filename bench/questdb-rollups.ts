import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../scripts/servers/free-port.ts'
import { startQuestDb } from '../scripts/servers/questdb.ts'
import { systemClock } from '../src/core/clock.ts'
import type {
  AggregatedField,
  AggregateFunction,
} from '../src/storage/time-series/aggregate-query.ts'
import { QuestDbConnection } from '../src/storage/time-series/questdb/connection.ts'
import { quoted } from '../src/storage/time-series/questdb/layout.ts'
import { QuestDbStore } from '../src/storage/time-series/questdb/questdb-store.ts'
import { ship, storedReading } from '../test/support/stored-readings.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import { type Figure } from './report.ts'
import { averages, everyUs, fromUs } from './rollup-speed.ts'

const readings = 5_000_000

const rounds = 15

/** Five million readings, as one stream has them, or as many that send rarely. */
const shares = [1, 100]

const questions: readonly (readonly AggregateFunction[])[] = [['avg'], ['first', 'latest']]

/** How long aggregates by the hour and by the day take in QuestDB without rollups, and with them. */
export async function questDbRollups(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const streams of shares) figures.push(...(await measured(streams)))
  return figures
}

async function measured(streams: number): Promise<readonly Figure[]> {
  using folder = new TemporaryFolder()
  const port = await freePort()
  const child = await startQuestDb({ folder: folder.file('questdb'), port })
  try {
    const server = { secure: false, host: '127.0.0.1', port, user: undefined, prefix: '' }
    const path = folder.file('positions.db')
    const ids = Array.from({ length: streams }, (_, index) => `stream-${index}`)
    const open = () =>
      new QuestDbStore({
        server,
        path,
        clock: systemClock,
        logger: { warn: () => undefined, error: console.error },
        heldBytesMax: 1024 ** 3,
        rollups: { readingsMin: 10_000, perRowMin: 30, quietMs: 0 },
      })
    const filling = open()
    await fill(filling, { connection: new QuestDbConnection(server, { sockets: 1 }), ids })
    await filling.close()
    pretend(path, Math.floor(readings / streams))
    const store = open()
    const before = await times(store, ids)
    const beganMs = performance.now()
    while (await store.rollUp());
    const tookS = (performance.now() - beganMs) / 1_000
    const after = await times(store, ids)
    await store.close()
    return before.map((one, index) => ({
      name: `${one.name} of 5,000,000 readings of ${streams} ${streams === 1 ? 'stream' : 'streams together'}, without and with rollups`,
      measured: `${one.ms.toFixed(1)} ms, ${after[index]?.ms.toFixed(1)} ms (rolled up in ${tookS.toFixed(1)} s)`,
      target: 'less than a fifth for averages of one stream',
      isMet: streams > 1 || !one.name.includes('avg') || (after[index]?.ms ?? 0) < one.ms / 5,
    }))
  } finally {
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
  }
}

interface Filling {
  readonly connection: QuestDbConnection
  readonly ids: readonly string[]
}

/** The store knows the first and the last reading of each stream; the others are made by QuestDB. */
async function fill(store: QuestDbStore, { connection, ids }: Filling): Promise<void> {
  const ends = [fromUs, fromUs + readings * everyUs]
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
     SELECT 'stream-' || (x % ${ids.length}), (${fromUs} + x * ${everyUs})::TIMESTAMP,
       ${fromUs}::TIMESTAMP, x * 7919, 0, 20 + rnd_double()
     FROM long_sequence(${readings - 1})`,
  )
  const count = async () =>
    Number((await connection.run(`SELECT count() FROM ${table}`)).rows[0]?.[0])
  while ((await count()) < readings) await sleep(200)
  connection.close()
}

/** Streams are rolled up by what is counted of them. */
function pretend(path: string, stored: number): void {
  using file = new DatabaseSync(path)
  file
    .prepare(`UPDATE streams SET counts = json_set(counts, '$.stored', ?, '$.received', ?)`)
    .run(stored, stored)
}

async function times(store: QuestDbStore, ids: readonly string[]) {
  const found: { readonly name: string; readonly ms: number }[] = []
  for (const unit of ['hour', 'day'] as const) {
    for (const functions of questions) {
      const fields = functions.map((one): AggregatedField => {
        return { key: one, name: 'temperature', type: 'double', function: one }
      })
      const series = [{ key: 'all', streamIds: ids }]
      // A range, as who asks has one: what is before the first reading need not be looked for.
      const range = { startUs: fromUs, endUs: fromUs + readings * everyUs + 1 }
      const query = { ...averages(unit), ...range, series, fields }
      const ms = await median(() => store.aggregate(query))
      found.push({ name: `${functions.join(' and ')} by the ${unit}`, ms })
    }
  }
  return found
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  await work()
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now()
    await work()
    took.push(performance.now() - beganMs)
  }
  return took.sort((left, right) => left - right)[rounds >> 1] ?? 0
}
