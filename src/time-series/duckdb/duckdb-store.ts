import {
  BIGINT,
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBValue,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api'
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
import {
  Catalog,
  createReadingsTable,
  monthOf,
  noCounts,
  type StreamRecord,
  tableName,
} from './catalog.ts'
import { findDuplicates } from './duplicates.ts'
import { queryReadings } from './query.ts'

/** Memory of DuckDB's buffers: it holds what is appended and queried, not the file. */
const memoryLimit = '128MB'

/** Rows of counts that may pile up beyond one per stream before they are summed up. */
const countRowsSlack = 50_000

interface Connections {
  readonly instance: DuckDBInstance
  readonly writer: DuckDBConnection
  readonly catalog: Catalog
}

/** What one shipment changes of a stream's record. */
interface StreamDelta {
  received: number
  stored: number
  duplicates: number
  latencyUs: number
  timestampMaxUs: number
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
    const { writer, catalog } = this.#open
    if (shipment.from !== catalog.position) {
      throw new Error(`expected a shipment from ${catalog.position}, not from ${shipment.from}`)
    }
    try {
      const duplicates = await findDuplicates(writer, catalog, shipment.readings)
      const fresh = shipment.readings.filter((_, row) => !duplicates.has(row))
      const tables = groupByTable(fresh)
      await createMissing(writer, catalog, tables)
      await writer.run('BEGIN')
      await this.#writeRows(tables, shipment.received)
      const nowUs = this.#clock.nowUs()
      const changes = countChanges(catalog, deltasOf(shipment, duplicates, nowUs), nowUs)
      const countRows = await writeCounts(writer, catalog, changes)
      await writer.run(`UPDATE shipper_position SET next_offset = ${shipment.nextOffset}`)
      await writer.run('COMMIT')
      for (const { stream, added, after } of changes) {
        Object.assign(stream, after)
        stream.rate.add(added.stored, nowUs)
      }
      catalog.countRows = countRows
      catalog.position = shipment.nextOffset
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

  async #writeRows(
    tables: ReadonlyMap<string, readonly StoredReading[]>,
    received: ReadonlyMap<string, number>,
  ): Promise<void> {
    const { writer, catalog } = this.#open
    const knownBefore = catalog.streams.size
    for (const id of received.keys()) catalog.stream(id)
    await appendNewStreams(writer, catalog, knownBefore)
    for (const [table, readings] of tables) {
      const shape = (readings[0] as StoredReading).shape
      const buffers = new ColumnBuffers(shape)
      for (const reading of readings) {
        const stream = catalog.stream(reading.streamId)
        if (!stream.shapes.has(shape.id)) await addShape(writer, stream, shape.id)
        buffers.push(stream.key, reading)
      }
      await buffers.appendTo(writer, table)
    }
  }
}

async function connect(path: string): Promise<Connections> {
  const instance = await DuckDBInstance.create(path, { memory_limit: memoryLimit, threads: '2' })
  const writer = await instance.connect()
  return { instance, writer, catalog: await Catalog.load(writer) }
}

function groupByTable(readings: readonly StoredReading[]): Map<string, StoredReading[]> {
  const tables = new Map<string, StoredReading[]>()
  for (const reading of readings) {
    const name = tableName(reading.shape.id, monthOf(reading.timestampUs))
    const group = tables.get(name)
    if (group) group.push(reading)
    else tables.set(name, [reading])
  }
  return tables
}

async function createMissing(
  connection: DuckDBConnection,
  catalog: Catalog,
  tables: ReadonlyMap<string, readonly StoredReading[]>,
): Promise<void> {
  for (const [name, [first]] of tables) {
    if (first === undefined || catalog.tables.has(name)) continue
    const { shape } = first
    if (!catalog.shapes.has(shape.id)) {
      const columns = JSON.stringify(shape.columns)
      await connection.run('INSERT INTO shapes VALUES ($1, $2)', [shape.id, columns])
      catalog.shapes.set(shape.id, shape)
    }
    await connection.run(createReadingsTable(name, shape))
    catalog.tables.set(name, { name, shape: shape.id, month: monthOf(first.timestampUs) })
  }
}

async function appendNewStreams(
  connection: DuckDBConnection,
  catalog: Catalog,
  knownBefore: number,
): Promise<void> {
  if (catalog.streams.size === knownBefore) return
  const added = [...catalog.streams].slice(knownBefore)
  await appendColumns(
    connection,
    'streams',
    [INTEGER, VARCHAR],
    [added.map(([, { key }]) => key), added.map(([id]) => id)],
  )
}

async function addShape(
  connection: DuckDBConnection,
  stream: StreamRecord,
  shape: string,
): Promise<void> {
  await connection.run('INSERT INTO stream_shapes VALUES ($1, $2)', [stream.key, shape])
  stream.shapes.add(shape)
}

function deltasOf(
  { readings, received }: Shipment,
  duplicates: ReadonlySet<number>,
  nowUs: number,
): Map<string, StreamDelta> {
  const deltas = new Map<string, StreamDelta>()
  for (const [id, count] of received) {
    deltas.set(id, { received: count, stored: 0, duplicates: 0, latencyUs: 0, timestampMaxUs: -1 })
  }
  readings.forEach(({ streamId, timestampUs, receivedAtUs }, row) => {
    const delta = deltas.get(streamId)
    if (!delta) throw new Error(`stream ${streamId} has readings but was not received`)
    if (duplicates.has(row)) {
      delta.duplicates++
      return
    }
    delta.stored++
    delta.latencyUs += Math.max(0, nowUs - receivedAtUs)
    delta.timestampMaxUs = Math.max(delta.timestampMaxUs, timestampUs)
  })
  return deltas
}

/** What a shipment adds to a stream's record, and the record after it. */
interface CountChange {
  readonly stream: StreamRecord
  readonly added: StoredCounts & { readonly timestampMaxUs: number }
  readonly after: { readonly counts: StoredCounts; readonly timestampMaxUs: number }
}

function countChanges(
  catalog: Catalog,
  deltas: ReadonlyMap<string, StreamDelta>,
  nowUs: number,
): CountChange[] {
  return [...deltas].map(([id, delta]) => {
    const stream = catalog.stream(id)
    const { counts } = stream
    const lastStoredAtUs = delta.stored > 0 ? nowUs : counts.lastStoredAtUs
    const after = {
      counts: {
        received: counts.received + delta.received,
        stored: counts.stored + delta.stored,
        duplicates: counts.duplicates + delta.duplicates,
        latencyUs: counts.latencyUs + delta.latencyUs,
        lastStoredAtUs,
      },
      timestampMaxUs: Math.max(stream.timestampMaxUs, delta.timestampMaxUs),
    }
    return { stream, added: { ...delta, lastStoredAtUs }, after }
  })
}

/** Appends the deltas; now and then one row per stream replaces them all. Returns the rows then. */
async function writeCounts(
  writer: DuckDBConnection,
  catalog: Catalog,
  changes: readonly CountChange[],
): Promise<number> {
  const compact = catalog.countRows + changes.length > catalog.streams.size + countRowsSlack
  const changed = new Map(changes.map(({ stream, after }) => [stream, after]))
  if (compact) await writer.run('DELETE FROM stream_counts')
  const rows = compact
    ? [...catalog.streams.values()].map((stream) => {
        const { counts, timestampMaxUs } = changed.get(stream) ?? stream
        return countRow(stream.key, { ...counts, timestampMaxUs })
      })
    : changes.map(({ stream, added }) => countRow(stream.key, added))
  const types = [INTEGER, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT]
  const columns = types.map((_, index) => rows.map((row) => row[index] ?? null))
  await appendColumns(writer, 'stream_counts', types, columns)
  return compact ? rows.length : catalog.countRows + rows.length
}

function countRow(key: number, row: StoredCounts & { timestampMaxUs: number }): DuckDBValue[] {
  const numbers = [
    row.received,
    row.stored,
    row.duplicates,
    row.latencyUs,
    row.lastStoredAtUs,
    row.timestampMaxUs,
  ]
  return [key, ...numbers.map((number) => BigInt(number))]
}
