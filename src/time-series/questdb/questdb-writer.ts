import type { Clock } from '../../core/clock.ts'
import { DecayingRate } from '../../core/decaying-rate.ts'
import type { Offset } from '../../journal/journal.ts'
import { type CountChange, countChange, groupByStream } from '../stream-groups.ts'
import { noCounts, type StreamState } from '../stream-state.ts'
import type {
  Removal,
  Shape,
  Shipment,
  StoredCounts,
  StoredReading,
  StoredTotals,
} from '../time-series-store.ts'
import { QuestDbAway, QuestDbConnection, type QuestDbServer } from './connection.ts'
import { findDuplicates } from './duplicates.ts'
import { type PositionChange, PositionsFile } from './positions-file.ts'
import { claimTables, prepareTables } from './preparation.ts'
import { newestOutside, removeReadings, removeStream } from './removal.ts'
import { RowBuffer } from './row-buffer.ts'
import { Unapplied } from './unapplied.ts'
import { writeRows } from './write-rows.ts'

export interface QuestDbWriterOptions {
  readonly server: QuestDbServer
  /** Of the file with position and counts. */
  readonly path: string
  readonly clock: Clock
}

/**
 * The writing half of the QuestDB store. Rows are sent first; when QuestDB has them, position and counts
 * follow in one transaction of a file. What a crash in between repeats finds its own rows by their
 * offsets in the journal, and comes to the same counts.
 */
export class QuestDbWriter {
  readonly #server: QuestDbServer
  readonly #clock: Clock
  readonly #file: PositionsFile
  readonly #buffer: RowBuffer
  readonly #unapplied: Unapplied
  readonly #streams: Map<string, StreamState>
  readonly #shapes: Map<string, Shape>
  #position: Offset
  #connection: QuestDbConnection | undefined
  #isClosing = false
  #lastWrite: Promise<void> = Promise.resolve()

  constructor({ server, path, clock }: QuestDbWriterOptions) {
    this.#server = server
    this.#clock = clock
    this.#file = new PositionsFile(path)
    const { position, streams, shapes } = this.#file.read()
    this.#position = position
    this.#streams = streams
    this.#shapes = shapes
    this.#buffer = new RowBuffer(server.prefix)
    this.#unapplied = new Unapplied(server.prefix)
  }

  position(): Offset {
    return this.#position
  }

  /** Undefined: nothing of it has arrived. */
  stream(id: string): Readonly<StreamState> | undefined {
    return this.#streams.get(id)
  }

