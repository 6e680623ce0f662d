import { claimOf } from '../../../processors/timestamp.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { timeMemberOf } from '../../contracts/time-member.ts'
import { openDuckDb } from '../../core/duckdb-instance.ts'
import { messageOf } from '../../core/errors.ts'
import { formatUs, type InstantUs, isWritableInstant, narrowed } from '../../core/time.ts'
import { type Row, UnreadableFile } from './row.ts'
import { asJson, assertTime, cellJson } from './text-rows.ts'

/** Memory for a file that nobody has looked into: of one that needs more, this much is no use. */
const memoryLimit = '256MB'

const columnsMax = 1_000

interface Column {
  readonly name: string
  /** What DuckDB is to make of its values, given their place. */
  readonly expression: (place: string) => string
  readonly value: (value: unknown, schema: StreamSchema) => unknown
}

/**
 * Rows of Parquet as JSON objects. The only thing that DuckDB may open is the file, whose path is ours;
 * names of columns become places.
 *
 * @throws UnreadableFile
 */
export async function* parquetRows(path: string, schema: StreamSchema): AsyncGenerator<Row> {
  const instance = await openDuckDb(':memory:', {
    threads: '1',
    memory_limit: memoryLimit,
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  try {
    const file = `'${path.replaceAll("'", "''")}'`
    await connection.run(`SET allowed_paths = [${file}]`)
    await connection.run('SET enable_external_access = false')
    await connection.run('SET lock_configuration = true')
    const source = `read_parquet(${file}, hive_partitioning = false)`
    const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`)
    const columns = columnsOf(described.getRowObjectsJson())
    assertTime(
      columns.map(({ name }) => name),
      schema,
    )
    const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${source}`)
    const rows = Number(counted.getRowsJS()[0]?.[0] ?? 0)
    const places = columns.map((_, place) => `c${place}`)
    const values = columns.map(({ expression }, place) => expression(`c${place}`))
    const text = `SELECT ${values.join(', ')} FROM ${source} AS file(${places.join(', ')})`
    const result = await connection.stream(text)
    let read = 0
    for await (const chunk of result.yieldRowsJs()) {
      for (const row of chunk) {
        read++
        const payload = Buffer.from(jsonOf(row, columns, schema))
        yield { payload, share: rows > 0 ? read / rows : 1 }
      }
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error
    const [reason = ''] = messageOf(error).replaceAll(path, 'the file').split('\n')
    throw new UnreadableFile(`the file is not Parquet that can be read: ${reason.slice(0, 500)}`)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function columnsOf(described: readonly Readonly<Record<string, unknown>>[]): readonly Column[] {
  if (described.length > columnsMax) {
    throw new UnreadableFile(`the file has more than ${columnsMax} columns`)
  }
  return described.map((row) => {
    const type = String(row['column_type'])
    return { name: String(row['column_name']), ...readAs(type) }
  })
}

function readAs(type: string): Omit<Column, 'name'> {
  if (type.startsWith('TIMESTAMP') && !type.endsWith(']'))
    return { expression: microseconds, value: timeIn }
  if (/^(DOUBLE|BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER)$/.test(type)) {
    return { expression: asItIs, value: (value) => value }
  }
  if (type === 'FLOAT') return { expression: asDouble, value: (value) => value }
  // Decimals are digits, of which a double may have fewer; those without a point are integers.
  const isJson = /^(STRUCT|MAP|UNION|JSON|DECIMAL)|\]$/.test(type)
  return isJson
    ? { expression: toJson, value: (value) => new JsonText(asJson(String(value))) }
    : { expression: asText, value: (value) => String(value) }
}

const asItIs = (place: string) => place
const asDouble = (place: string) => `${place}::DOUBLE`
const asText = (place: string) => `${place}::VARCHAR`
const toJson = (place: string) => `to_json(${place})::VARCHAR`
const microseconds = (place: string) => `epoch_us(${place})`

/** Marks microseconds until it is known which column they are of. */
class Instant {
  readonly us: InstantUs

  constructor(us: InstantUs) {
    this.us = us
  }
}

/** What is JSON already, with all its digits. */
class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function timeIn(value: unknown): unknown {
  return new Instant(narrowed(value as bigint))
}

function jsonOf(row: readonly unknown[], columns: readonly Column[], schema: StreamSchema): string {
  const members = columns.flatMap(({ name, value }, place) => {
    const given = row[place]
    if (given === null || given === undefined) return []
    const text = valueText(name, value(given, schema), schema)
    return [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join(',')}}`
}

/** A value as JSON. An integer that a double would round stays as it is, to be refused for that. */
function valueText(name: string, value: unknown, schema: StreamSchema): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof JsonText) return value.text
  if (value instanceof Instant) {
    const { timestampFormat } = schema
    const isTime = name === timeMemberOf(schema)
    // What no clock shows is for the schema to refuse.
    if (!isWritableInstant(value.us)) return JSON.stringify(String(value.us))
    const text = formatUs(value.us)
    const isNumber = isTime && timestampFormat !== 'rfc3339'
    return JSON.stringify(isNumber ? claimOf(Number(value.us), timestampFormat) : text)
  }
  const isText = typeof value === 'string' && (isOfJson(name, schema) || name === 'extra')
  return isText ? cellJson(name, value, schema) : JSON.stringify(value)
}

function isOfJson(name: string, { fields }: StreamSchema): boolean {
  const type = Object.hasOwn(fields, name) ? fields[name]?.type : undefined
  return type === 'object' || type === 'array'
}
