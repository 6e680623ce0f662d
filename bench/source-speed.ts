import { setTimeout as sleep } from 'node:timers/promises'
import { Postgres } from '../test/support/postgres.ts'
import { type Figure, printFigure } from './report.ts'
import { scheduleSpeed } from './schedules.ts'
import { startStreamvault } from './servers.ts'

/** How fast rows are read all the way into the journal, and what schedules cost. */
export async function sourceSpeed(rows = 1_000_000): Promise<readonly Figure[]> {
  return [await polledTable(rows), ...(await scheduleSpeed())]
}

/** From a table of PostgreSQL, on the same cores, into the journal. */
async function polledTable(rows: number): Promise<Figure> {
  await using postgres = await Postgres.start()
  const database = await postgres.newDatabase()
  const run = await postgres.session(database)
  await run(`CREATE TABLE readings AS
    SELECT number AS sequence, timestamptz '2026-01-01T00:00:00Z' + number * interval '1 second' AS "timestamp",
      20 + random() * 10 AS temperature, 40 + random() * 20 AS humidity, 1000 + random() * 20 AS pressure,
      'running' AS status
    FROM generate_series(1, ${rows}) AS number`)
  await run('CREATE UNIQUE INDEX ON readings (sequence)')
  await run('VACUUM ANALYZE readings')
  const target = await startStreamvault(0, {
    STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${postgres.port}`,
  })
  const streamId = await target.api.createStream(schema, {
    type: 'database',
    source: {
      protocol: 'postgres',
      endpoint: postgres.endpoint(database),
      credentials: postgres.credentials,
      query: 'SELECT * FROM readings',
      incrementalColumn: 'sequence',
      keyColumn: 'sequence',
      schedule: '* * * * * *',
    },
  })
  const perSecond = await rateBetween(async () => {
    return (await target.api.status(streamId)).counters.received
  }, rows)
  await target.stop()
  return {
    name: `a table of PostgreSQL with ${rows.toLocaleString('en-US')} rows, polled: rows a second in the journal`,
    measured: Math.round(perSecond).toLocaleString('en-US'),
    target: '50,000',
    isMet: perSecond >= 50_000,
  }
}

const schema = {
  sequence: { type: 'integer' },
  temperature: { type: 'number' },
  humidity: { type: 'number' },
  pressure: { type: 'number' },
  status: { type: 'string' },
}

/** Rate from a tenth of all on: code that is new is compiled before. */
async function rateBetween(received: () => Promise<number>, all: number): Promise<number> {
  let first: { readonly ms: number; readonly count: number } | undefined
  for (;;) {
    const count = await received()
    const ms = performance.now()
    if (!first && count >= all / 10) first = { ms, count }
    if (first && count >= all) return ((count - first.count) / (ms - first.ms)) * 1_000
    await sleep(50)
  }
}

/** By itself with `npm run bench:sources`. */
async function main(): Promise<void> {
  for (const figure of await sourceSpeed()) printFigure(figure)
}

if (import.meta.main) await main()
