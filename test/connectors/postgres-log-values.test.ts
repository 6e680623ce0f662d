import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresLog } from '../../connectors/postgres-log/postgres-log.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { both, FollowedTable } from '../support/followed-table.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { RecordedRun } from '../support/recorded-run.ts'

let server: Postgres

beforeAll(async () => {
  if (!isPostgresMissing) server = await Postgres.start()
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const patience = { timeout: 60_000, interval: 20 }

/** Follows a table with one more column of a type, or as it is. */
async function following(
  more: Readonly<Record<string, unknown>> = {},
  statements: readonly string[] = [],
) {
  const table = await FollowedTable.create(server, more)
  for (const statement of statements) await table.client.query(statement)
  const source = postgresLog.open({ streamId: newId<StreamId>(), source: table.source })
  const run = new RecordedRun(source, server.port)
  await expect.poll(async () => (await table.slots())[0]?.active, patience).toBe(true)
  return { table, run }
}

async function arrived(run: RecordedRun, count: number) {
  await expect.poll(() => run.rows.length, patience).toBe(count)
  return run.rows.map((row) => row.replace(/"number":\d+,"timestamp":"[^"]+",?/, ''))
}

const insert = 'INSERT INTO readings (number, timestamp'

describe.skipIf(isPostgresMissing)('a row that is followed', () => {
  test.each([
    ['bigint', '9007199254740993', '9007199254740993'],
    [
      'numeric',
      '12345678901234567890.12345678901234567890',
      '12345678901234567890.12345678901234567890',
    ],
    ['numeric', "'NaN'", 'null'],
    ['double precision', '0.1', '0.1'],
    ['double precision', '1e300', '1e+300'],
    ['real', "'-Infinity'", 'null'],
    ['boolean', 'true', 'true'],
    ['text', `E'a "b" \\\\ c\\nd é'`, '"a \\"b\\" \\\\ c\\nd é"'],
    ['bytea', "'\\x00ff10'", '"AP8Q"'],
    ['jsonb', `'{"a": [1, null]}'`, '{"a": [1, null]}'],
    ['timestamptz', "'2026-03-01 12:00:00.123456+02'", '"2026-03-01T10:00:00.123456Z"'],
    ['timestamp', "'2026-03-01 12:00:00.5'", '"2026-03-01T12:00:00.5+01:00"'],
    ['timestamp', "'2026-07-01 12:00:00'", '"2026-07-01T12:00:00+02:00"'],
    ['date', "'2026-03-01'", '"2026-03-01"'],
    ['interval', "'1 day 2 hours'", '"P1DT2H"'],
    ['uuid', "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
    ['integer[]', "'{1,NULL,3}'", '[1,null,3]'],
    ['mood', "'calm'", '"calm"'],
    ['percentage', '50', '50'],
  ])('has %s %s as %s', async (type, value, json) => {
    const { table, run } = await following({ timezone: 'Europe/Berlin' }, [
      "CREATE TYPE mood AS ENUM ('calm', 'hot')",
      'CREATE DOMAIN fraction AS numeric CHECK (value >= 0)',
      'CREATE DOMAIN percentage AS fraction CHECK (value <= 100)',
      `ALTER TABLE readings ADD COLUMN value ${type}`,
      `DO $$ BEGIN
         EXECUTE 'ALTER DATABASE ' || current_database() || ' SET datestyle TO ''SQL, DMY''';
         EXECUTE 'ALTER DATABASE ' || current_database() || ' SET timezone TO ''Asia/Tokyo''';
       END $$`,
    ])
    await using _ = both(table, run)
    await table.client.query(`${insert}, value) VALUES (1, now(), ${value})`)
    expect(await arrived(run, 1)).toEqual([`{"value":${json}}`])
  })

  test('has no field for what is NULL', async () => {
    const { table, run } = await following({}, ['ALTER TABLE readings ADD COLUMN note text'])
    await using _ = both(table, run)
    await table.client.query(`${insert}) VALUES (1, now())`)
    expect(await arrived(run, 1)).toEqual(['{}'])
  })

  test('has the columns that the table had when it was written', async () => {
    const { table, run } = await following()
    await using _ = both(table, run)
    const { client } = table
    await client.query(`${insert}) VALUES (1, now())`)
    await client.query('ALTER TABLE readings ADD COLUMN heat integer')
    await client.query(`${insert}, heat) VALUES (2, now(), 20)`)
    await client.query('ALTER TABLE readings RENAME COLUMN heat TO temperature')
    await client.query(`${insert}, temperature) VALUES (3, now(), 30)`)
    await client.query('ALTER TABLE readings DROP COLUMN temperature')
    await client.query(`${insert}) VALUES (4, now())`)
    expect(await arrived(run, 4)).toEqual(['{}', '{"heat":20}', '{"temperature":30}', '{}'])
  })

  test('comes again where it is updated and that is wanted, without what was left as it is', async () => {
    const { table, run } = await following({ changes: 'insert_update' }, [
      'ALTER TABLE readings ADD COLUMN heat integer, ADD COLUMN long text',
      'ALTER TABLE readings ALTER COLUMN long SET STORAGE EXTERNAL',
    ])
    await using _ = both(table, run)
    const { client } = table
    await client.query(`${insert}, heat, long) VALUES (1, now(), 20, repeat('x', 5000))`)
    await client.query('UPDATE readings SET heat = 21')
    await client.query('DELETE FROM readings')
    await client.query('TRUNCATE readings')
    await client.query(`${insert}, heat) VALUES (2, now(), 22)`)
    const rows = await arrived(run, 3)
    expect(rows.map((row) => row.length)).toEqual([5_021, 11, 11])
    expect(rows.slice(1)).toEqual(['{"heat":21}', '{"heat":22}'])
  })

  test('stands alone in its message where a decoder would refuse all others with it', async () => {
    const { table, run } = await following({}, ['ALTER TABLE readings ADD COLUMN value json'])
    await using _ = both(table, run)
    await table.client.query(
      `${insert}, value) VALUES (1, now(), '1'), (2, now(), '{"a":1,"a":2}'), (3, now(), '"\\ud800"'), (4, now(), '{}')`,
    )
    await arrived(run, 4)
    expect(run.messages).toHaveLength(4)
    expect(run.messages.map(({ problem }) => problem)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is kept with its beginning only where it is too large', async () => {
    const { table, run } = await following({}, ['ALTER TABLE readings ADD COLUMN value text'])
    await using _ = both(table, run)
    await table.client.query(
      `${insert}, value) VALUES (1, '2026-03-01', repeat('x', 5000000)), (2, now(), 'y')`,
    )
    await expect.poll(() => run.messages.length, patience).toBe(2)
    expect(run.messages[0]).toMatchObject({
      problem: 'the row has 5,000,058 bytes, and 4,194,304 are taken: only its beginning is kept',
    })
    expect(run.messages[0]?.payload.byteLength).toBe(64 * 1024)
  })
})
