import type { Column, ColumnType, Shape } from '../../shape.ts'

/**
 * What a row of a rollup has of each field, beside the stream, the start and the count of all readings. It is kept such
 * that rows can be put together again: of the first and the last value also what orders them.
 */
export const rollupParts = [
  'n',
  'sum',
  'min',
  'max',
  'first',
  'firstAt',
  'firstDigest',
  'last',
  'lastAt',
  'lastDigest',
] as const

export type RollupPart = (typeof rollupParts)[number]

/** The column of a part, by the place of the field in its shape: names may differ in case only. */
export function partName(part: RollupPart, place: number): string {
  return `"$${part}${place}"`
}

/** Whether a field of a type has a part: only numbers are summed up, only what has an order has a least one. */
export function hasPart(type: ColumnType, part: RollupPart): boolean {
  if (part === 'sum') return isNumber(type)
  if (part === 'min' || part === 'max') return isNumber(type) || type === 'timestamp'
  return true
}

function isNumber(type: ColumnType): boolean {
  return type === 'double' || type === 'bigint'
}

const valueTypes: Readonly<Record<ColumnType, string>> = {
  double: 'DOUBLE',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  varchar: 'VARCHAR',
  timestamp: 'TIMESTAMP',
  json: 'VARCHAR',
}

/** DDL of the table of a shape. */
export function createRollupTable(table: string, { columns }: Shape): string {
  const fields = columns.flatMap(({ type }, place) =>
    partsOf(type).map((part) => `, ${partName(part, place)} ${partType(part, type)}`),
  )
  return `CREATE TABLE IF NOT EXISTS ${table} (
    "streamId" INTEGER, start_us BIGINT, count BIGINT${fields.join('')})`
}

function partsOf(type: ColumnType): readonly RollupPart[] {
  return rollupParts.filter((part) => hasPart(type, part))
}

function partType(part: RollupPart, type: ColumnType): string {
  if (part === 'n') return 'BIGINT'
  if (part === 'firstAt' || part === 'lastAt') return 'TIMESTAMP'
  if (part === 'firstDigest' || part === 'lastDigest') return 'UBIGINT'
  // Whole numbers are summed up exactly.
  if (part === 'sum' && type === 'bigint') return 'HUGEINT'
  return valueTypes[type]
}

/**
 * SQL of the rows of a shape, in the order of its table's columns.
 *
 * @param readings SQL of rows with `streamId`, `timestamp`, `$digest` and, named by `valueName`, the fields
 */
export function rollUpSql({ columns }: Shape, readings: string, start: string): string {
  const found = columns.map(({ type }, place) => {
    const value = valueName(place)
    const whole = `{'at': "timestamp", 'digest': "$digest", 'value': ${value}}`
    const order = '("timestamp", "$digest")'
    const sum = type === 'bigint' ? 'sum' : 'fsum'
    return `, count(${value}) AS "$n${place}"
      ${hasPart(type, 'sum') ? `, ${sum}(${value}) AS "$sum${place}"` : ''}
      ${hasPart(type, 'min') ? `, min(${value}) AS "$min${place}", max(${value}) AS "$max${place}"` : ''}
      , arg_min(${whole}, ${order}) FILTER (${value} IS NOT NULL) AS "$first${place}"
      , arg_max(${whole}, ${order}) FILTER (${value} IS NOT NULL) AS "$last${place}"`
  })
  const parts = columns.flatMap((column, place) => selectedParts(column, place))
  return `SELECT "streamId", start_us, count${parts.join('')} FROM (
    SELECT "streamId", ${start} AS start_us, count(*) AS count${found.join('')}
    FROM (${readings}) GROUP BY ALL)`
}

/** The name of a field in the rows that are rolled up. */
export function valueName(place: number): string {
  return `"$value${place}"`
}

function selectedParts({ type }: Column, place: number): readonly string[] {
  const members: Partial<Record<RollupPart, string>> = {
    first: `"$first${place}".value`,
    firstAt: `"$first${place}".at`,
    firstDigest: `"$first${place}".digest`,
    last: `"$last${place}".value`,
    lastAt: `"$last${place}".at`,
    lastDigest: `"$last${place}".digest`,
  }
  return partsOf(type).map((part) => `, ${members[part] ?? partName(part, place)}`)
}
