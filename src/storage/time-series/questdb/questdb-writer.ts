import type { Clock } from '../../../core/clock.ts'
import type { Offset } from '../../journal/journal.ts'
import type { Expiry } from '../expiry.ts'
import type { RefusedReadingsPage, RefusedReadingsQuery } from '../refused-readings.ts'
import { removalTouches, shipmentTouches } from '../rollups/rollup-touches.ts'
import type { Shape } from '../shape.ts'
import type { Removal, Shipment } from '../shipment.ts'
import type { StoreServer } from '../store-copy.ts'
import { countChange, groupByStream, stateAfter } from '../stream-groups.ts'
import type { StreamState } from '../stream-state.ts'
import type { StoredCounts, StoredTotals } from '../time-series-store.ts'
import { removalChange, windowChanges } from '../windows/window-changes.ts'
import { type ArrangeNeeds, arrangeClasses } from './arrange-classes.ts'
import { Completeness } from './completeness.ts'
import type { QuestDbConnection } from './connection.ts'
import { StoreCopies } from './copy/store-copies.ts'
import { findDuplicates } from './duplicates.ts'
import { Durability } from './durability.ts'
import { dueExpiries, expireReadings, noteKeptFrom } from './expire-readings.ts'
import { Ledger, newStream, type RollupDaysQuery } from './ledger.ts'
import { prepareTables } from './preparation.ts'
import { markStreamsRemoved, newestOutside, removeReadings } from './removal.ts'
import { Repetitions } from './repetitions.ts'
import type { RollupAsOf } from './rollups/known-rollups.ts'
import { QuestDbRollups, type QuestDbRollupsNeeds } from './rollups/questdb-rollups.ts'
import type { RollupDay } from './rollups/rollup-tables.ts'
import { RowBuffer } from './row-buffer.ts'
import { shapesOf, withoutRefused, withRefused } from './taken-readings.ts'
import { bitsOf } from './unproven-log.ts'
import { QuestDbWindows } from './windows/questdb-windows.ts'
import type { WritePlace } from './write-place.ts'
import { writeRows } from './write-rows.ts'
import { WriterTurns } from './writer-turns.ts'

/** Streams that leave together: the statement that marks their rows has to fit into the head of a request. */
const leavingTogether = 100

export interface QuestDbWriterNeeds {
  readonly server: StoreServer
  /** The path of the file with position and counts. */
  readonly path: string
  readonly clock: Clock
  readonly logger: StoreLogger
  /** Bytes of entries that the journal keeps because QuestDB could lose them. */
  readonly heldBytesMax: number
}

export interface StoreLogger {
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/**
 * The writing half of the QuestDB store. Rows are sent first; when QuestDB has them, position and counts
 * follow in one transaction of a file. What a crash in between repeats finds its own rows by their
 * offsets in the journal, and comes to the same counts.
 */
export class QuestDbWriter {
  readonly windows: QuestDbWindows
  readonly copies: StoreCopies
  readonly #needs: QuestDbWriterNeeds
  readonly #ledger: Ledger
  readonly durability: Repetitions
  readonly completeness: Completeness
  readonly #durability: Durability
  readonly #turns: WriterTurns
  readonly #buffer: RowBuffer
  readonly #arranging: ArrangeNeeds
  /** How far it was looked for what is too old of each stream, since the start. */
  readonly #expiredToUs = new Map<string, number>()

