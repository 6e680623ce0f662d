import type { Clock } from '../../../core/clock.ts'
import type { Offset } from '../../journal/journal.ts'
import type { AggregatePage, AggregateQuery } from '../aggregate-query.ts'
import type { ExpiringStore, Expiry } from '../expiry.ts'
import type {
  HistoryPage,
  HistoryQuery,
  LatestPage,
  LatestQuery,
  ReadingsAt,
  ReadingsAtQuery,
  ReadingsCursor,
  ReadingsPage,
  ReadingsQuery,
} from '../readings-query.ts'
import type { SeriesPage, SeriesQuery } from '../series.ts'
import type { Removal, Shipment } from '../shipment.ts'
import type { StoreCopy } from '../store-copy.ts'
import { noCounts, totalsOf } from '../stream-state.ts'
import type {
  QueryLoad,
  StoredCounts,
  StoredTotals,
  TimeSeriesStore,
} from '../time-series-store.ts'
import type { WindowStore } from '../windows/window-store.ts'
import { aggregateReadings } from './aggregation/aggregate.ts'
import { aggregationLength } from './aggregation/length.ts'
import type { Catalog } from './catalog.ts'
import { type Contents, loadContents } from './contents.ts'
import { removeStreams } from './departure.ts'
import { DuckDbFile } from './duckdb-file.ts'
import type { DuckDbOptions } from './duckdb-options.ts'
import { lookUpRowsMax } from './duplicates.ts'
import { expireReadings } from './expire-readings.ts'
import { placeBeforeNewest, readHistory } from './history.ts'
import { LateReadings } from './late/late-readings.ts'
import { readLatest } from './latest.ts'
import { readRaw } from './raw-readings.ts'
import { readingsAt } from './readings-at.ts'
import { ReleaseCount, rowsPerRelease } from './release-count.ts'
import { removeReadings } from './removal.ts'
import { Rollups, rollupOptions } from './rollups/rollups.ts'
import { readSeries } from './series.ts'
import { copyStore } from './store-copy.ts'
import type { StoreTurns } from './store-turns.ts'
import { DuckDbWindows } from './windows/duckdb-windows.ts'
import { writeShipment } from './write-shipment.ts'

interface DuckDbStoreNeeds {
  readonly file: DuckDbFile
  readonly clock: Clock
  readonly options: DuckDbOptions
}

