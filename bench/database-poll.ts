import { parseArgs } from 'node:util'
import { databasePoll } from '../connectors/database/database-poll.ts'
import { systemClock } from '../src/core/clock.ts'
import { newId, type StreamId } from '../src/core/ids.ts'
import { AllowedDestinations } from '../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../src/egress/egress-guard.ts'
import { guardedDial } from '../src/egress/guarded-dial.ts'
import { Postgres } from '../test/support/postgres.ts'

/**
 * How fast rows come out of PostgreSQL through the connector alone: nothing is stored. By a time that is long
 * over, as when a table is read for the first time, and by a number, of which the last rows are remembered.
 */

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const count = Number(values.rows)

await using server = await Postgres.start(['shared_buffers=256MB', 'max_wal_size=4GB'])
const database = await server.newDatabase()
const client = await server.client(database)
await client.query(
  'CREATE TABLE readings (id bigint PRIMARY KEY, at timestamptz NOT NULL, level double precision, note text)',
)
await client.query(
  `INSERT INTO readings SELECT n, timestamptz '2026-01-01' + n * interval '1 ms', random() * 100, 'pump ' || n % 7
   FROM generate_series(1, ${count}) AS n`,
)
await client.query('CREATE INDEX readings_at ON readings (at, id)')
await client.query('VACUUM ANALYZE readings')

const allowed = new AllowedDestinations([{ host: '127.0.0.1', port: server.port }])
const dial = guardedDial(new EgressGuard({ allowed }))

const nowUs = () => systemClock.nowUs()

for (const [incrementalColumn, keyColumn] of [
  ['at', 'id'],
  ['id', 'id'],
]) {
  const source = databasePoll({ sqliteFolders: [] }).open({
    streamId: newId<StreamId>(),
    source: {
      protocol: 'postgres',
      endpoint: server.endpoint(database),
      credentials: server.credentials,
      query: 'SELECT at AS timestamp, id, level, note, at FROM readings',
      incrementalColumn,
      keyColumn,
    },
  })
  const { signal } = new AbortController()
  const begunMs = performance.now()
  let [bytes, pages] = [0, 0]
  for await (const page of source.poll({ position: undefined, dial, signal, nowUs })) {
    for (const { payload } of page.messages) bytes += payload.byteLength
    pages++
  }
  const seconds = (performance.now() - begunMs) / 1_000
  const megabytes = (bytes / 1e6).toFixed(0)
  console.log(
    `by ${incrementalColumn}: ${count} rows in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} rows/s, ` +
      `${pages} pages, ${megabytes} MB`,
  )
}
