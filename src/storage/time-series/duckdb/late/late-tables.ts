import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted, type StreamRecord } from '../catalog.ts'
import { rowsOf } from '../rows-of.ts'

/**
 * A table that has so many rows gets no more of them. So many are stored by one transaction, about: it takes
 * memory for each, which is given back between two of them.
 */
export const rowsPerLateTable = 100_000

/** Readings of one shape that wait to be looked up. */
export interface LateTable {
  readonly name: string
  readonly shape: string
  /** They have waited before, in the quarantine: how long says nothing about the service. */
  readonly isRedriven: boolean
  /** Rows that are committed: they become more. */
  readonly rows: number
}

type GrowingTable = { -readonly [Key in keyof LateTable]: LateTable[Key] }

type Keyed = Pick<StreamRecord, 'key'>

/**
 * Readings that are older than the newest of their stream may be stored already, and to look for a
 * few of them takes as long as to look for many: all of a large month has to be read. So where
 * months are large they wait in tables of their own, as durable as the others, until they are
 * looked up together. They are neither stored nor duplicates until then, but pending
 * (decisions.md#counters-of-a-stream).
 */
export class LateTables {
  readonly rowsPerTable: number
  readonly #tables = new Map<string, GrowingTable>()
  /** Tables that rows are added to, by what they are for; they may have to be made. */
  readonly #growing = new Map<string, GrowingTable>()
  /** Rows by the key of their stream. */
  readonly #rows = new Map<number, number>()
  #nextNumber = 1
  #size = 0
  #revision = 0

  private constructor(rowsPerTable: number) {
    this.rowsPerTable = rowsPerTable
  }

  static async load(connection: DuckDBConnection, rowsPerTable: number): Promise<LateTables> {
    const late = new LateTables(rowsPerTable)
    for (const table of await lateTablesIn(connection)) await late.#take(connection, table)
    return late
  }

  /** Readings that wait. */
  get size(): number {
    return this.#size
  }

  /** Whether there is no table. */
  get isEmpty(): boolean {
    return this.#tables.size === 0
  }

  /** Another one as soon as a table has come or gone. */
  get revision(): number {
    return this.#revision
  }

  /** Whether readings of a stream wait. */
  has({ key }: Keyed): boolean {
    return this.#rows.has(key)
  }

  /** All tables there are; what comes from now on goes to others. */
  freeze(): readonly LateTable[] {
    this.#growing.clear()
    return [...this.#tables.values()]
  }

  /** The table for readings of a shape from now on; it may have to be made. */
  tableFor(shape: string, isRedriven: boolean): LateTable {
    const use = `${isRedriven ? 'redriven' : 'new'}_${shape}`
    const known = this.#growing.get(use)
    if (known && known.rows < this.rowsPerTable) return known
    const table = { name: `late_${this.#nextNumber++}_${use}`, shape, isRedriven, rows: 0 }
    this.#growing.set(use, table)
    return table
  }

  knows({ name }: LateTable): boolean {
    return this.#tables.has(name)
  }

  /** To be told of a table that was made. */
  made(table: LateTable): void {
    this.#tables.set(table.name, table)
    this.#revision++
  }

  /** To be told of rows of a stream in a table once they are committed. */
  added({ key }: Keyed, { name }: LateTable, rows: number): void {
    this.#rows.set(key, (this.#rows.get(key) ?? 0) + rows)
    this.#size += rows
    const table = this.#tables.get(name)
    if (table) table.rows += rows
  }

  /** To be told of rows that wait no more. */
  placed({ key }: Keyed, rows: number): void {
    const left = (this.#rows.get(key) ?? 0) - rows
    if (left > 0) this.#rows.set(key, left)
    else this.#rows.delete(key)
    this.#size -= rows
  }

  /** Tables, by those that are stored together. */
  portionsOf(tables: readonly LateTable[]): readonly LateTable[][] {
    const portions: LateTable[][] = []
    let rows = Number.POSITIVE_INFINITY
    for (const table of tables) {
      if (rows + table.rows > this.rowsPerTable) {
        portions.push([])
        rows = 0
      }
      portions.at(-1)?.push(table)
      rows += table.rows
    }
    return portions
  }

  gone(tables: readonly LateTable[]): void {
    for (const { name } of tables) this.#tables.delete(name)
    this.#revision++
  }

  async #take(
    connection: DuckDBConnection,
    { name, ...of }: Omit<LateTable, 'rows'>,
  ): Promise<void> {
    const table = { name, ...of, rows: 0 }
    this.made(table)
    this.#nextNumber = Math.max(this.#nextNumber, Number(name.split('_')[1]) + 1)
    const counted = await rowsOf(
      connection,
      `SELECT "streamId" AS key, count(*)::DOUBLE AS rows FROM ${quoted(name)} GROUP BY ALL`,
    )
    for (const { key, rows } of counted) {
      this.added({ key: key as number }, table, rows as number)
    }
  }
}

/** The tables that there are for a connection. */
export async function lateTablesIn(
  connection: DuckDBConnection,
): Promise<readonly Omit<LateTable, 'rows'>[]> {
  const found = await rowsOf(
    connection,
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'late\\_%' ESCAPE '\\'`,
  )
  return found.map((row) => {
    const name = row['name'] as string
    const [, , kind, shape = ''] = name.split('_')
    return { name, shape, isRedriven: kind === 'redriven' }
  })
}
