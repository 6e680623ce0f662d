import type { DuckDBConnection } from '@duckdb/node-api'
import { DecayingRate } from '../../../core/decaying-rate.ts'
import type { Offset } from '../../journal/journal.ts'
import type { Column, ColumnType, Shape } from '../shape.ts'
import { noCounts, type OwnCounts, type StreamState } from '../stream-state.ts'
import type { KeptFromUs } from '../windows/known-windows.ts'
import { monthOf } from './months.ts'
import { RollupCatalog } from './rollups/rollup-catalog.ts'
import { rowsOf } from './rows-of.ts'
import { WindowCatalog } from './windows/window-catalog.ts'

/**
 * Version of the tables below; a file of a newer one is refused. 2: readings can be removed, and dropped
 * when they say nothing new. 3: readings can expire, and there are windows. 4: streams are rolled up. 5: streams
 * leave, and their numbers are not given again.
 */
const storeVersion = 5

/** Stands in `stream_counts` for all streams that have left: no stream has this number. */
export const departedKey = 0

const ddl = `
  CREATE TABLE IF NOT EXISTS shipper_position (next_offset BIGINT);
  CREATE TABLE IF NOT EXISTS streams ("streamId" INTEGER, id VARCHAR);
  CREATE TABLE IF NOT EXISTS shapes (shape VARCHAR, columns VARCHAR);
  CREATE TABLE IF NOT EXISTS stream_shapes ("streamId" INTEGER, shape VARCHAR);
  CREATE TABLE IF NOT EXISTS stream_counts (
    "streamId" INTEGER, received BIGINT, stored BIGINT, duplicates BIGINT, latency_us BIGINT,
    last_stored_at BIGINT, timestamp_max BIGINT);
  ALTER TABLE stream_counts ADD COLUMN IF NOT EXISTS deleted BIGINT;
  ALTER TABLE stream_counts ADD COLUMN IF NOT EXISTS unchanged BIGINT;
  ALTER TABLE stream_counts ADD COLUMN IF NOT EXISTS newest_content UBIGINT;
  ALTER TABLE stream_counts ADD COLUMN IF NOT EXISTS expired BIGINT;
  ALTER TABLE stream_counts ADD COLUMN IF NOT EXISTS kept_from BIGINT;
  CREATE TABLE IF NOT EXISTS given_keys (last_key INTEGER);
`

/** What is known of one stream, in memory; the tables hold the same. */
export interface StreamRecord extends StreamState {
  /** Small number that stands for the stream in its rows. */
  readonly key: number
  counts: OwnCounts
  /** How far it was looked for what is too old, since the file was opened. */
  expiredToUs: number
  /** Whether the stream has left: whoever holds its record still must write nothing of it. */
  hasLeft: boolean
}

/** A table holds the readings of one shape and one month of event time. */
export interface ReadingsTable {
  readonly name: string
  readonly shape: string
  /** For example 202611. */
  readonly month: number
  /** About how many. */
  rows: number
  /** Grows with each change of its rows. */
  revision: number
}

/** The file's own tables in memory: streams, shapes, tables of readings, counts and position. */
export class Catalog {
  readonly streams = new Map<string, StreamRecord>()
  readonly shapes = new Map<string, Shape>()
  readonly tables = new Map<string, ReadingsTable>()
  windows = new WindowCatalog()
  rollups = new RollupCatalog()
  position: Offset = 0
  /** Rows of `stream_counts`: deltas, of which one per stream would do. */
  countRows = 0
  /** What was counted of the streams that have left, together. */
  departed: OwnCounts = { ...noCounts }
  #lastKey = departedKey

  /** Makes the tables that are missing and reads the rest. */
  static async load(connection: DuckDBConnection): Promise<Catalog> {
    await checkVersion(connection)
    await connection.run(ddl)
    const catalog = new Catalog()
    await catalog.#loadPosition(connection)
    await catalog.#loadStreams(connection)
    await catalog.#loadTables(connection)
    const ids = new Map([...catalog.streams].map(([id, { key }]) => [key, id]))
    catalog.windows = await WindowCatalog.load(connection, ids)
    catalog.rollups = await RollupCatalog.load(connection, ids)
    return catalog
  }

