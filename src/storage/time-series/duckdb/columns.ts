import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBDataChunk,
  type DuckDBType,
  INTEGER,
  TIMESTAMP,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api'
import duckdb, { type Vector } from '@duckdb/node-bindings'
import type { InstantUs } from '../../../core/time.ts'

/**
 * Columns in the layout of DuckDB's vectors (little-endian), which are handed over as blocks of
 * memory. The library's own way takes an object for each timestamp and a BigInt for each bit that
 * says whether a value is there: at a hundred thousand rows a second that is most of the work.
 */
export abstract class Column<Value = unknown> {
  readonly type: DuckDBType
  readonly rows: number
  /** One bit for each row that has a value; made when the first has none. */
  #validity: Uint8Array<ArrayBuffer> | undefined

  constructor(type: DuckDBType, rows: number) {
    this.type = type
    this.rows = rows
  }

  abstract set(row: number, value: Value): void

  /** Sets all rows. */
  fill(values: readonly Value[]): this {
    let row = 0
    for (const value of values) this.set(row++, value)
    return this
  }

  setNull(row: number): void {
    // In units of 64 bits, as DuckDB reads them.
    this.#validity ??= new Uint8Array(Math.ceil(this.rows / 64) * 8).fill(0xff)
    const at = row >> 3
    this.#validity[at] = (this.#validity[at] as number) & ~(1 << (row & 7))
  }

  /** Copies `count` rows from `from` on, a multiple of 64, to a column of a chunk. */
  copyTo(chunk: DuckDBDataChunk, index: number, slice: RowSlice): void {
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, index)
    this.copyValues(vector, slice)
    if (this.#validity === undefined) return
    const bytes = Math.ceil(slice.count / 64) * 8
    duckdb.vector_ensure_validity_writable(vector)
    duckdb.copy_data_to_vector_validity(vector, 0, this.#validity.buffer, slice.from / 8, bytes)
  }

  protected abstract copyValues(vector: Vector, slice: RowSlice): void
}

export interface RowSlice {
  readonly from: number
  readonly count: number
}

type FixedArray =
  | Float64Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>

interface FixedColumnNeeds<Items> {
  readonly type: DuckDBType
  readonly rows: number
  readonly items: Items
}

/** Values of a fixed width. */
abstract class FixedColumn<Value, Items extends FixedArray> extends Column<Value> {
  protected readonly items: Items
  readonly #bytesEach: number

  constructor({ type, rows, items }: FixedColumnNeeds<Items>) {
    super(type, rows)
    this.items = items
    this.#bytesEach = items.byteLength / Math.max(1, rows)
  }

  protected override copyValues(vector: Vector, { from, count }: RowSlice): void {
    const each = this.#bytesEach
    duckdb.copy_data_to_vector(vector, 0, this.items.buffer, from * each, count * each)
  }
}

export class DoubleColumn extends FixedColumn<number, Float64Array<ArrayBuffer>> {
  constructor(rows: number) {
    super({ type: DOUBLE, rows, items: new Float64Array(rows) })
  }

  override set(row: number, value: number): void {
    this.items[row] = value
  }
}

export class BooleanColumn extends FixedColumn<boolean, Uint8Array<ArrayBuffer>> {
  constructor(rows: number) {
    super({ type: BOOLEAN, rows, items: new Uint8Array(rows) })
  }

  override set(row: number, value: boolean): void {
    this.items[row] = value ? 1 : 0
  }
}

export class IntegerColumn extends FixedColumn<number, Int32Array<ArrayBuffer>> {
  constructor(rows: number) {
    super({ type: INTEGER, rows, items: new Int32Array(rows) })
  }

  override set(row: number, value: number): void {
    this.items[row] = value
  }
}

/** Integers of 64 bits, from numbers that are whole and exact: below 2^53. */
export class BigIntColumn<Value extends number | bigint = number> extends FixedColumn<
  Value | number,
  Int32Array<ArrayBuffer>
> {
  constructor(rows: number, type: DuckDBType = BIGINT) {
    super({ type, rows, items: new Int32Array(rows * 2) })
  }

  override set(row: number, value: Value | number): void {
    if (typeof value === 'bigint') {
      this.items[row * 2] = Number(BigInt.asIntN(32, value))
      this.items[row * 2 + 1] = Number(value >> 32n)
      return
    }
    // The low word is taken modulo 2^32, the high one carries the sign.
    this.items[row * 2] = value | 0
    this.items[row * 2 + 1] = Math.floor(value / 2 ** 32)
  }
}

/** Microseconds since the epoch, also where doubles do not count them one by one. */
export class TimestampColumn extends BigIntColumn<InstantUs> {
  constructor(rows: number) {
    super(rows, TIMESTAMP)
  }
}

export class UnsignedBigIntColumn extends FixedColumn<bigint, BigUint64Array<ArrayBuffer>> {
  constructor(rows: number) {
    super({ type: UBIGINT, rows, items: new BigUint64Array(rows) })
  }

  override set(row: number, value: bigint): void {
    this.items[row] = value
  }
}

export class TextColumn extends Column<string> {
  readonly #texts: (string | undefined)[] = []

  constructor(rows: number) {
    super(VARCHAR, rows)
  }

  override set(row: number, value: string): void {
    this.#texts[row] = value
  }

  protected override copyValues(vector: Vector, { from, count }: RowSlice): void {
    for (let row = 0; row < count; row++) {
      const text = this.#texts[from + row]
      if (text !== undefined) duckdb.vector_assign_string_element(vector, row, text)
    }
  }
}
