import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../core/clock.ts'
import type { Offset } from '../../journal/journal.ts'
import type { AggregatePage, AggregateQuery } from '../aggregate-query.ts'
import { countChange, groupByStream } from '../stream-groups.ts'
import { noCounts, totalsOf } from '../stream-state.ts'
import type {
  ExpiringStore,
  Expiry,
  HistoryPage,
  HistoryQuery,
  LatestPage,
  LatestQuery,
  QueryLoad,
  ReadingsCursor,
  ReadingsPage,
  ReadingsQuery,
  Removal,
  Shipment,
  StoreCopy,
  StoredCounts,
  StoredTotals,
  TimeSeriesStore,
} from '../time-series-store.ts'
import type { WindowStore } from '../windows/window-store.ts'
import { aggregateReadings } from './aggregation/aggregate.ts'
import { Catalog, quoted } from './catalog.ts'
import { writeCounts } from './counts.ts'
import { DuckDbFile, isTableMissing } from './duckdb-file.ts'
import { findDuplicates } from './duplicates.ts'
import { type ExpiryTurns, expireReadings } from './expire-readings.ts'
import { placeBeforeNewest, readHistory } from './history.ts'
import { readLatest } from './latest.ts'
import { readRaw } from './raw-readings.ts'
import { removeReadings } from './removal.ts'
import { appendNewStreams, appendRows, createMissing } from './shipment-rows.ts'
import { copyStore } from './store-copy.ts'
import { rowsByTable } from './table-rows.ts'
import { DuckDbWindows } from './windows/duckdb-windows.ts'
import { adoptChanges, windowChanges, writeMarks } from './windows/mark-windows.ts'

/** After so many rows, or characters of readings, DuckDB is asked to give back unused memory. */
const rowsPerRelease = 100_000
const textPerRelease = 16_000_000

/** A table goes once, and there is a rest before the next one. */
const readAttemptsMax = 10

/** Time series in one DuckDB file, written by one thread. */
export class DuckDbStore implements TimeSeriesStore, ExpiringStore {
  readonly windows: WindowStore
  readonly #file: DuckDbFile
  readonly #clock: Clock
  #catalog: Catalog
  /** Set after a failed write: DuckDB may have shut the file, and memory may be ahead of it. */
  #isSuspect = false
  #lastWrite: Promise<void> = Promise.resolve()
  #rowsSinceRelease = 0
  #textSinceRelease = 0

  private constructor(file: DuckDbFile, catalog: Catalog, clock: Clock) {
    this.#file = file
    this.#catalog = catalog
    this.#clock = clock
    this.windows = new DuckDbWindows({
      clock,
      catalog: () => this.#catalog,
      read: (work) => this.#read(work),
      write: (work) => this.#exclusively(() => this.#suspecting(() => work(this.#file.writer))),
    })
  }

  static async open(path: string, clock: Clock): Promise<DuckDbStore> {
    const file = await DuckDbFile.open(path)
    return new DuckDbStore(file, await Catalog.load(file.writer), clock)
  }

  position(): Offset {
    return this.#catalog.position
  }

  counts(streamId: string): StoredCounts {
    return this.#catalog.streams.get(streamId)?.counts ?? noCounts
  }

  storedPerSecond(streamId: string): number {
    return this.#catalog.streams.get(streamId)?.rate.perSecond(this.#clock.nowUs()) ?? 0
  }

