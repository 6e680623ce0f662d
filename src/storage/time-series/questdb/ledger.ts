import { DecayingRate } from '../../../core/decaying-rate.ts'
import type { Offset } from '../../journal/journal.ts'
import type { RefusedReadingsPage, RefusedReadingsQuery } from '../refused-readings.ts'
import { adoptTouches } from '../rollups/rollup-touches.ts'
import type { Shape } from '../shape.ts'
import { addCounts, noCounts, type OwnCounts, type StreamState, totalsOf } from '../stream-state.ts'
import type { StoredCounts, StoredTotals } from '../time-series-store.ts'
import { KnownWindows } from '../windows/known-windows.ts'
import { adoptChanges } from '../windows/window-changes.ts'
import type { WindowRange } from '../windows/window-starts.ts'
import { type PositionChange, PositionsFile, type UnprovenChange } from './positions-file.ts'
import { RetentionClasses } from './retention-classes.ts'
import { KnownRollups, type RollupAsOf } from './rollups/known-rollups.ts'
import type { RollupDay, RollupTables } from './rollups/rollup-tables.ts'
import type { Proof, UnprovenLog } from './unproven-log.ts'
import type { WindowTables } from './windows/window-tables.ts'

/** What is known of what is stored: in memory, as the file has it. */
export class Ledger {
  /** Which windows there are, and which of them have to be computed. */
  readonly windows = new KnownWindows()
  /** Which streams are rolled up, and what of that has to be computed. */
  readonly rollups = new KnownRollups()
  /** Which tables readings lie in. */
  readonly classes = new RetentionClasses()
  readonly #file: PositionsFile
  readonly #streams: Map<string, StreamState>
  readonly #shapes: Map<string, Shape>
  #position: Offset
  #expiryRound: number
  #departed: OwnCounts

  constructor(path: string) {
    this.#file = new PositionsFile(path)
    const { position, expiryRound, streams, shapes, departed } = this.#file.read()
    this.#departed = departed
    this.#position = position
    this.#expiryRound = expiryRound
    this.#streams = streams
    this.#shapes = shapes
    const parsed = (definition: string) => this.windows.parsed(definition)
    for (const change of this.#file.classes()) this.classes.add(change, 0)
    for (const { id, windows } of this.#file.windows.read(parsed)) this.windows.add(id, windows)
    for (const { id, marked } of this.#file.rollups.read()) this.rollups.add(id, marked)
  }

  /** The id of the data folder. */
  get id(): string {
    return this.#file.id
  }

  get position(): Offset {
    return this.#position
  }

  /** What QuestDB has taken and may still lose. */
  get unproven(): UnprovenLog {
    return this.#file.unproven
  }

  get expiryRound(): number {
    return this.#expiryRound
  }

  get shapes(): ReadonlyMap<string, Shape> {
    return this.#shapes
  }

  get streams(): ReadonlyMap<string, StreamState> {
    return this.#streams
  }

  stream(id: string): StreamState | undefined {
    return this.#streams.get(id)
  }

  /** The shapes that readings of a stream have had. */
  shapesOf(id: string): readonly Shape[] {
    const known = [...(this.#streams.get(id)?.shapes ?? [])]
    return known.flatMap((shape) => this.#shapes.get(shape) ?? [])
  }

  readonly keptFromUs = (id: string): number => this.counts(id).keptFromUs

  counts(id: string): StoredCounts {
    return this.#streams.get(id)?.counts ?? noCounts
  }

  totals(): StoredTotals {
    const streams = this.#streams.size
    return { ...totalsOf(this.#streams.values(), this.#departed), streams }
  }

  /** Streams that anything is known of. */
  streamIds(): readonly string[] {
    const known = [this.windows.streams, this.rollups.streams].flatMap((of) => [...of.keys()])
    return [...new Set([...this.#streams.keys(), ...this.classes.streamIds(), ...known])]
  }

  /** Makes a change durable; memory follows. */
  commit(change: PositionChange): void {
    this.#file.commit(change)
    this.#position = change.position
    this.#expiryRound = change.expiryRound ?? this.#expiryRound
    for (const shape of change.newShapes) this.#shapes.set(shape.id, shape)
    for (const { id, newShapes, ...after } of change.streams) {
      const record = this.#streams.get(id) ?? newStream()
      Object.assign(record, after)
      for (const shape of newShapes) record.shapes.add(shape)
      this.#streams.set(id, record)
    }
    adoptChanges(this.windows, change.windows ?? [])
    adoptTouches(change.rollups ?? [])
    const neededFrom = this.unproven.from ?? change.position
    for (const one of change.classes ?? []) this.classes.add(one, neededFrom)
  }

  /** Results and marks of windows: all that the work writes becomes durable, or nothing. */
  writeWindows(work: (tables: WindowTables) => void): void {
    this.#file.transact(() => work(this.#file.windows))
  }

  /** Results of windows, for who reads. */
  get windowTables(): WindowTables {
    return this.#file.windows
  }

  /** Rollups and their marks: all that the work writes becomes durable, or nothing. */
  writeRollups(work: (tables: RollupTables) => void): void {
    this.#file.transact(() => work(this.#file.rollups))
  }

  /** What rows say of a stream now; undefined when it is not rolled up. */
  rollupOf(id: string): RollupAsOf | undefined {
    return this.rollups.asOfNow(id, this.keptFromUs(id))
  }

  /** Rows of a stream as they were; undefined when they have been written anew. */
  rollupDays(
    id: string,
    { asOf, shape, range }: RollupDaysQuery,
  ): readonly RollupDay[] | undefined {
    if (!this.rollups.isAsOf(id, asOf)) return undefined
    return this.#file.rollups.daysOfShape(id, shape, range)
  }

  refused(query: RefusedReadingsQuery): RefusedReadingsPage {
    return this.#file.refused.read(query)
  }

  /** Makes durable what is on QuestDB's disk. */
  prove(proof: Proof): void {
    this.#file.prove(proof)
  }

  /** Forgets streams, as none of their rows is alive: their counts go to those of all that have left. */
  removeStreams(streamIds: readonly string[], unproven: UnprovenChange | undefined): void {
    const departed = { ...this.#departed }
    for (const id of streamIds) addCounts(departed, this.counts(id))
    this.#file.removeStreams({ streamIds, departed, position: this.#position, unproven })
    this.#departed = departed
    for (const id of streamIds) {
      this.#streams.delete(id)
      this.classes.forget(id)
      this.rollups.remove(id)
      this.windows.remove(id)
    }
  }

  /** Gives some free pages of the file back to the disk. Returns whether there may be more. */
  giveBackSpace(pagesMax: number): boolean {
    return this.#file.giveBackSpace(pagesMax)
  }

  close(): void {
    this.#file.close()
  }
}

export interface RollupDaysQuery {
  readonly asOf: RollupAsOf
  readonly shape: string
  readonly range: WindowRange
}

/** A stream of which nothing is stored. */
export function newStream(): StreamState {
  return {
    shapes: new Set(),
    counts: noCounts,
    timestampMaxUs: -1,
    newestContent: undefined,
    rate: new DecayingRate(),
  }
}
