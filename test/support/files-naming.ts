import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/** Rows of one column that name something. */
export interface Naming {
  /** `file table.column`. */
  readonly place: string
  readonly rows: number
}

/** Where the SQLite file of a stopped service names one of some ids: in any column of any table, as text or as bytes. */
export function namedInSqlite(dataDir: string, file: string, ids: readonly string[]): Naming[] {
  using database = new DatabaseSync(join(dataDir, file), { readOnly: true })
  const found: Naming[] = []
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  for (const { name } of tables) {
    const table = `"${String(name)}"`
    for (const { name: column } of database.prepare(`PRAGMA table_info(${table})`).all()) {
      const values = database.prepare(`SELECT "${String(column)}" AS value FROM ${table}`)
      let rows = 0
      for (const { value } of values.iterate()) if (names(value, ids)) rows++
      if (rows > 0) found.push({ place: `${file} ${String(name)}.${String(column)}`, rows })
    }
  }
  return found
}

/** Ids as text, or as the bytes that entries of the journal begin with. */
function names(value: unknown, ids: readonly string[]): boolean {
  if (typeof value === 'string') return ids.some((id) => value.includes(id))
  if (!(value instanceof Uint8Array)) return false
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return ids.some(
    (id) => bytes.includes(id) || bytes.includes(Buffer.from(id.replaceAll('-', ''), 'hex')),
  )
}

/**
 * Finds columns of a DuckDB file that name any of the ids, and rows of numbers that no stream has.
 */
export async function namedInDuckDb(path: string, ids: readonly string[]): Promise<Naming[]> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const found: Naming[] = []
  for (const { table, column, type } of await columnsOf(connection)) {
    const condition =
      column === 'streamId'
        ? `"streamId" <> 0 AND "streamId" NOT IN (SELECT "streamId" FROM streams)`
        : type === 'VARCHAR' && ids.map((id) => `contains("${column}", '${id}')`).join(' OR ')
    if (condition === false || condition === '') continue
    const reader = await connection.runAndReadAll(
      `SELECT count(*)::INTEGER FROM "${table}" WHERE ${condition}`,
    )
    const rows = Number(reader.getRowsJS()[0]?.[0])
    if (rows > 0) found.push({ place: `time-series.duckdb ${table}.${column}`, rows })
  }
  connection.closeSync()
  instance.closeSync()
  return found
}

async function columnsOf(connection: DuckDBConnection) {
  const reader = await connection.runAndReadAll(
    `SELECT table_name AS "table", column_name AS "column", data_type AS type FROM duckdb_columns()
     WHERE NOT internal`,
  )
  return reader.getRowObjectsJS() as unknown as readonly {
    readonly table: string
    readonly column: string
    readonly type: string
  }[]
}