  totals(): StoredTotals {
    return totalsOf(this.#catalog.streams.values())
  }

  queries(): QueryLoad {
    const { running, waiting } = this.#file.queries
    return { running, waiting }
  }

  async write(shipment: Shipment): Promise<void> {
    await this.#exclusively(async () => {
      await this.#move(shipment, () => this.#writeAll(shipment))
      for (const { values, extra = '' } of shipment.readings) {
        this.#textSinceRelease += values.length + extra.length
      }
      await this.#releaseMemory(shipment.readings.length)
    })
  }

  async remove(removal: Removal): Promise<void> {
    const work = () =>
      removeReadings(
        {
          writer: this.#file.writer,
          catalog: this.#catalog,
          onPortion: (rows) => this.#releaseMemory(rows),
        },
        removal,
      )
    await this.#exclusively(() => this.#move(removal, work))
  }

  async expire(expiries: readonly Expiry[], signal: AbortSignal): Promise<void> {
    const turns: ExpiryTurns = {
      write: (work) =>
        this.#exclusively(async () => {
          const done = await this.#suspecting(() => work(this.#file.writer, this.#catalog))
          await this.#releaseMemory(rowsPerRelease)
          return done
        }),
      look: (work) => this.#file.look(work),
    }
    await expireReadings(turns, expiries, signal)
  }

  async removeStream(streamId: string): Promise<number> {
    const tables = () => {
      const record = this.#catalog.streams.get(streamId)
      return [...(record?.shapes ?? [])].flatMap((shape) => this.#catalog.tablesOfShape(shape))
    }
    // Table by table, so that shipments come in between.
    for (const { name } of tables()) {
      await this.#exclusively(() => this.#removeRows(streamId, name))
    }
    this.#catalog.windows.remove(streamId)
    for (const table of ['stream_shapes', ...this.#catalog.windows.tables()]) {
      await this.#exclusively(() => this.#removeRows(streamId, table))
    }
    this.#catalog.streams.get(streamId)?.shapes.clear()
    return this.counts(streamId).stored
  }

  async #removeRows(streamId: string, table: string): Promise<void> {
    await this.#suspecting(async () => {
      const record = this.#catalog.streams.get(streamId)
      if (!record) return
      this.#catalog.touch(table)
      const statement = `DELETE FROM ${quoted(table)} WHERE "streamId" = ${record.key}`
      await this.#file.writer.run(statement)
    })
  }

  /** Writes something that moves no position: when it fails, the file itself is asked what is in it. */
  async #suspecting<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#reopenIfSuspect()
    try {
      return await work()
    } catch (error) {
      this.#isSuspect = true
      throw error
    }
  }

  /** There is one connection that writes, and its transactions must not mix. */
  async #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lastWrite.then(work)
    this.#lastWrite = result.then(nothing, nothing)
    return await result
  }

  fieldsOf(streamId: string): readonly string[] {
    const shapes = [...(this.#catalog.streams.get(streamId)?.shapes ?? [])]
    const columns = shapes.flatMap((shape) => this.#catalog.shapes.get(shape)?.columns ?? [])
    return [...new Set(columns.map(({ name }) => name))].sort()
  }

  async query(query: ReadingsQuery): Promise<ReadingsPage> {
    return await this.#read((connection) => readRaw(connection, this.#catalog, query))
  }

  async latest(query: LatestQuery): Promise<LatestPage> {
    return await this.#read((connection) => readLatest(connection, this.#catalog, query))
  }

  async aggregate(query: AggregateQuery): Promise<AggregatePage> {
    return await this.#read((connection) => aggregateReadings(connection, this.#catalog, query))
  }

  async history(query: HistoryQuery): Promise<HistoryPage> {
    return await this.#read((connection) => readHistory(connection, () => this.#catalog, query))
  }

  async placeBeforeNewest(streamId: string, count: number): Promise<ReadingsCursor> {
    return await this.#read((connection) =>
      placeBeforeNewest(connection, this.#catalog, { streamId, count }),
    )
  }

  /** Reads anew when a table that was to be read has been removed meanwhile, as it was too old. */
  async #read<Result>(work: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#file.read(work)
      } catch (error) {
        if (attempt >= readAttemptsMax || !isTableMissing(error)) throw error
      }
    }
  }

  async copyTo(folder: string, signal: AbortSignal): Promise<StoreCopy> {
    return await this.#exclusively(async () => {
      await this.#reopenIfSuspect()
      return await copyStore(this.#file, this.#catalog.position, { folder, signal })
    })
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  /** Does what moves the position along a stretch of the journal. */
  async #move(
    { from, nextOffset }: Pick<Shipment, 'from' | 'nextOffset'>,
    work: () => Promise<void>,
  ): Promise<void> {
    await this.#reopenIfSuspect()
    const { position } = this.#catalog
    if (from !== position) throw new Error(`expected a shipment from ${position}, not from ${from}`)
    try {
      await work()
    } catch (error) {
      this.#isSuspect = true
      // A commit whose checkpoint fails is durable all the same: only the file itself knows.
      await this.#reopenIfSuspect()
      if (this.#catalog.position !== nextOffset) throw error
    }
  }

  async #releaseMemory(rows: number): Promise<void> {
    this.#rowsSinceRelease += rows
    const isDue =
      this.#rowsSinceRelease >= rowsPerRelease || this.#textSinceRelease >= textPerRelease
    // While somebody reads it has to wait: the next shipment tries again.
    if (!isDue || !(await this.#file.releaseMemory())) return
    this.#rowsSinceRelease = 0
    this.#textSinceRelease = 0
  }

  async #reopenIfSuspect(): Promise<void> {
    if (!this.#isSuspect) return
    await this.#file.reopen()
    this.#catalog = await Catalog.load(this.#file.writer)
    this.#isSuspect = false
  }

  /** Rows, counts and position in one transaction; memory follows once it is committed. */
  async #writeAll(shipment: Shipment): Promise<void> {
    const { writer } = this.#file
    const catalog = this.#catalog
    const streamsBefore = catalog.streams.size
    const groups = groupByStream(catalog, shipment)
    const duplicates = await findDuplicates(writer, catalog, groups)
    const rows = groups.flatMap((group) => rowsByTable(group, duplicates))
    await createMissing(writer, catalog, rows)
    const marked = await windowChanges(writer, catalog, groups, shipment)

    await writer.run('BEGIN')
    await appendNewStreams(writer, catalog, streamsBefore)
    await appendRows(writer, rows)
    for (const { table } of rows) catalog.touch(table)
    const nowUs = this.#clock.nowUs()
    const changes = groups.map((group) => countChange(group, duplicates, nowUs))
    const countRows = await writeCounts(writer, catalog, changes)
    await writeMarks(writer, marked)
    await writer.run(`UPDATE shipper_position SET next_offset = ${shipment.nextOffset}`)
    await writer.run('COMMIT')

    for (const { record, added, after } of changes) {
      Object.assign(record, after)
      record.rate.add(added.stored, nowUs)
    }
    adoptChanges(catalog, marked)
    catalog.countRows = countRows
    catalog.position = shipment.nextOffset
  }
}

function nothing(): void {}
