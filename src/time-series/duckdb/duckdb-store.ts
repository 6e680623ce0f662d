import { type DuckDBConnection, DuckDBInstance, INTEGER, VARCHAR } from '@duckdb/node-api'
import type { Clock } from '../../core/clock.ts'
import type { Offset } from '../../journal/journal.ts'
import type {
  ReadingsPage,
  ReadingsQuery,
  Shipment,
  StoredCounts,
  StoredReading,
  StoredTotals,
  TimeSeriesStore,
} from '../time-series-store.ts'
import { appendColumns, ColumnBuffers } from './append.ts'
import { Catalog, createReadingsTable, noCounts } from './catalog.ts'
import { writeCounts } from './counts.ts'
import { findDuplicates } from './duplicates.ts'
import { queryReadings } from './query.ts'
import { countChange, groupByStream, rowsByTable, type TableRows } from './stream-groups.ts'

/** Memory of DuckDB's buffers: it holds what is appended and queried, not the file. */
const memoryLimit = '96MB'

interface Connections {
  readonly instance: DuckDBInstance
  readonly writer: DuckDBConnection
  readonly catalog: Catalog
}

/** Time series in one DuckDB file, written by one thread. */
export class DuckDbStore implements TimeSeriesStore {
  readonly #path: string
  readonly #clock: Clock
  #open: Connections
  /** Set after a failed write: DuckDB may have shut the file, and memory may be ahead of it. */
  #isSuspect = false

  private constructor(path: string, clock: Clock, open: Connections) {
    this.#path = path
    this.#clock = clock
    this.#open = open
  }

  static async open(path: string, clock: Clock): Promise<DuckDbStore> {
    return new DuckDbStore(path, clock, await connect(path))
  }

  position(): Offset {
    return this.#open.catalog.position
  }

  counts(streamId: string): StoredCounts {
    return this.#open.catalog.streams.get(streamId)?.counts ?? noCounts
  }

  storedPerSecond(streamId: string): number {
    return this.#open.catalog.streams.get(streamId)?.rate.perSecond(this.#clock.nowUs()) ?? 0
  }

  totals(): StoredTotals {
    let stored = 0
    let duplicates = 0
    for (const { counts } of this.#open.catalog.streams.values()) {
      stored += counts.stored
      duplicates += counts.duplicates
    }
    return { stored, duplicates }
  }

  async write(shipment: Shipment): Promise<void> {
    await this.#reopenIfSuspect()
    const { catalog } = this.#open
    if (shipment.from !== catalog.position) {
      throw new Error(`expected a shipment from ${catalog.position}, not from ${shipment.from}`)
    }
    try {
      await this.#writeAll(shipment)
    } catch (error) {
      this.#isSuspect = true
      throw error
    }
  }

  async query(query: ReadingsQuery): Promise<ReadingsPage> {
    const { instance, catalog } = this.#open
    const connection = await instance.connect()
    try {
      return await queryReadings(connection, catalog, query)
    } finally {
      connection.closeSync()
    }
  }

  async close(): Promise<void> {
    this.#open.writer.closeSync()
    this.#open.instance.closeSync()
    await Promise.resolve()
  }

  async #reopenIfSuspect(): Promise<void> {
    if (!this.#isSuspect) return
    await this.close()
    this.#open = await connect(this.#path)
    this.#isSuspect = false
  }

  /** Rows, counts and position in one transaction; memory follows once it is committed. */
  async #writeAll(shipment: Shipment): Promise<void> {
    const { writer, catalog } = this.#open
    const streamsBefore = catalog.streams.size
    const groups = groupByStream(catalog, shipment)
    const duplicates = await findDuplicates(writer, catalog, groups)
    const rows = groups.flatMap((group) => rowsByTable(group, duplicates))
    await createMissing(writer, catalog, rows)

    await writer.run('BEGIN')
    await appendNewStreams(writer, catalog, streamsBefore)
    await appendRows(writer, rows)
    const nowUs = this.#clock.nowUs()
    const changes = groups.map((group) => countChange(group, duplicates, nowUs))
    const countRows = await writeCounts(writer, catalog, changes)
    await writer.run(`UPDATE shipper_position SET next_offset = ${shipment.nextOffset}`)
    await writer.run('COMMIT')

    for (const { record, added, after } of changes) {
      Object.assign(record, after)
      record.rate.add(added.stored, nowUs)
    }
    catalog.countRows = countRows
    catalog.position = shipment.nextOffset
  }
}

async function connect(path: string): Promise<Connections> {
  const instance = await DuckDBInstance.create(path, { memory_limit: memoryLimit, threads: '2' })
  const writer = await instance.connect()
  return { instance, writer, catalog: await Catalog.load(writer) }
}

async function createMissing(
  connection: DuckDBConnection,
  catalog: Catalog,
  rows: readonly TableRows[],
): Promise<void> {
  for (const { table, month, readings } of rows) {
    if (catalog.tables.has(table)) continue
    const { shape } = readings[0] as StoredReading
    if (!catalog.shapes.has(shape.id)) {
      const columns = JSON.stringify(shape.columns)
      await connection.run('INSERT INTO shapes VALUES ($1, $2)', [shape.id, columns])
      catalog.shapes.set(shape.id, shape)
    }
    await connection.run(createReadingsTable(table, shape))
    catalog.tables.set(table, { name: table, shape: shape.id, month })
  }
}

async function appendNewStreams(
  connection: DuckDBConnection,
  catalog: Catalog,
  streamsBefore: number,
): Promise<void> {
  if (catalog.streams.size === streamsBefore) return
  const added = [...catalog.streams].slice(streamsBefore)
  await appendColumns(
    connection,
    'streams',
    [INTEGER, VARCHAR],
    [added.map(([, { key }]) => key), added.map(([id]) => id)],
  )
}

/** Appends rows table by table: many streams share one table. */
async function appendRows(connection: DuckDBConnection, rows: readonly TableRows[]): Promise<void> {
  const buffers = new Map<string, ColumnBuffers>()
  for (const { table, record, readings } of rows) {
    const { shape } = readings[0] as StoredReading
    if (!record.shapes.has(shape.id)) {
      await connection.run('INSERT INTO stream_shapes VALUES ($1, $2)', [record.key, shape.id])
      record.shapes.add(shape.id)
    }
    let columns = buffers.get(table)
    if (!columns) {
      columns = new ColumnBuffers(shape)
      buffers.set(table, columns)
    }
    for (const reading of readings) columns.push(record.key, reading)
  }
  for (const [table, columns] of buffers) await columns.appendTo(connection, table)
}
