import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const zone = { timezone: 'Europe/Berlin', timestampField: 'day' }

/** The members of the JSON of the first row, as text: nothing is lost by reading it. */
function members(polled: PolledRows): readonly string[] {
  const text = polled.texts.join('')
  return [...text.matchAll(/"c\d+":(.*?)(?=,"c\d+":|,"day":|\}\]?$)/g)].map(
    ([, value = '']) => value,
  )
}

describe.skipIf(isPostgresMissing)('values of PostgreSQL', () => {
  let server: Postgres | undefined
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  const poll = async (query: string) => {
    const polled = new PolledRows(
      {
        protocol: 'postgres',
        endpoint: server?.endpoint('postgres'),
        credentials: server?.credentials,
        query,
        ...zone,
      },
      { ports: [server?.port ?? 0] },
    )
    await polled.poll()
    return polled
  }

  const values = [
    ['9223372036854775807::int8', '9223372036854775807'],
    ['(-32768)::int2', '-32768'],
    [
      "'123456789012345678901234567890.123456789'::numeric",
      '123456789012345678901234567890.123456789',
    ],
    ["'NaN'::numeric", 'null'],
    ["'-Infinity'::float8", 'null'],
    ['0.1::float4', '0.1'],
    ['1e300::float8', '1e+300'],
    ['true', 'true'],
    [`'a "b" \\ ü'::text`, '"a \\"b\\" \\\\ ü"'],
    ["'\\x00ff10'::bytea", '"AP8Q"'],
    [`'{"a": [1, 2.50]}'::json`, '{"a": [1, 2.50]}'],
    [`'{"a": 12345678901234567890}'::jsonb`, '{"a": 12345678901234567890}'],
    ["'2026-03-01 12:00:00.123456+02'::timestamptz", '"2026-03-01T10:00:00.123456Z"'],
    ["'2026-03-01 12:00:00.5'::timestamp", '"2026-03-01T12:00:00.5+01:00"'],
    // There is no such time: clocks go from two to three.
    ["'2026-03-29 02:30:00'::timestamp", '"2026-03-29T02:30:00+01:00"'],
    ["'2026-03-29 03:00:00'::timestamp", '"2026-03-29T03:00:00+02:00"'],
    // There are two: the first one is taken.
    ["'2026-10-25 02:30:00'::timestamp", '"2026-10-25T02:30:00+02:00"'],
    ["'2026-10-25 03:00:00'::timestamp", '"2026-10-25T03:00:00+01:00"'],
    ["'infinity'::timestamptz", '"infinity"'],
    ["'2026-03-01'::date", '"2026-03-01"'],
    ["'12:30'::time", '"12:30:00"'],
    ["'1 day 2 hours'::interval", '"P1DT2H"'],
    ["'6f1c2e1a-1111-4222-8333-444455556666'::uuid", '"6f1c2e1a-1111-4222-8333-444455556666"'],
    ['ARRAY[1, NULL, 3]::int8[]', '[1,null,3]'],
    [`ARRAY[['a,"b"', 'NULL'], ['{}', NULL]]::text[]`, '[["a,\\"b\\"","NULL"],["{}",null]]'],
    ["ARRAY['2026-03-01 12:00'::timestamptz]", '["2026-03-01T12:00:00Z"]'],
    ["'[0:1]={1,2}'::int4[]", '[1,2]'],
    ["'{}'::int4[]", '[]'],
  ] as const

  test('are all that the server knows', async () => {
    const columns = values.map(([sql], index) => `${sql} AS c${index}`)
    const polled = await poll(`SELECT ${columns.join(', ')}`)
    expect(members(polled)).toEqual(values.map(([, json]) => json))
    expect(() => JSON.parse(polled.texts.join(''))).not.toThrow()
  })

  test('that are not there are no fields', async () => {
    const { rows } = await poll(
      'SELECT NULL::int4 AS a, 1 AS b, NULL::text AS c, 2 AS d UNION ALL SELECT NULL, NULL, NULL, NULL',
    )
    expect(rows).toEqual([{ b: 1, d: 2 }, {}])
  })

  test('a date in the field of times is the midnight that began it', async () => {
    const { rows } = await poll("SELECT '2026-07-01'::date AS day")
    expect(rows).toEqual([{ day: '2026-07-01T00:00:00+02:00' }])
  })
})

