import { DuckDBInstance } from '@duckdb/node-api'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { appendColumns } from '../../src/storage/time-series/duckdb/append.ts'
import {
  BigIntColumn,
  BooleanColumn,
  type Column,
  DoubleColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
  UnsignedBigIntColumn,
} from '../../src/storage/time-series/duckdb/columns.ts'

const safe = Number.MAX_SAFE_INTEGER
/** Microseconds of the first and the last second that RFC 3339 can write. */
const firstUs = -62_135_596_800_000_000
const lastUs = 253_402_300_799_000_000

const wholes = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.constantFrom(
    0,
    -1,
    safe,
    -safe,
    2 ** 53,
    -(2 ** 53),
    2 ** 31,
    2 ** 32,
    -(2 ** 32),
    2 ** 32 - 1,
  ),
)

/** How a column of one type is filled, and what DuckDB should say is in it, as text. */
interface Kind<Value> {
  readonly sql: string
  readonly values: fc.Arbitrary<Value>
  /** An expression that tells all bits of the column `value`. */
  readonly told: string
  readonly expected: (value: Value) => string
  readonly column: (rows: number) => Column & { set(row: number, value: Value): void }
}

function kind<Value>(one: Kind<Value>): Kind<unknown> {
  return one as unknown as Kind<unknown>
}

const kinds: readonly Kind<unknown>[] = [
  kind<number>({
    sql: 'DOUBLE',
    values: fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, -0, 5e-324, -5e-324, 1.7e308, -1.7e308, 0.1, safe),
    ),
    // Seventeen digits after the first tell every double from every other, and -0 from 0.
    told: "printf('%.17e', value)",
    expected: (value) => (Object.is(value, -0) ? '-0' : String(value)),
    column: (rows) => new DoubleColumn(rows),
  }),
  kind<number>({
    sql: 'BIGINT',
    values: wholes,
    told: 'value::VARCHAR',
    expected: (value) => BigInt(value).toString(),
    column: (rows) => new BigIntColumn(rows),
  }),
  kind<number>({
    sql: 'TIMESTAMP',
    values: fc.oneof(
      fc.integer({ min: -safe, max: safe }),
      fc.constantFrom(firstUs, lastUs, 0, -1),
    ),
    told: 'epoch_us(value)::VARCHAR',
    expected: (value) => BigInt(value).toString(),
    column: (rows) => new TimestampColumn(rows),
  }),
  kind<number>({
    sql: 'INTEGER',
    values: fc.oneof(fc.integer(), fc.constantFrom(0, 2 ** 31 - 1, -(2 ** 31))),
    told: 'value::VARCHAR',
    expected: String,
    column: (rows) => new IntegerColumn(rows),
  }),
  kind<bigint>({
    sql: 'UBIGINT',
    values: fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.constantFrom(0n, 2n ** 64n - 1n, 2n ** 63n, 2n ** 32n),
    ),
    told: 'value::VARCHAR',
    expected: String,
    column: (rows) => new UnsignedBigIntColumn(rows),
  }),
  kind<boolean>({
    sql: 'BOOLEAN',
    values: fc.boolean(),
    told: 'value::VARCHAR',
    expected: String,
    column: (rows) => new BooleanColumn(rows),
  }),
  kind<string>({
    sql: 'VARCHAR',
    values: fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
      // DuckDB keeps up to twelve bytes within its own string, and more elsewhere.
      fc.constantFrom('', 'é', '🌡️ 21 °C', 'x'.repeat(12), 'x'.repeat(13), 'ä'.repeat(70_000)),
    ),
    told: 'value',
    expected: String,
    column: (rows) => new TextColumn(rows),
  }),
]

/** Sizes around a word of the bits that say what is there, and around a vector. */
const sizes = fc.constantFrom(0, 1, 63, 64, 65, 127, 128, 2047, 2048, 2049, 2112, 4095, 4096, 4097)

/** Which rows have no value: at edges, by chance, all of them, or none. */
const nulls = fc.oneof(
  fc.constant(() => false),
  fc.constant(() => true),
  fc.constant((row: number) => [0, 63, 64, 127, 2047, 2048, 2111, 4095, 4096].includes(row)),
  fc.constant((row: number) => row >= 2048),
  fc.integer({ min: 2, max: 9 }).map((step) => (row: number) => row % step === 1),
  fc.infiniteStream(fc.boolean()).map((stream) => {
    const bits = [...stream.take(4_097)]
    return (row: number) => bits[row] === true
  }),
)

/** What one column of a table holds: a kind, a few values that are repeated, and gaps. */
const filled = fc.constantFrom(...kinds).chain((one) =>
  fc.record({
    kind: fc.constant(one),
    values: fc.array(one.values, { minLength: 1, maxLength: 7 }),
    isNull: nulls,
  }),
)

describe('columns', () => {
  test('of every type are in DuckDB what they were, with their gaps', async () => {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.array(filled, { minLength: 1, maxLength: 8 }),
        async (rows, all) => {
          const list = all.map((one, index) => `c${index} ${one.kind.sql}`).join(', ')
          await connection.run(`CREATE OR REPLACE TABLE rows_of_columns (${list})`)
          const columns = all.map(({ kind: { column: make }, values, isNull }) => {
            const column = make(rows)
            for (let row = 0; row < rows; row++) {
              if (isNull(row)) column.setNull(row)
              else column.set(row, values[row % values.length])
            }
            return column
          })

          await appendColumns(connection, 'rows_of_columns', columns)

          for (const [index, { kind: one, values, isNull }] of all.entries()) {
            const told = one.told.replaceAll('value', `c${index}`)
            const reader = await connection.runAndReadAll(
              `SELECT ${told} FROM rows_of_columns ORDER BY rowid`,
            )
            const found = reader.getColumnsJS()[0] ?? []
            const expected = Array.from({ length: rows }, (_, row) =>
              isNull(row) ? null : one.expected(values[row % values.length]),
            )
            expect(found.map((text) => (one.sql === 'DOUBLE' ? doubleText(text) : text))).toEqual(
              expected,
            )
          }
        },
      ),
      { numRuns: 60 },
    )
    connection.closeSync()
    instance.closeSync()
  })
})

/** The shortest text of the double that DuckDB's digits stand for, with the sign of a zero. */
function doubleText(digits: unknown): string | null {
  if (typeof digits !== 'string') return null
  const value = Number(digits)
  return Object.is(value, -0) ? '-0' : String(value)
}
