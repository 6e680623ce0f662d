import type { Offset } from '../../journal/journal.ts'
import type { Shape } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import { shapeOfClass } from './layout.ts'

const hourUs = 3_600_000_000
const dayUs = 24 * hourUs

/** Readings that go at about the same time: QuestDB gives back room by dropping whole partitions of a table. */
interface RetentionClass {
  /** Ends the names of its tables. */
  readonly name: string
  /** How long streams of the class keep their readings at most. */
  readonly keptUsMax: number
}

/**
 * Each reading stays on the disk for at most four times as long as it is kept (or for half a day), and no stream can ask for
 * a table of its own. What is kept for longer shares the tables of what is kept for ever.
 */
const retentionClasses: readonly RetentionClass[] = [
  { name: '12h', keptUsMax: 12 * hourUs },
  { name: '2d', keptUsMax: 2 * dayUs },
  { name: '8d', keptUsMax: 8 * dayUs },
  { name: '32d', keptUsMax: 32 * dayUs },
  { name: '128d', keptUsMax: 128 * dayUs },
  { name: '512d', keptUsMax: 512 * dayUs },
]

/** How far in the future a reading may be that goes into the table of a class. */
const aheadUsMax = dayUs

/** From which entry of the journal on a stream has a class; null: none. */
export interface ClassChange {
  readonly streamId: string
  readonly from: Offset
  readonly name: string | null
}

/**
 * Which table each reading lies in. It follows from its entry alone, so that what is sent again gets to the
 * same place: from a stream's class at its offset, and from its times.
 */
export class RetentionClasses {
  /** The changes of each stream, in the order of offsets. */
  readonly #changes = new Map<string, ClassChange[]>()
  readonly #shapes = new WeakMap<Shape, Map<string, Shape>>()

  /** @param neededFrom the first entry that may be sent again: what held only before it is forgotten */
  add(change: ClassChange, neededFrom: Offset): void {
    const known = this.#changes.get(change.streamId) ?? []
    const first = Math.max(
      0,
      known.findLastIndex(({ from }) => from <= neededFrom),
    )
    const needed = known.slice(first).filter(({ from }) => from < change.from)
    this.#changes.set(change.streamId, [...needed, change])
  }

  /** Streams that have, or had, a class. */
  streamIds(): Iterable<string> {
    return this.#changes.keys()
  }

  forget(streamId: string): void {
    this.#changes.delete(streamId)
  }

  /** The shape whose table a reading lies in. */
  readonly placeOf = (reading: ShippedReading): Shape => {
    const changes = this.#changes.get(reading.streamId)
    const name = changes?.findLast(({ from }) => from <= reading.offset)?.name
    const retention = retentionClasses.find((one) => one.name === name)
    if (!retention || !isWithin(retention, reading)) return reading.shape
    return this.#shapeOf(reading.shape, retention.name)
  }

  /**
   * What changes when streams keep their readings for these times, in microseconds, from an entry on: those that
   * are not named keep everything.
   */
  changesFor(kept: ReadonlyMap<string, number>, from: Offset): readonly ClassChange[] {
    const changes: ClassChange[] = []
    for (const [streamId, keptUs] of kept) {
      const name = retentionClasses.find(({ keptUsMax }) => keptUs <= keptUsMax)?.name ?? null
      if (this.#nameOf(streamId) !== name) changes.push({ streamId, from, name })
    }
    for (const streamId of this.#changes.keys()) {
      const isEnded = !kept.has(streamId) && this.#nameOf(streamId) !== null
      if (isEnded) changes.push({ streamId, from, name: null })
    }
    return changes
  }

  #nameOf(streamId: string): string | null {
    return this.#changes.get(streamId)?.at(-1)?.name ?? null
  }

  #shapeOf(shape: Shape, name: string): Shape {
    let shapes = this.#shapes.get(shape)
    if (!shapes) this.#shapes.set(shape, (shapes = new Map()))
    let made = shapes.get(name)
    if (!made) shapes.set(name, (made = shapeOfClass(shape, name)))
    return made
  }
}

/** What is too old for its class goes soon anyway, and each partition that a shipment touches takes QuestDB some time. */
function isWithin({ keptUsMax }: RetentionClass, reading: ShippedReading): boolean {
  const { timestampUs, receivedAtUs } = reading
  return timestampUs >= receivedAtUs - keptUsMax && timestampUs <= receivedAtUs + aheadUsMax
}
