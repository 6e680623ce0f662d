import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { postgresLog } from '../connectors/postgres-log/postgres-log.ts'
import { FetchingSource } from '../test/support/fetching-source.ts'
import { Postgres } from '../test/support/postgres.ts'
import { drained, drainedText } from './drained-source.ts'

/**
 * How fast rows that are waiting in the log of PostgreSQL get into the journal: as one large transaction, and as
 * many small ones.
 */

const { values } = parseArgs({ options: { rows: { type: 'string', default: '500000' } } })
const count = Number(values.rows)

await using server = await Postgres.start(['shared_buffers=256MB', 'max_wal_size=4GB'])

for (const rows of [count, 10]) {
  const database = await server.newDatabase()
  const client = await server.client(database)
  await client.query(
    'CREATE TABLE readings (number bigint PRIMARY KEY, timestamp timestamptz NOT NULL, level double precision, note text)',
  )
  await client.query(
    `CREATE PROCEDURE write(transactions int, size int) LANGUAGE plpgsql AS $$
       BEGIN
         FOR one IN 1..transactions LOOP
           INSERT INTO readings
             SELECT n, timestamptz '2026-01-01' + n * interval '1 ms', random() * 100, 'pump ' || n % 7
               FROM generate_series((one - 1) * size + 1, one * size) AS n;
           COMMIT;
         END LOOP;
       END $$`,
  )
  const endpoint = server.endpoint(database)
  const { credentials, port } = server
  const source = { protocol: 'postgres', follow: 'log', endpoint, credentials, table: 'readings' }
  await using follower = new FetchingSource({ connector: postgresLog, source, ports: [port] })
  follower.start()
  while (follower.runner.status.state !== 'running') await sleep(5)
  await follower.runner.stop()
  await client.query(`CALL write(${count / rows}, ${rows})`)

  const rate = await drained(follower, count)
  console.log(`${count} rows, ${rows} in a transaction: ${drainedText(rate)}`)
  await client.end()
}