describe.skipIf(isMariadbMissing)('values of MariaDB', () => {
  let server: Mariadb | undefined
  beforeAll(async () => {
    server = await Mariadb.start()
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  const values = [
    ['bigint unsigned', '18446744073709551615', '18446744073709551615'],
    ['bigint', '-9223372036854775808', '-9223372036854775808'],
    [
      'decimal(38,9)',
      '12345678901234567890123456789.123456789',
      '12345678901234567890123456789.123456789',
    ],
    ['tinyint(1)', '1', 'true'],
    ['tinyint', '-7', '-7'],
    ['float', '0.1', '0.1'],
    ['double', '0.1', '0.1'],
    ['year', '2026', '2026'],
    ['bit(9)', "b'100000001'", '257'],
    ['varchar(20)', `'a "b" ü'`, '"a \\"b\\" ü"'],
    ['varbinary(20)', "x'00ff10'", '"AP8Q"'],
    ['blob', "x'00ff10'", '"AP8Q"'],
    ['json', `'{"a": [1, 2.50]}'`, '{"a": [1, 2.50]}'],
    ['timestamp(6) NULL', "'2026-03-01 10:00:00.123456'", '"2026-03-01T10:00:00.123456Z"'],
    ['datetime(6)', "'2026-03-01 12:00:00.5'", '"2026-03-01T12:00:00.500000+01:00"'],
    ['datetime', "'2026-10-25 02:30:00'", '"2026-10-25T02:30:00+02:00"'],
    ['date', "'2026-03-01'", '"2026-03-01"'],
    ['time', "'-12:30:00'", '"-12:30:00"'],
    ["enum('low', 'high')", "'high'", '"high"'],
    ['uuid', "'6f1c2e1a-1111-4222-8333-444455556666'", '"6f1c2e1a-1111-4222-8333-444455556666"'],
  ] as const

  test('are all that the server knows', async () => {
    const database = (await server?.newDatabase()) ?? ''
    const session = await server?.session(database)
    await session?.("SET time_zone = '+00:00'")
    await session?.(
      `CREATE TABLE v (${values.map(([type], index) => `c${index} ${type}`).join(', ')})`,
    )
    await session?.(`INSERT INTO v VALUES (${values.map(([, sql]) => sql).join(', ')})`)
    const polled = new PolledRows(
      {
        protocol: 'mariadb',
        endpoint: server?.endpoint(database),
        credentials: server?.credentials,
        query: 'SELECT * FROM v',
        ...zone,
      },
      { ports: [server?.port ?? 0] },
    )
    await polled.poll()
    expect(members(polled)).toEqual(values.map(([, , json]) => json))
    expect(() => JSON.parse(polled.texts.join(''))).not.toThrow()
  })
})

test('values of SQLite are all that is in the file', async () => {
  using folder = new TemporaryFolder()
  const file = folder.file('plant.db')
  const database = new DatabaseSync(file)
  const values = [
    ['integer', '9223372036854775807', '9223372036854775807'],
    ['real', '0.1', '0.1'],
    ['real', '9e999', 'null'],
    ['boolean', '1', 'true'],
    ['text', `'a "b"'`, '"a \\"b\\""'],
    ['blob', "x'00ff10'", '"AP8Q"'],
    ['json', `'{"a": [1, 2.50]}'`, '{"a": [1, 2.50]}'],
    ['datetime', "'2026-03-01 12:00:00.5'", '"2026-03-01T12:00:00.5+01:00"'],
    ['datetime', "'2026-03-01T12:00:00Z'", '"2026-03-01T12:00:00Z"'],
  ] as const
  database.exec(`CREATE TABLE v (${values.map(([type], index) => `c${index} ${type}`).join(', ')})`)
  database.exec(`INSERT INTO v VALUES (${values.map(([, sql]) => sql).join(', ')})`)
  database.close()
  const polled = new PolledRows(
    { protocol: 'sqlite', endpoint: file, query: 'SELECT * FROM v', ...zone },
    { sqliteFolders: [folder.path] },
  )
  await polled.poll()
  expect(members(polled)).toEqual(values.map(([, , json]) => json))
})
