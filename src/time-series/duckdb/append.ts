import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  TIMESTAMP,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api'
import { parseRfc3339 } from '../../core/time.ts'
import type { ColumnType, Shape, StoredReading } from '../time-series-store.ts'

/** DuckDB's vectors hold this many values. */
const chunkRows = 2048

const duckdbTypes: Readonly<Record<ColumnType, DuckDBType>> = {
  double: DOUBLE,
  bigint: BIGINT,
  boolean: BOOLEAN,
  varchar: VARCHAR,
  timestamp: TIMESTAMP,
  json: VARCHAR,
}

/** Rows for one table, as one array per column, in the order of its DDL. */
export class ColumnBuffers {
  readonly #shape: Shape
  readonly #streamKeys: DuckDBValue[] = []
  readonly #timestamps: DuckDBValue[] = []
  readonly #receipts: DuckDBValue[] = []
  readonly #digests: DuckDBValue[] = []
  readonly #extras: DuckDBValue[] = []
  readonly #flags: DuckDBValue[] = []
  readonly #fields: readonly FieldBuffer[]

  constructor(shape: Shape) {
    this.#shape = shape
    this.#fields = shape.columns.map(({ name, type }) => ({ name, type, values: [] }))
  }

  push(streamKey: number, reading: StoredReading): void {
    const { extra, flagged } = reading
    this.#streamKeys.push(streamKey)
    this.#timestamps.push(timestampValue(reading.timestampUs))
    this.#receipts.push(timestampValue(reading.receivedAtUs))
    this.#digests.push(reading.digest)
    this.#extras.push(extra ?? null)
    this.#flags.push(flagged.length === 0 ? null : flagged.join(','))
    const fields = JSON.parse(reading.values) as Record<string, unknown>
    for (const { name, type, values } of this.#fields) {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined
      values.push(value === undefined ? null : toDuckdb(value, type))
    }
  }

  async appendTo(connection: DuckDBConnection, table: string): Promise<void> {
    const types = [...ownTypes, ...this.#shape.columns.map(({ type }) => duckdbTypes[type])]
    await appendColumns(connection, table, types, [
      this.#streamKeys,
      this.#timestamps,
      this.#receipts,
      this.#digests,
      this.#extras,
      this.#flags,
      ...this.#fields.map(({ values }) => values),
    ])
  }
}

/** Types of our own columns, in the order of the DDL. */
const ownTypes = [INTEGER, TIMESTAMP, TIMESTAMP, UBIGINT, VARCHAR, VARCHAR]

interface FieldBuffer {
  readonly name: string
  readonly type: ColumnType
  readonly values: DuckDBValue[]
}

/** Appends columns of equal length to a table, within the connection's transaction. */
export async function appendColumns(
  connection: DuckDBConnection,
  table: string,
  types: readonly DuckDBType[],
  columns: readonly (readonly DuckDBValue[])[],
): Promise<void> {
  const rows = columns[0]?.length ?? 0
  const appender = await connection.createAppender(table)
  try {
    for (let from = 0; from < rows; from += chunkRows) {
      const count = Math.min(chunkRows, rows - from)
      const chunk = DuckDBDataChunk.create(types, count)
      columns.forEach((column, index) => {
        chunk.setColumnValues(index, rows <= chunkRows ? column : column.slice(from, from + count))
      })
      appender.appendDataChunk(chunk)
    }
  } finally {
    appender.closeSync()
  }
}

export function timestampValue(timestampUs: number): DuckDBTimestampValue {
  return new DuckDBTimestampValue(BigInt(timestampUs))
}

function toDuckdb(value: unknown, type: ColumnType): DuckDBValue {
  switch (type) {
    case 'double':
    case 'boolean':
    case 'varchar':
      return value as DuckDBValue
    case 'bigint':
      return BigInt(value as number)
    case 'timestamp': {
      const instantUs = parseRfc3339(value as string)
      return typeof instantUs === 'number' ? timestampValue(instantUs) : null
    }
    case 'json':
      return JSON.stringify(value)
    default:
      return type satisfies never
  }
}