  constructor(needs: QuestDbWriterNeeds) {
    this.#needs = needs
    const { server, path, clock, logger, heldBytesMax } = needs
    this.#ledger = new Ledger(path)
    const ledger = this.#ledger
    this.windows = new QuestDbWindows(ledger, clock)
    this.#durability = new Durability({ server, ledger, heldBytesMax, logger })
    this.#turns = new WriterTurns({ server, ledger, durability: this.#durability })
    this.#buffer = new RowBuffer(server.prefix, ledger.classes.placeOf)
    this.copies = new StoreCopies({ turns: this.#turns, ledger, path })
    this.#arranging = { ledger, turns: this.#turns, durability: this.#durability }
    this.durability = new Repetitions({ ...this.#arranging, buffer: this.#buffer })
    const look = () => this.durability.look()
    this.completeness = new Completeness({ ...this.#arranging, look })
  }

  position(): Offset {
    return this.#ledger.position
  }

  /** Undefined: nothing of it has arrived. */
  stream(id: string): Readonly<StreamState> | undefined {
    return this.#ledger.stream(id)
  }

  /** The shapes that readings of a stream have had. */
  shapesOf(id: string): readonly Shape[] {
    return this.#ledger.shapesOf(id)
  }

  readonly rollupOf = (id: string): RollupAsOf | undefined => this.#ledger.rollupOf(id)

  rollupDays(id: string, query: RollupDaysQuery): readonly RollupDay[] | undefined {
    return this.#ledger.rollupDays(id, query)
  }

  counts(streamId: string): StoredCounts {
    return this.#ledger.counts(streamId)
  }

  refused(query: RefusedReadingsQuery): RefusedReadingsPage {
    return this.#ledger.refused(query)
  }

  storedPerSecond(streamId: string): number {
    return this.#ledger.stream(streamId)?.rate.perSecond() ?? 0
  }

  totals(): StoredTotals {
    return this.#ledger.totals()
  }

  /** Resolves when queries on a connection see what was stored before the call. */
  async applied(connection: QuestDbConnection, signal?: AbortSignal): Promise<void> {
    await this.#turns.unapplied.applied(connection, signal)
  }

  async write(shipment: Shipment): Promise<void> {
    await this.#durability.makeRoom()
    await this.#turns.take(async (place) => {
      this.#assertNext(shipment.from)
      await this.#write(place, shipment)
    })
  }

  async remove(removal: Removal): Promise<void> {
    await this.#turns.take(async (place) => {
      this.#assertNext(removal.from)
      const { streamId: id, startUs, endUs, from, nextOffset: position } = removal
      const record = this.#ledger.stream(id)
      const stretch = { from, nextOffset: position, bytes: 0, sent: undefined }
      const unproven = this.#durability.noted({ stretch })
      if (!record) {
        this.#ledger.commit({ position, streams: [], newShapes: [], unproven })
        return
      }
      const { counts, timestampMaxUs, newestContent, shapes } = record
      this.copies.noteRemoved(removal)
      const deleted = await removeReadings({ ...place, shapes }, removal)
      const wasNewest = timestampMaxUs >= startUs && timestampMaxUs < endUs
      const change = {
        id,
        counts: { ...counts, deleted: counts.deleted + deleted },
        timestampMaxUs: wasNewest
          ? await newestOutside({ ...place, shapes }, removal)
          : timestampMaxUs,
        // What comes next is stored, even if it says the same as what was removed.
        newestContent: wasNewest ? undefined : newestContent,
        newShapes: [],
      }
      const touched = removalChange(this.#ledger.windows, record, removal)
      const windows = touched ? [touched] : []
      const rollups = removalTouches(this.#ledger.rollups.streams, record, removal)
      const streams = [change]
      this.#ledger.commit({ position, streams, newShapes: [], windows, rollups, unproven })
    })
  }

  newRollups(needs: Omit<QuestDbRollupsNeeds, 'ledger'>): QuestDbRollups {
    return new QuestDbRollups({ ...needs, ledger: this.#ledger })
  }

  async removeStreams(streamIds: readonly string[]): Promise<void> {
    for (let from = 0; from < streamIds.length; from += leavingTogether) {
      const leaving = streamIds.slice(from, from + leavingTogether)
      await this.#turns.take((place) => this.#removeStreams(place, leaving))
    }
  }

  /** Streams that anything is known of. */
  streamIds(): readonly string[] {
    return this.#ledger.streamIds()
  }

  async expire(expiries: readonly Expiry[], signal: AbortSignal): Promise<void> {
    const ledger = this.#ledger
    const due = await this.#turns.take(async () => {
      const found = dueExpiries(ledger, expiries, this.#expiredToUs)
      noteKeptFrom(ledger, found)
      for (const { streamId, beforeUs } of found) {
        this.copies.noteRemoved({ streamId, startUs: 0, endUs: beforeUs })
      }
      return found
    })
    const done = await expireReadings({ ...this.#arranging, copies: this.copies }, due, signal)
    for (const { streamId, beforeUs } of done) {
      // It may have left meanwhile.
      if (ledger.stream(streamId)) this.#expiredToUs.set(streamId, beforeUs)
    }
  }

  async arrange(kept: ReadonlyMap<string, number>): Promise<void> {
    await arrangeClasses(this.#arranging, kept)
  }

  giveBackSpace(pagesMax: number): boolean {
    return this.#ledger.giveBackSpace(pagesMax)
  }

  /** Ends what is under way with the server: nothing but `close` may follow. */
  interrupt(): void {
    this.#turns.interrupt()
  }

  async close(): Promise<void> {
    await this.#turns.close()
    this.#ledger.close()
  }

  async #removeStreams(place: WritePlace, leaving: readonly string[]): Promise<void> {
    for (const id of leaving) await this.windows.removeStream(id)
    const stored = leaving.flatMap((id) => {
      const shapes = this.#ledger.stream(id)?.shapes
      return shapes ? [{ id, shapes }] : []
    })
    const statements = await markStreamsRemoved(place, stored)
    this.#ledger.removeStreams(leaving, this.#durability.noted({ statements }))
    for (const id of leaving) this.#expiredToUs.delete(id)
  }

  #assertNext(from: Offset): void {
    const position = this.position()
    if (from !== position) throw new Error(`expected a shipment from ${position}, not from ${from}`)
  }

  async #write({ connection, unapplied }: WritePlace, shipment: Shipment): Promise<void> {
    const ledger = this.#ledger
    const groups = groupByStream({ stream: (id) => ledger.stream(id) ?? newStream() }, shipment)
    const newShapes = this.#newShapes(shipment)
    await unapplied.catchUp(connection)
    const { position, expiryRound } = ledger
    const known = { connection, unapplied, position, expiryRound }
    const duplicates = await findDuplicates(known, groups)
    await prepareTables(connection, newShapes)
    const kept = groups.flatMap(({ readings }) =>
      duplicates.size > 0 ? readings.filter((reading) => !duplicates.has(reading)) : readings,
    )
    this.copies.noteStored(kept)
    const refused = await writeRows(connection, this.#buffer, kept)
    // Were the table another than it should be, all rows would be refused.
    if (refused.length > 0)
      await prepareTables(
        connection,
        refused.map(({ reading }) => ledger.classes.placeOf(reading)),
      )
    for (const { reading, message } of refused) {
      const { streamId, offset } = reading
      this.#needs.logger.error({ streamId, offset, message }, 'QuestDB does not take a reading')
    }

    const arrived = { groups, defined: shipment.windows }
    const windows = await windowChanges(ledger.windows, arrived, async ({ id }) =>
      ledger.windowTables.newestUs(id),
    )
    const nowUs = this.#needs.clock.nowUs()
    const taken = withoutRefused(groups, refused)
    const changes = taken.map((group) => countChange(group, duplicates, nowUs))
    const shapesAdded = shapesOf(kept, ledger.classes.placeOf)
    const streams = changes.map((change) => {
      const { id, record } = change
      const after = stateAfter(change)
      const counts = withRefused(id, after.counts, refused)
      const added = [...(shapesAdded.get(id) ?? [])]
      return { id, ...after, counts, newShapes: added.filter((shape) => !record.shapes.has(shape)) }
    })
    const { from, nextOffset, bytes = 0 } = shipment
    const isRefused = new Set(refused.map(({ reading }) => reading))
    const sent = isRefused.size > 0 ? kept.filter((reading) => !isRefused.has(reading)) : kept
    const stretch = { from, nextOffset, bytes, sent: bitsOf(shipment, sent) }
    const unproven = this.#durability.noted({ stretch })
    const rollups = shipmentTouches(ledger.rollups.streams, groups)
    const touched = { windows, rollups }
    ledger.commit({ position: nextOffset, streams, newShapes, refused, ...touched, unproven })
    unapplied.add(kept)
    for (const { id, stored } of changes) ledger.stream(id)?.rate.add(stored)
  }

  #newShapes({ readings }: Shipment): Shape[] {
    const shapes = new Map<string, Shape>()
    const { placeOf } = this.#ledger.classes
    for (const reading of readings) {
      const shape = placeOf(reading)
      if (!this.#ledger.shapes.has(shape.id)) shapes.set(shape.id, shape)
    }
    return [...shapes.values()]
  }
}
