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
  readonly #columns: DuckDBValue[][]

  constructor(shape: Shape) {
    this.#shape = shape
    this.#columns = columnTypes(shape).map(() => [])
  }

  push(streamKey: number, reading: StoredReading): void {
    const { extra, flagged, digest } = reading
    const values = JSON.parse(reading.values) as Record<string, unknown>
    const own = [
      streamKey,
      timestampValue(reading.timestampUs),
      timestampValue(reading.receivedAtUs),
      digest,
      extra ?? null,
      flagged.length === 0 ? null : flagged.join(','),
    ]
    own.forEach((value, index) => this.#columns[index]?.push(value))
    this.#shape.columns.forEach(({ name, type }, index) => {
      const value = Object.hasOwn(values, name) ? toDuckdb(values[name], type) : null
      this.#columns[own.length + index]?.push(value)
    })
  }

  async appendTo(connection: DuckDBConnection, table: string): Promise<void> {
    await appendColumns(connection, table, columnTypes(this.#shape), this.#columns)
  }
}

function columnTypes(shape: Shape): DuckDBType[] {
  const own = [INTEGER, TIMESTAMP, TIMESTAMP, UBIGINT, VARCHAR, VARCHAR]
  return [...own, ...shape.columns.map(({ type }) => duckdbTypes[type])]
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
