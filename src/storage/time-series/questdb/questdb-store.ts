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
import type { RefusedReadingsPage, RefusedReadingsQuery } from '../refused-readings.ts'
import type { RollupOptions } from '../rollups/candidates.ts'
import type { Removal, Shipment } from '../shipment.ts'
import type { StoreCopy, StoreServer } from '../store-copy.ts'
import type { StoreDurability } from '../store-durability.ts'
import type {
  QueryLoad,
  StoredCounts,
  StoredTotals,
  TimeSeriesStore,
} from '../time-series-store.ts'
import type { WindowStore } from '../windows/window-store.ts'
import { QuestDbConnection } from './connection.ts'
import { QuestDbWriter, type StoreLogger } from './questdb-writer.ts'
import { QuestDbReader } from './read/reader.ts'
import { inSession, type ReadSession } from './read/session.ts'
import { QuestDbRollups, rollupOptions } from './rollups/questdb-rollups.ts'

/** TCP connections for queries: as many as are answered at a time. */
const readSockets = 4

/** Looks of the service itself at readings are short. */
const lookMs = 60_000

export interface QuestDbStoreOptions {
  readonly server: StoreServer
  /** The path of the file with position and counts. */
  readonly path: string
  readonly clock: Clock
  readonly logger: StoreLogger
  /** Bytes of entries that the journal keeps because QuestDB could lose them. */
  readonly heldBytesMax: number
  readonly rollups?: RollupOptions
}

/** Time series on a QuestDB server, written by one thread. Opens without it, and waits for it. */
export class QuestDbStore implements TimeSeriesStore, ExpiringStore {
  readonly windows: WindowStore
  readonly #writer: QuestDbWriter
  readonly #reader: QuestDbReader
  readonly #reading: QuestDbConnection
  readonly #closing = new AbortController()
  readonly #watched: Promise<void>
  readonly #looking: QuestDbConnection
  readonly #rollups: QuestDbRollups

  constructor(options: QuestDbStoreOptions) {
    this.#writer = new QuestDbWriter(options)
    this.windows = this.#writer.windows
    this.#reading = new QuestDbConnection(options.server, { sockets: readSockets })
    this.#reader = new QuestDbReader({ connection: this.#reading, stored: this.#writer })
    this.#watched = this.#writer.durability.watch(this.#closing.signal)
    this.#looking = new QuestDbConnection(options.server, { sockets: 1, answerMs: lookMs })
    this.#rollups = this.#writer.newRollups({
      look: (work) => this.#look(work),
      clock: options.clock,
      options: options.rollups ?? rollupOptions,
      onFailure: (error) =>
        options.logger.error({ err: error }, 'readings could not be rolled up; trying again'),
    })
    this.#rollups.start()
  }

  get durability(): StoreDurability {
    return this.#writer.durability
  }

  position(): Offset {
    return this.#writer.position()
  }

  async write(shipment: Shipment): Promise<void> {
    await this.#writer.write(shipment)
  }

  async remove(removal: Removal): Promise<void> {
    await this.#writer.remove(removal)
  }

  async removeStreams(streamIds: readonly string[]): Promise<void> {
    await this.#writer.removeStreams(streamIds)
  }

  streamIds(): readonly string[] {
    return this.#writer.streamIds()
  }

  async expire(expiries: readonly Expiry[], signal: AbortSignal): Promise<void> {
    await this.#writer.expire(expiries, signal)
  }

  async arrange(kept: ReadonlyMap<string, number>): Promise<void> {
    await this.#writer.arrange(kept)
  }

  counts(streamId: string): StoredCounts {
    return this.#writer.counts(streamId)
  }

  storedPerSecond(streamId: string): number {
    return this.#writer.storedPerSecond(streamId)
  }

  totals(): StoredTotals {
    return { ...this.#writer.totals(), rollups: this.#rollups.totals() }
  }

  /** Rolls up some of what is due, which happens by itself, too. Returns whether there was anything. */
  async rollUp(): Promise<boolean> {
    return await this.#rollups.step()
  }

  queries(): QueryLoad {
    return this.#reader.queries()
  }

  fieldsOf(streamId: string): readonly string[] {
    const columns = this.#writer.shapesOf(streamId).flatMap((shape) => shape.columns)
    return [...new Set(columns.map(({ name }) => name))].sort()
  }

  async latest(query: LatestQuery): Promise<LatestPage> {
    return await this.#reader.latest(query)
  }

  refused(query: RefusedReadingsQuery): RefusedReadingsPage {
    return this.#writer.refused(query)
  }

  async query(query: ReadingsQuery): Promise<ReadingsPage> {
    return await this.#reader.query(query)
  }

  async aggregate(query: AggregateQuery): Promise<AggregatePage> {
    return await this.#reader.aggregate(query)
  }

  async readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt> {
    return await this.#reader.readingsAt(query)
  }

  async history(query: HistoryQuery): Promise<HistoryPage> {
    return await this.#reader.history(query)
  }

  async placeBeforeNewest(streamId: string, count: number): Promise<ReadingsCursor> {
    return await this.#reader.placeBeforeNewest(streamId, count)
  }

  async copyTo(folder: string, signal: AbortSignal): Promise<StoreCopy> {
    return await this.#writer.copies.copyTo(folder, signal)
  }

  endCopy(): string | undefined {
    return this.#writer.copies.end()
  }

  giveBackSpace(pagesMax: number): boolean {
    return this.#writer.giveBackSpace(pagesMax)
  }

  /** Ends what is under way with the server: nothing but `close` may follow. */
  interrupt(): void {
    this.#closing.abort()
    this.#writer.interrupt()
    this.#reader.close()
    this.#looking.close()
  }

  async close(): Promise<void> {
    this.interrupt()
    await Promise.all([this.#watched, this.#rollups.stop()])
    await this.#writer.close()
    this.#reading.close()
  }

  /** What the service itself wants to know waits for no turn of queries. */
  async #look<Result>(work: (session: ReadSession) => Promise<Result>): Promise<Result> {
    const signal = AbortSignal.any([AbortSignal.timeout(lookMs), this.#closing.signal])
    const place = { connection: this.#looking, stored: this.#writer, signal }
    return await inSession(place, nothing, work)
  }
}

function nothing(): void {}