  /** The stream's record, made when it is new; the caller writes a new one to its table. */
  stream(id: string): StreamRecord {
    let record = this.streams.get(id)
    if (!record) {
      record = {
        key: ++this.#lastKey,
        shapes: new Set(),
        counts: { ...noCounts },
        timestampMaxUs: -1,
        newestContent: undefined,
        expiredToUs: 0,
        hasLeft: false,
        rate: new DecayingRate(),
      }
      this.streams.set(id, record)
    }
    return record
  }

  /**
   * The greatest number that a stream was given. None is given again: rows of a stream that has left may be found
   * once more by whoever was at work with them.
   */
  get lastKey(): number {
    return this.#lastKey
  }

  /** To be told of a stream once nothing is left of it in the file. */
  leave(id: string): void {
    const record = this.streams.get(id)
    if (!record) return
    record.hasLeft = true
    this.streams.delete(id)
    this.windows.remove(id)
    this.rollups.remove(id)
  }

  readonly keptFromUs: KeptFromUs = (id) => this.streams.get(id)?.counts.keptFromUs ?? 0

  /** To be told before rows of a table are committed, or are gone. */
  touch(name: string): void {
    const table = this.tables.get(name)
    if (table) table.revision++
  }

  /** To be told of rows of a table once they are committed. */
  grown(name: string, rows: number): void {
    const table = this.tables.get(name)
    if (table) table.rows += rows
  }

  /** Tables of a shape, of all months. */
  tablesOfShape(shape: string): ReadingsTable[] {
    return [...this.tables.values()].filter((table) => table.shape === shape)
  }

  /** Tables of a shape whose months touch [startUs, endUs). */
  tablesOf(shape: string, startUs: number, endUs: number): ReadingsTable[] {
    const first = monthOf(startUs)
    const last = monthOf(endUs - 1)
    return [...this.tables.values()]
      .filter((table) => table.shape === shape && table.month >= first && table.month <= last)
      .sort((left, right) => left.month - right.month)
  }

  async #loadPosition(connection: DuckDBConnection): Promise<void> {
    const [row] = await rowsOf(connection, 'SELECT next_offset FROM shipper_position')
    if (row) this.position = Number(row['next_offset'])
    else await connection.run('INSERT INTO shipper_position VALUES (0)')
  }

  async #loadStreams(connection: DuckDBConnection): Promise<void> {
    const [given] = await rowsOf(
      connection,
      `SELECT greatest(coalesce((SELECT max(last_key) FROM given_keys), ${departedKey}),
         coalesce((SELECT max("streamId") FROM streams), ${departedKey})) AS last`,
    )
    this.#lastKey = Number(given?.['last'])
    const streams = await rowsOf(
      connection,
      `SELECT s."streamId" AS key, any_value(s.id) AS id, count(c."streamId") AS rows,
         coalesce(sum(c.received), 0)::DOUBLE AS received,
         coalesce(sum(c.stored), 0)::DOUBLE AS stored,
         coalesce(sum(c.duplicates), 0)::DOUBLE AS duplicates,
         coalesce(sum(c.deleted), 0)::DOUBLE AS deleted,
         coalesce(sum(c.expired), 0)::DOUBLE AS expired,
         coalesce(max(c.kept_from), 0)::DOUBLE AS "keptFrom",
         coalesce(sum(c.unchanged), 0)::DOUBLE AS unchanged,
         arg_max({'of': c.newest_content}, c.timestamp_max).of AS content,
         coalesce(sum(c.latency_us), 0)::DOUBLE AS latency,
         coalesce(max(c.last_stored_at), 0) AS last, coalesce(max(c.timestamp_max), -1) AS newest
       FROM (SELECT * FROM streams UNION ALL SELECT ${departedKey}, '') s
       LEFT JOIN stream_counts c USING ("streamId") GROUP BY s."streamId"`,
    )
    for (const row of streams) {
      this.countRows += Number(row['rows'])
      const counts = countsOf(row)
      if (row['key'] === departedKey) {
        this.departed = counts
        continue
      }
      this.streams.set(String(row['id']), {
        key: Number(row['key']),
        shapes: new Set(),
        counts,
        timestampMaxUs: Number(row['newest']),
        newestContent: (row['content'] as bigint | null) ?? undefined,
        expiredToUs: 0,
        hasLeft: false,
        rate: new DecayingRate(),
      })
    }
  }

  async #loadTables(connection: DuckDBConnection): Promise<void> {
    for (const row of await rowsOf(connection, 'SELECT shape, columns FROM shapes')) {
      const columns = JSON.parse(String(row['columns'])) as Column[]
      this.shapes.set(String(row['shape']), { id: String(row['shape']), columns })
    }
    const pairs = await rowsOf(
      connection,
      'SELECT s.id, p.shape FROM stream_shapes p JOIN streams s USING ("streamId")',
    )
    for (const row of pairs) this.streams.get(String(row['id']))?.shapes.add(String(row['shape']))
    const tables = await rowsOf(
      connection,
      `SELECT table_name AS name, estimated_size::DOUBLE AS rows FROM duckdb_tables()
       WHERE table_name LIKE 'readings\\_%' ESCAPE '\\'`,
    )
    for (const row of tables) {
      const name = String(row['name'])
      const [, shape = '', month = ''] = name.split('_')
      const rows = row['rows'] as number
      this.tables.set(name, { name, shape, month: Number(month), rows, revision: 0 })
    }
  }
}