  /** The shapes that readings of a stream have had. */
  shapesOf(id: string): readonly Shape[] {
    const known = [...(this.#streams.get(id)?.shapes ?? [])]
    return known.flatMap((shape) => this.#shapes.get(shape) ?? [])
  }

  counts(streamId: string): StoredCounts {
    return this.#streams.get(streamId)?.counts ?? noCounts
  }

  storedPerSecond(streamId: string): number {
    return this.#streams.get(streamId)?.rate.perSecond(this.#clock.nowUs()) ?? 0
  }

  totals(): StoredTotals {
    let stored = 0
    let duplicates = 0
    let deleted = 0
    let expired = 0
    let unchanged = 0
    for (const { counts } of this.#streams.values()) {
      stored += counts.stored
      duplicates += counts.duplicates
      deleted += counts.deleted
      expired += counts.expired
      unchanged += counts.unchanged
    }
    return { stored, duplicates, deleted, expired, unchanged }
  }

  /** Resolves when queries on a connection see what was stored before the call. */
  async applied(connection: QuestDbConnection, signal?: AbortSignal): Promise<void> {
    await this.#unapplied.applied(connection, signal)
  }

  async write(shipment: Shipment): Promise<void> {
    await this.#exclusively(shipment.from, (connection) => this.#write(connection, shipment))
  }

  async remove(removal: Removal): Promise<void> {
    await this.#exclusively(removal.from, async (connection) => {
      const { streamId, nextOffset } = removal
      const record = this.#streams.get(streamId)
      if (!record) {
        this.#commit({ position: nextOffset, streams: [], newShapes: [] })
        return
      }
      const place = { connection, unapplied: this.#unapplied, shapes: record.shapes }
      const deleted = await removeReadings(place, removal)
      const { counts, timestampMaxUs } = record
      const wasNewest = timestampMaxUs >= removal.startUs && timestampMaxUs < removal.endUs
      const after = {
        counts: { ...counts, deleted: counts.deleted + deleted },
        timestampMaxUs: wasNewest ? await newestOutside(place, removal) : timestampMaxUs,
        // What comes next is stored, even if it says the same as what was removed.
        newestContent: wasNewest ? undefined : record.newestContent,
      }
      const change = { id: streamId, ...after, newShapes: [] }
      this.#commit({ position: nextOffset, streams: [change], newShapes: [] })
      Object.assign(record, after)
    })
  }

  async removeStream(streamId: string): Promise<number> {
    await this.#exclusively(this.#position, async (connection) => {
      const record = this.#streams.get(streamId)
      if (!record) return
      const place = { connection, unapplied: this.#unapplied, shapes: record.shapes }
      await removeStream(place, streamId)
      this.#file.forgetShapes(streamId)
      record.shapes.clear()
    })
    return this.counts(streamId).stored
  }

  /** Ends what is under way with the server: nothing but `close` may follow. */
  interrupt(): void {
    this.#isClosing = true
    this.#connection?.close()
  }

  async close(): Promise<void> {
    this.interrupt()
    await this.#lastWrite
    this.#file.close()
  }

  async #write(connection: QuestDbConnection, shipment: Shipment): Promise<void> {
    const groups = groupByStream({ stream: (id) => this.#streams.get(id) ?? newStream() }, shipment)
    const newShapes = this.#newShapes(shipment)
    await this.#unapplied.settle(connection)
    const place = { connection, unapplied: this.#unapplied, prefix: this.#server.prefix }
    const duplicates = await findDuplicates({ ...place, position: this.#position }, groups)
    await prepareTables(connection, newShapes)
    const kept = groups.flatMap(({ readings }) =>
      duplicates.size > 0 ? readings.filter((reading) => !duplicates.has(reading)) : readings,
    )
    await writeRows(connection, this.#buffer, kept)

    const nowUs = this.#clock.nowUs()
    const changes = groups.map((group) => countChange(group, duplicates, nowUs))
    const shapesAdded = shapesOf(kept)
    const streams = changes.map(({ id, record, after }) => ({
      id,
      ...after,
      newShapes: [...(shapesAdded.get(id) ?? [])].filter((shape) => !record.shapes.has(shape)),
    }))
    this.#commit({ position: shipment.nextOffset, streams, newShapes })
    this.#unapplied.add(kept)
    this.#remember(changes, shapesAdded, nowUs)
  }

  #newShapes({ readings }: Shipment): Shape[] {
    const shapes = new Map<string, Shape>()
    for (const { shape } of readings) if (!this.#shapes.has(shape.id)) shapes.set(shape.id, shape)
    return [...shapes.values()]
  }

  #commit(change: PositionChange): void {
    this.#file.commit(change)
    this.#position = change.position
    for (const shape of change.newShapes) this.#shapes.set(shape.id, shape)
  }

  /** Memory follows what is on disk. */
  #remember(
    changes: readonly CountChange[],
    shapesAdded: ReadonlyMap<string, ReadonlySet<string>>,
    nowUs: number,
  ): void {
    for (const { id, record, added, after } of changes) {
      Object.assign(record, after)
      record.rate.add(added.stored, nowUs)
      for (const shape of shapesAdded.get(id) ?? []) record.shapes.add(shape)
      this.#streams.set(id, record)
    }
  }

  /** Works one after another. */
  async #exclusively(
    from: Offset,
    work: (connection: QuestDbConnection) => Promise<void>,
  ): Promise<void> {
    const result = this.#lastWrite.then(() => this.#from(from, work))
    this.#lastWrite = result.then(nothing, nothing)
    await result
  }

  /** Works on the connection of the work before, or on a new one. */
  async #from(from: Offset, work: (connection: QuestDbConnection) => Promise<void>): Promise<void> {
    if (from !== this.#position) {
      throw new Error(`expected a shipment from ${this.#position}, not from ${from}`)
    }
    try {
      await work(await this.#connected())
    } catch (error) {
      if (error instanceof QuestDbAway) this.#disconnect()
      throw error
    }
  }

  async #connected(): Promise<QuestDbConnection> {
    if (this.#isClosing) throw new QuestDbAway('the store is being closed')
    if (this.#connection) return this.#connection
    const connection = new QuestDbConnection(this.#server, { sockets: 1, isPinned: true })
    // Before it is asked anything, so that it can be interrupted.
    this.#connection = connection
    try {
      await claimTables(connection, { id: this.#file.id, isNew: this.#shapes.size === 0 })
      await prepareTables(connection, this.#shapes.values())
    } catch (error) {
      this.#disconnect()
      throw error
    }
    return connection
  }

  #disconnect(): void {
    this.#connection?.close()
    this.#connection = undefined
    // Nobody knows what became of what was under way.
    this.#unapplied.addUnknown()
  }
}

function newStream(): StreamState {
  return {
    shapes: new Set(),
    counts: noCounts,
    timestampMaxUs: -1,
    newestContent: undefined,
    rate: new DecayingRate(),
  }
}

/** The shapes of readings, by stream. Neighbours are mostly of one, which costs little. */
function shapesOf(readings: readonly StoredReading[]): Map<string, Set<string>> {
  const shapes = new Map<string, Set<string>>()
  let last: StoredReading | undefined
  for (const reading of readings) {
    const { streamId, shape } = reading
    if (last?.streamId === streamId && last.shape === shape) continue
    last = reading
    const known = shapes.get(streamId)
    if (known) known.add(shape.id)
    else shapes.set(streamId, new Set([shape.id]))
  }
  return shapes
}

function nothing(): void {}