/** Time series in one DuckDB file, written by one thread. */
export class DuckDbStore implements TimeSeriesStore, ExpiringStore {
  readonly windows: WindowStore
  readonly #needs: DuckDbStoreNeeds
  readonly #lateReadings: LateReadings
  readonly #rollups: Rollups
  readonly #turns: StoreTurns = {
    write: (work) =>
      this.#exclusively(async () => {
        const done = await this.#suspecting(() => work(this.#needs.file.writer, this.#catalog))
        await this.#releaseMemory(rowsPerRelease)
        return done
      }),
    look: (work) => this.#needs.file.look(work),
  }
  readonly #lookUpRowsMax: number
  #contents: Contents
  /** Set after a failed write: DuckDB may have shut the file, and memory may be ahead of it. */
  #isSuspect = false
  #lastWrite: Promise<void> = Promise.resolve()
  readonly #sinceRelease = new ReleaseCount()

  private constructor(needs: DuckDbStoreNeeds, contents: Contents) {
    this.#needs = needs
    const { clock, file, options } = needs
    this.#contents = contents
    this.windows = new DuckDbWindows({
      clock,
      catalog: () => this.#catalog,
      read: (work) => file.read(work),
      write: (work) => this.#exclusively(() => this.#suspecting(() => work(file.writer))),
    })
    this.#lookUpRowsMax = options.lookUpRowsMax ?? lookUpRowsMax
    this.#lateReadings = new LateReadings({
      turns: this.#turns,
      contents: () => this.#contents,
      clock,
      onFailure: options.onLookUpFailure ?? nothing,
    })
    this.#lateReadings.wake()
    this.#rollups = new Rollups({
      turns: this.#turns,
      catalog: () => this.#catalog,
      clock,
      options: options.rollups ?? rollupOptions,
      onFailure: options.onRollupFailure ?? nothing,
    })
    this.#rollups.start()
  }

  static async open(path: string, clock: Clock, options: DuckDbOptions = {}): Promise<DuckDbStore> {
    const file = await DuckDbFile.open(path)
    const contents = await loadContents(file.writer, options.rowsPerLateTable)
    return new DuckDbStore({ file, clock, options }, contents)
  }

  get #catalog(): Catalog {
    return this.#contents.catalog
  }

  position(): Offset {
    return this.#catalog.position
  }

  counts(streamId: string): StoredCounts {
    return { ...(this.#catalog.streams.get(streamId)?.counts ?? noCounts) }
  }

  storedPerSecond(streamId: string): number {
    return this.#catalog.streams.get(streamId)?.rate.perSecond() ?? 0
  }

  totals(): StoredTotals {
    const { late } = this
    const { streams, departed } = this.#catalog
    const totals = totalsOf(streams.values(), departed)
    return { ...totals, streams: streams.size, late, rollups: this.#rollups.totals() }
  }

  queries(): QueryLoad {
    const { file } = this.#needs
    return { running: file.queries.running, waiting: file.queries.waiting }
  }

  /** Late readings that are stored, but not looked up yet. */
  get late(): number {
    return this.#contents.late.size
  }

  async placeLate(streamId?: string): Promise<void> {
    if (streamId === undefined) await this.#lateReadings.place()
    else await this.#lateReadings.placeOf(streamId)
  }

  /** Rolls up some of what is due. Returns whether there was anything. */
  rollUp(): Promise<boolean> {
    return this.#rollups.step()
  }

  async write(shipment: Shipment): Promise<void> {
    await this.#lateReadings.room()
    await this.#exclusively(async () => {
      await this.#move(shipment, () => this.#writeAll(shipment))
      this.#sinceRelease.add({ bytes: shipment.bytes ?? 0 })
      await this.#releaseMemory(shipment.readings.length)
    })
    this.#lateReadings.wake()
  }

  async remove(removal: Removal): Promise<void> {
    // What came before it goes: first it has to be in its place.
    await this.#lateReadings.placeOf(removal.streamId)
    const work = () =>
      removeReadings(
        {
          writer: this.#needs.file.writer,
          catalog: this.#catalog,
          onPortion: (rows) => this.#releaseMemory(rows),
        },
        removal,
      )
    await this.#exclusively(() => this.#move(removal, work))
  }

  async expire(expiries: readonly Expiry[], signal: AbortSignal): Promise<void> {
    const contentsOf = () => this.#contents
    await expireReadings({ turns: this.#turns, contentsOf }, expiries, signal)
  }

  async removeStreams(streamIds: readonly string[]): Promise<void> {
    for (const streamId of streamIds) await this.#lateReadings.placeOf(streamId)
    await removeStreams(this.#turns, () => this.#contents, streamIds)
  }

  streamIds(): readonly string[] {
    return [...this.#catalog.streams.keys()]
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
    return await this.#needs.file.read((connection) => readRaw(connection, this.#catalog, query))
  }

  async series(query: SeriesQuery): Promise<SeriesPage | undefined> {
    return await this.#needs.file.read((connection) => readSeries(connection, this.#catalog, query))
  }

  async latest(query: LatestQuery): Promise<LatestPage> {
    return await this.#needs.file.read((connection) => readLatest(connection, this.#catalog, query))
  }

  async aggregate(query: AggregateQuery): Promise<AggregatePage> {
    return await this.#needs.file.read(
      (connection) => aggregateReadings(connection, this.#catalog, query),
      aggregationLength(this.#catalog, query),
    )
  }

  async readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt> {
    return await this.#needs.file.read((connection) =>
      readingsAt(connection, () => this.#contents, query),
    )
  }

  async history(query: HistoryQuery): Promise<HistoryPage> {
    return await this.#needs.file.read((connection) =>
      readHistory(connection, () => this.#contents, query),
    )
  }

  async placeBeforeNewest(streamId: string, count: number): Promise<ReadingsCursor> {
    return await this.#needs.file.read((connection) =>
      placeBeforeNewest(connection, this.#contents, { streamId, count }),
    )
  }

  async copyTo(folder: string, signal: AbortSignal): Promise<StoreCopy> {
    return await this.#exclusively(async () => {
      await this.#reopenIfSuspect()
      return await copyStore(this.#needs.file, this.#catalog.position, { folder, signal })
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#lateReadings.stop(), this.#rollups.stop()])
    await this.#needs.file.close()
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

  async #writeAll(shipment: Shipment): Promise<void> {
    const { file, clock } = this.#needs
    const known = {
      catalog: this.#catalog,
      lateTables: this.#contents.late,
      lookUpRowsMax: this.#lookUpRowsMax,
    }
    const now = { shipment, nowUs: clock.nowUs() }
    const columns = await writeShipment(file.writer, known, now)
    const rows = shipment.readings.length
    this.#sinceRelease.add({ bytes: await file.wrote({ rows, columns }) })
  }

  async #releaseMemory(rows: number): Promise<void> {
    this.#sinceRelease.add({ rows })
    if (!this.#sinceRelease.isDue) return
    try {
      // While somebody reads it has to wait: the next shipment tries again.
      if (!(await this.#needs.file.releaseMemory())) return
    } catch {
      // What was written is committed all the same.
      this.#isSuspect = true
      await this.#reopenIfSuspect().catch(nothing)
    }
    this.#sinceRelease.reset()
  }

  async #reopenIfSuspect(): Promise<void> {
    const { file } = this.#needs
    if (!this.#isSuspect) return
    await file.reopen()
    this.#contents = await loadContents(file.writer, this.#contents.late.rowsPerTable)
    this.#isSuspect = false
  }
}

function nothing(): void {}
