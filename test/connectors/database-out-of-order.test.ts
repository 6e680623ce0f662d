import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'

const writers = 4

/** What somebody does next: the writers each in a transaction of their own, which takes its numbers early. */
type Step =
  | {
      readonly kind: 'insert'
      readonly writer: number
      readonly rows: number
      readonly ageS: number
    }
  | { readonly kind: 'commit' | 'rollback'; readonly writer: number }
  | { readonly kind: 'poll'; readonly pages: number | undefined }

const writer = fc.nat(writers - 1)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('insert' as const),
      writer,
      rows: fc.integer({ min: 1, max: 4 }),
      ageS: fc.nat(30),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('commit' as const), writer }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollback' as const), writer }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('poll' as const),
      pages: fc.option(fc.nat(4), { nil: undefined }),
    }),
  },
)

/** Rows that are there before, and whose time is long over. */
const oldRows = 220

/** More than all steps together write, so that every row comes within it. */
const lookBehindRows = 200

const orders = [
  { incrementalColumn: 'at', keyColumn: 'id', lookBehind: '10m' },
  { incrementalColumn: 'at', lookBehind: '10m' },
  { incrementalColumn: 'id', keyColumn: 'id', lookBehind: lookBehindRows },
  { incrementalColumn: 'id', lookBehind: lookBehindRows },
] as const

const kits = [
  {
    name: 'PostgreSQL',
    isMissing: isPostgresMissing,
    start: () => Postgres.start(),
    table: 'CREATE TABLE readings (id bigserial PRIMARY KEY, at timestamptz NOT NULL)',
    ago: (seconds: number) => `date_trunc('second', clock_timestamp()) - interval '${seconds} s'`,
  },
  {
    name: 'MariaDB',
    isMissing: isMariadbMissing,
    start: () => Mariadb.start(),
    table:
      'CREATE TABLE readings (id bigint AUTO_INCREMENT PRIMARY KEY, at datetime NOT NULL) ENGINE=InnoDB',
    ago: (seconds: number) => `UTC_TIMESTAMP() - INTERVAL ${seconds} SECOND`,
  },
] as const

describe.each(kits)('$name, with writers that commit late', ({ isMissing, start, table, ago }) => {
  const insert = (rows: number, ageS: number) => {
    const values = Array.from({ length: rows }, () => `(${ago(ageS)})`)
    return `INSERT INTO readings (at) VALUES ${values.join(', ')}`
  }
  let server: Postgres | Mariadb
  beforeAll(async () => {
    if (!isMissing) server = await start()
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  test.skipIf(isMissing).each(orders)('gives each row once: %j', async (order) => {
    const database = await server.newDatabase()
    const sessions = await Promise.all(
      Array.from({ length: writers }, () => server.session(database)),
    )
    const [first] = sessions as [(statement: string) => Promise<unknown>]
    await first(table)
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 40 }),
        async (steps, pageSize) => {
          await first('DELETE FROM readings')
          await first(insert(oldRows, 3_600))
          const polled = new PolledRows(
            {
              protocol: server.protocol,
              endpoint: server.endpoint(database),
              credentials: server.credentials,
              query: 'SELECT id, at FROM readings',
              pageSize,
              ...order,
            },
            { ports: [server.port] },
          )
          const open = new Set<number>()
          for (const one of steps) {
            if (one.kind === 'poll') {
              await polled.poll(one.pages === undefined ? undefined : { pages: one.pages })
              continue
            }
            const session = sessions[one.writer] as (statement: string) => Promise<unknown>
            if (one.kind === 'insert') {
              if (!open.has(one.writer)) await session('BEGIN')
              open.add(one.writer)
              await session(insert(one.rows, one.ageS))
            } else if (open.delete(one.writer)) await session(one.kind)
          }
          for (const number of open) await sessions[number]?.('COMMIT')
          await polled.poll()
          const there = (await first('SELECT id FROM readings ORDER BY id')) as { id: unknown }[]
          const given = polled.rows
            .map(({ id }) => Number(id))
            .toSorted((one, other) => one - other)
          expect(given).toEqual(there.map(({ id }) => Number(id)))
          await polled.poll()
          expect(polled.rows).toHaveLength(there.length)
        },
      ),
      { numRuns: 25 },
    )
  })
})