function countsOf(row: Readonly<Record<string, unknown>>): OwnCounts {
  return {
    received: Number(row['received']),
    stored: Number(row['stored']),
    duplicates: Number(row['duplicates']),
    deleted: Number(row['deleted']),
    expired: Number(row['expired']),
    keptFromUs: Number(row['keptFrom']),
    unchanged: Number(row['unchanged']),
    latencyUs: Number(row['latency']),
    lastStoredAtUs: Number(row['last']),
  }
}

/** Before anything else is touched. @throws Error for a file of a newer version */
async function checkVersion(connection: DuckDBConnection): Promise<void> {
  await connection.run('CREATE TABLE IF NOT EXISTS store_version (version INTEGER)')
  const [row] = await rowsOf(connection, 'SELECT version FROM store_version')
  const version = row && Number(row['version'])
  if (version === undefined) {
    await connection.run(`INSERT INTO store_version VALUES (${storeVersion})`)
  } else if (version > storeVersion) {
    throw new Error(`the time-series file was written by a newer version (${version})`)
  } else if (version < storeVersion) {
    await connection.run(`UPDATE store_version SET version = ${storeVersion}`)
  }
}

export function tableName(shape: string, month: number): string {
  return `readings_${shape}_${String(month).padStart(6, '0')}`
}

const sqlTypes: Readonly<Record<ColumnType, string>> = {
  double: 'DOUBLE',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  varchar: 'VARCHAR',
  timestamp: 'TIMESTAMP',
  json: 'VARCHAR',
}

/**
 * DDL of a table of readings. Our own columns have reserved names (decisions.md#definitions) or
 * begin with a dollar sign, so no field of a stream can collide with them. No key: DuckDB's index
 * would cost more than looking for duplicates where they can be.
 */
export function createReadingsTable(name: string, { columns }: Shape): string {
  const fields = columns.map((column) => `, ${quoted(column.name)} ${sqlTypes[column.type]}`)
  return `CREATE TABLE IF NOT EXISTS ${quoted(name)} (
    "streamId" INTEGER, "timestamp" TIMESTAMP, "$receivedAt" TIMESTAMP, "$digest" UBIGINT,
    "extra" VARCHAR, "$flagged" VARCHAR${fields.join('')})`
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
