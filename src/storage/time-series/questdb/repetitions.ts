import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../../core/clock.ts'
import type { Offset } from '../../journal/journal.ts'
import { type RollupChange, removalTouches, shipmentTouches } from '../rollups/rollup-touches.ts'
import type { Removal, Shipment } from '../shipment.ts'
import type { Repetition, StoreDurability } from '../store-durability.ts'
import { groupByStream } from '../stream-groups.ts'
import { removalChange, type WindowChange, windowChanges } from '../windows/window-changes.ts'
import { QuestDbAway } from './connection.ts'
import type { Durability } from './durability.ts'
import { type Ledger, newStream } from './ledger.ts'
import { removeReadings } from './removal.ts'
import type { RowBuffer } from './row-buffer.ts'
import { writeRows } from './write-rows.ts'
import type { WriterTurns } from './writer-turns.ts'

/** How often it is looked whether QuestDB was started anew. */
const lookMs = 10_000

/** A power cut brings back so much, at most, and what has come since. */
const proveMs = 60_000

export interface RepetitionsNeeds {
  readonly ledger: Ledger
  readonly durability: Durability
  readonly turns: WriterTurns
  readonly buffer: RowBuffer
}

/** Sends again what QuestDB may have lost, and has it prove from time to time that it has not. */
export class Repetitions implements StoreDurability {
  readonly #ledger: Ledger
  readonly #durability: Durability
  readonly #turns: WriterTurns
  readonly #buffer: RowBuffer

  constructor({ ledger, durability, turns, buffer }: RepetitionsNeeds) {
    this.#ledger = ledger
    this.#durability = durability
    this.#turns = turns
    this.#buffer = buffer
  }

  keptFrom(): Offset {
    return this.#ledger.unproven.from ?? this.#ledger.position
  }

  heldBytes(): number {
    return this.#ledger.unproven.bytes
  }

  problem(): string | undefined {
    return this.#durability.problem
  }

  repeatsFrom(): Offset | undefined {
    return this.#durability.repeatsFrom
  }

  async repetitionWanted(): Promise<void> {
    await this.#durability.wanted()
  }

  async nextRepetition(): Promise<Repetition | undefined> {
    return await this.#turns.takeAnyway(async (place) => {
      if (!this.#durability.isRepeating) return undefined
      await place.unapplied.catchUp(place.connection)
      return await this.#durability.next(place)
    })
  }

  async repeat(shipment: Shipment): Promise<void> {
    await this.#turns.takeAnyway(async ({ connection, unapplied }) => {
      this.#durability.assertNext(shipment.from)
      const readings = this.#ledger.unproven.sentOf(shipment.readings, shipment)
      const [refused] = await writeRows(connection, this.#buffer, readings)
      if (refused) throw new Error(`QuestDB does not take a reading again: ${refused.message}`)
      unapplied.add(readings)
      await this.#markTouched(shipment)
      this.#durability.repeated(shipment.nextOffset)
    })
  }

  async repeatRemoval(removal: Removal): Promise<void> {
    await this.#turns.takeAnyway(async (place) => {
      this.#durability.assertNext(removal.from)
      const shapes = this.#ledger.shapesOf(removal.streamId).map(({ id }) => id)
      await removeReadings({ ...place, shapes }, removal)
      const record = this.#ledger.stream(removal.streamId)
      if (record) {
        const touched = removalChange(this.#ledger.windows, record, removal)
        const rollups = removalTouches(this.#ledger.rollups.streams, record, removal)
        this.#mark(touched ? [touched] : [], rollups)
      }
      this.#durability.repeated(removal.nextOffset)
    })
  }

  /** Windows and rollups may have been computed of what was left. */
  async #markTouched(shipment: Shipment): Promise<void> {
    const ledger = this.#ledger
    const groups = groupByStream({ stream: (id) => ledger.stream(id) ?? newStream() }, shipment)
    const arrived = { groups, defined: undefined }
    const changes = await windowChanges(ledger.windows, arrived, async ({ id }) =>
      ledger.windowTables.newestUs(id),
    )
    this.#mark(changes, shipmentTouches(ledger.rollups.streams, groups))
  }

  #mark(windows: readonly WindowChange[], rollups: readonly RollupChange[]): void {
    if (windows.length === 0 && rollups.length === 0) return
    const { position } = this.#ledger
    this.#ledger.commit({ position, streams: [], newShapes: [], windows, rollups })
  }

  /** Has QuestDB write everything to its disk, so that the journal can forget it. */
  async prove(): Promise<void> {
    await this.#durability.prove()
  }

  /** Looks after QuestDB, whether or not there is anything to be stored. */
  async watch(signal: AbortSignal): Promise<void> {
    let provenMs = monotonicMs()
    while (!signal.aborted) {
      await sleep(lookMs, undefined, { signal }).catch(nothing)
      const isUnused = this.#ledger.position === 0 && this.#ledger.unproven.isEmpty
      if (signal.aborted || isUnused) continue
      await this.look().catch(nothing)
      if (monotonicMs() - provenMs < proveMs) continue
      await this.prove()
      provenMs = monotonicMs()
    }
  }

  /** Finds out whether QuestDB was started anew. @throws QuestDbAway, ReadingsLost */
  async look(): Promise<void> {
    const ask = async () => {
      await this.#turns.takeAnyway(async ({ connection }) => await connection.run('SELECT 1'))
    }
    // A connection that was lost since says nothing about who would answer on a new one.
    await ask().catch(async (error: unknown) => {
      if (!(error instanceof QuestDbAway)) throw error
      await ask()
    })
  }
}

function nothing(): void {}
