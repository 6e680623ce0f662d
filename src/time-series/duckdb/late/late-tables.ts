import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted, type StreamRecord } from '../catalog.ts'
import { rowsOf } from '../rows-of.ts'

/** Readings of one shape that wait to be looked up. */
export interface LateTable {
  readonly name: string
  readonly shape: string
  /** They have waited before, in the quarantine: how long says nothing about the service. */
  readonly isRedriven: boolean
}

type Keyed = Pick<StreamRecord, 'key'>

/**
 * Readings that are older than the newest of their stream may be stored already, and to look for a few
 * of them takes as long as to look for many: all of a large month has to be read. So where months are
 * large they wait in tables of their own, as durable as the others, until they are looked up together.
 * They are neither stored nor duplicates until then, but pending (D21).
 */
export class LateTables {
  readonly #tables = new Map<string, LateTable>()
  readonly #planned = new Map<string, LateTable>()
  /** Rows by the key of their stream. */
  readonly #rows = new Map<number, number>()
  /** Those of one generation are looked up together, when no rows are added to them any more. */
  #generation = 1
  #size = 0

  static async load(connection: DuckDBConnection): Promise<LateTables> {
    const late = new LateTables()
    const found = await rowsOf(
      connection,
      `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'late\\_%' ESCAPE '\\'`,
    )
    for (const { name } of found) await late.#take(connection, name as string)
    return late
  }

  /** Readings that wait. */
  get size(): number {
    return this.#size
  }

  /** Whether readings of a stream wait. */
  has({ key }: Keyed): boolean {
    return this.#rows.has(key)
  }

  /** All tables there are; what comes from now on goes to others. */
  freeze(): readonly LateTable[] {
    this.#generation++
    return [...this.#tables.values()]
  }

  /** The table for readings of a shape from now on; it may have to be made. */
  tableFor(shape: string, isRedriven: boolean): LateTable {
    const name = `late_${this.#generation}_${isRedriven ? 'redriven' : 'new'}_${shape}`
    const known = this.#tables.get(name) ?? this.#planned.get(name)
    if (known) return known
    const planned = { name, shape, isRedriven }
    this.#planned.set(name, planned)
    return planned
  }

  knows({ name }: LateTable): boolean {
    return this.#tables.has(name)
  }

  /** To be told of a table that was made. */
  made(table: LateTable): void {
    this.#planned.delete(table.name)
    this.#tables.set(table.name, table)
  }

  /** To be told of rows once they are committed. */
  added({ key }: Keyed, rows: number): void {
    this.#rows.set(key, (this.#rows.get(key) ?? 0) + rows)
    this.#size += rows
  }

  /** To be told of rows that wait no more. */
  settled({ key }: Keyed, rows: number): void {
    const left = (this.#rows.get(key) ?? 0) - rows
    if (left > 0) this.#rows.set(key, left)
    else this.#rows.delete(key)
    this.#size -= rows
  }

  gone(tables: readonly LateTable[]): void {
    for (const { name } of tables) this.#tables.delete(name)
  }

  async #take(connection: DuckDBConnection, name: string): Promise<void> {
    const [, generation, kind, shape = ''] = name.split('_')
    this.made({ name, shape, isRedriven: kind === 'redriven' })
    this.#generation = Math.max(this.#generation, Number(generation) + 1)
    const counted = await rowsOf(
      connection,
      `SELECT "streamId" AS key, count(*)::DOUBLE AS rows FROM ${quoted(name)} GROUP BY ALL`,
    )
    for (const { key, rows } of counted) {
      this.added({ key: key as number }, rows as number)
    }
  }
}
