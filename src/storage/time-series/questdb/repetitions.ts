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
  readonly #needs: RepetitionsNeeds

  constructor(needs: RepetitionsNeeds) {
    this.#needs = needs
  }

  keptFrom(): Offset {
    const { ledger } = this.#needs
    return ledger.unproven.from ?? ledger.position
  }

  heldBytes(): number {
    return this.#needs.ledger.unproven.bytes
  }

  problem(): string | undefined {
    return this.#needs.durability.problem
  }

  repeatsFrom(): Offset | undefined {
    return this.#needs.durability.repeatsFrom
  }

  async repetitionWanted(): Promise<void> {
    await this.#needs.durability.wanted()
  }

  async nextRepetition(): Promise<Repetition | undefined> {
    const { durability, turns } = this.#needs
    return await turns.takeAnyway(async (place) => {
      if (!durability.isRepeating) return undefined
      await place.unapplied.catchUp(place.connection)
      return await durability.next(place)
    })
  }

  async repeat(shipment: Shipment): Promise<void> {
    const { ledger, durability, turns, buffer } = this.#needs
    await turns.takeAnyway(async ({ connection, unapplied }) => {
      durability.assertNext(shipment.from)
      const readings = ledger.unproven.sentOf(shipment.readings, shipment)
      const [refused] = await writeRows(connection, buffer, readings)
      if (refused) throw new Error(`QuestDB does not take a reading again: ${refused.message}`)
      unapplied.add(readings)
      await this.#markTouched(shipment)
      durability.repeated(shipment.nextOffset)
    })
  }

  async repeatRemoval(removal: Removal): Promise<void> {
    const { ledger, durability, turns } = this.#needs
    await turns.takeAnyway(async (place) => {
      durability.assertNext(removal.from)
      const shapes = ledger.shapesOf(removal.streamId).map(({ id }) => id)
      await removeReadings({ ...place, shapes }, removal)
      const record = ledger.stream(removal.streamId)
      if (record) {
        const touched = removalChange(ledger.windows, record, removal)
        const rollups = removalTouches(ledger.rollups.streams, record, removal)
        this.#mark(touched ? [touched] : [], rollups)
      }
      durability.repeated(removal.nextOffset)
    })
  }

  /** Windows and rollups may have been computed of what was left. */
  async #markTouched(shipment: Shipment): Promise<void> {
    const { ledger } = this.#needs
    const groups = groupByStream({ stream: (id) => ledger.stream(id) ?? newStream() }, shipment)
    const arrived = { groups, defined: undefined }
    const changes = await windowChanges(ledger.windows, arrived, async ({ id }) =>
      ledger.windowTables.newestUs(id),
    )
    this.#mark(changes, shipmentTouches(ledger.rollups.streams, groups))
  }

  #mark(windows: readonly WindowChange[], rollups: readonly RollupChange[]): void {
    const { ledger } = this.#needs
    if (windows.length === 0 && rollups.length === 0) return
    const { position } = ledger
    ledger.commit({ position, streams: [], newShapes: [], windows, rollups })
  }

  /** Has QuestDB write everything to its disk, so that the journal can forget it. */
  async prove(): Promise<void> {
    await this.#needs.durability.prove()
  }

  /** Looks after QuestDB, whether or not there is anything to be stored. */
  async watch(signal: AbortSignal): Promise<void> {
    const { ledger } = this.#needs
    let provenMs = monotonicMs()
    while (!signal.aborted) {
      await sleep(lookMs, undefined, { signal }).catch(nothing)
      const isUnused = ledger.position === 0 && ledger.unproven.isEmpty
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
      await this.#needs.turns.takeAnyway(async ({ connection }) => await connection.run('SELECT 1'))
    }
    // A connection that was lost since says nothing about who would answer on a new one.
    await ask().catch(async (error: unknown) => {
      if (!(error instanceof QuestDbAway)) throw error
      await ask()
    })
  }
}

function nothing(): void {}
