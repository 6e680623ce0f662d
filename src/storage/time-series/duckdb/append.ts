import { type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api'
import { parseJson } from '../../../core/parse-json.ts'
import { parseInstant } from '../../../core/time.ts'
import type { Shape, Column as ShapeColumn } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import {
  BigIntColumn,
  BooleanColumn,
  type Column,
  DoubleColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
  UnsignedBigIntColumn,
} from './columns.ts'

/** DuckDB's vectors hold this many values. */
const chunkRows = 2048

/** Rows of one table of readings, column by column, in the order of its DDL. */
export class ReadingRows {
  readonly #streamKeys: IntegerColumn
  readonly #timestamps: TimestampColumn
  readonly #receipts: TimestampColumn
  readonly #digests: UnsignedBigIntColumn
  readonly #extras: TextColumn
  readonly #flags: TextColumn
  readonly #fields: readonly FieldColumn[]
  #rows = 0

  constructor(shape: Shape, rows: number) {
    this.#streamKeys = new IntegerColumn(rows)
    this.#timestamps = new TimestampColumn(rows)
    this.#receipts = new TimestampColumn(rows)
    this.#digests = new UnsignedBigIntColumn(rows)
    this.#extras = new TextColumn(rows)
    this.#flags = new TextColumn(rows)
    this.#fields = shape.columns.map((column) => fieldColumn(column, rows))
  }

  push(streamKey: number, reading: ShippedReading): void {
    const row = this.#rows++
    const { extra, flagged } = reading
    this.#streamKeys.set(row, streamKey)
    this.#timestamps.set(row, reading.timestampUs)
    this.#receipts.set(row, reading.receivedAtUs)
    this.#digests.set(row, reading.digest)
    if (extra === undefined) this.#extras.setNull(row)
    else this.#extras.set(row, extra)
    if (flagged.length === 0) this.#flags.setNull(row)
    else this.#flags.set(row, flagged.join(','))
    const fields = parseJson(reading.values) as Record<string, unknown>
    for (const { name, column, set } of this.#fields) {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (value === undefined) column.setNull(row)
      else set(row, value)
    }
  }

  async appendTo(connection: DuckDBConnection, table: string): Promise<void> {
    await appendColumns(connection, table, [
      this.#streamKeys,
      this.#timestamps,
      this.#receipts,
      this.#digests,
      this.#extras,
      this.#flags,
      ...this.#fields.map(({ column }) => column),
    ])
  }
}

interface FieldColumn {
  readonly name: string
  readonly column: Column
  /** Takes what the field's type allows: it was checked before the journal. */
  readonly set: (row: number, value: unknown) => void
}

function fieldColumn({ name, type }: ShapeColumn, rows: number): FieldColumn {
  switch (type) {
    case 'double': {
      const column = new DoubleColumn(rows)
      return { name, column, set: (row, value) => column.set(row, value as number) }
    }
    case 'bigint': {
      const column = new BigIntColumn(rows)
      return { name, column, set: (row, value) => column.set(row, value as number) }
    }
    case 'boolean': {
      const column = new BooleanColumn(rows)
      return { name, column, set: (row, value) => column.set(row, value as boolean) }
    }
    case 'varchar': {
      const column = new TextColumn(rows)
      return { name, column, set: (row, value) => column.set(row, value as string) }
    }
    case 'json': {
      const column = new TextColumn(rows)
      return { name, column, set: (row, value) => column.set(row, JSON.stringify(value)) }
    }
    case 'timestamp': {
      const column = new TimestampColumn(rows)
      return { name, column, set: (row, value) => setInstant(column, row, value as string) }
    }
    default:
      return type satisfies never
  }
}

function setInstant(column: TimestampColumn, row: number, text: string): void {
  const instantUs = parseInstant(text)
  if (typeof instantUs === 'object') column.setNull(row)
  else column.set(row, instantUs)
}

/** Appends columns of equal length to a table, within the connection's transaction. */
export async function appendColumns(
  connection: DuckDBConnection,
  table: string,
  columns: readonly Column[],
): Promise<void> {
  const rows = columns[0]?.rows ?? 0
  const types = columns.map(({ type }) => type)
  const appender = await connection.createAppender(table)
  try {
    for (let from = 0; from < rows; from += chunkRows) {
      const slice = { from, count: Math.min(chunkRows, rows - from) }
      const chunk = DuckDBDataChunk.create(types, slice.count)
      for (const [index, column] of columns.entries()) column.copyTo(chunk, index, slice)
      appender.appendDataChunk(chunk)
    }
  } finally {
    appender.closeSync()
  }
}
