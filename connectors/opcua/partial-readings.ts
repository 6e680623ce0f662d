import { monotonicMs } from '../../src/core/clock.ts'

/** Characters of readings that wait for more, beyond which the oldest ones go as they are: they are in each position. */
const openCharactersMax = 1024 * 1024

/** What a value costs beside its own characters. */
const valueCharacters = 16

/** A queue that is not empty holds readings back, but not for ever. */
const heldMsMax = 60_000

/** What one item had to say at one time. */
export interface FieldValue {
  /** JSON of the value; undefined where there is none. */
  readonly text?: string
  /** The name of its state, where that is not plainly good. */
  readonly state?: string
}

/** All that is known of one time. */
export interface TimedReading {
  /** RFC 3339, in UTC. */
  readonly time: string
  readonly fields: ReadonlyMap<string, FieldValue>
}

/** A reading that waits, as it is kept with a position. */
export interface SavedReading {
  readonly time: string
  readonly fields: Readonly<Record<string, FieldValue>>
}

interface Partial extends TimedReading {
  readonly fields: Map<string, FieldValue>
  readonly beganMs: number
  sinceMs: number
  characters: number
}

/** Readings of one time: several, where an item has several values of that time. */
interface Slot {
  readonly readings: Partial[]
  /** Values that each field has had. */
  readonly counts: Map<string, number>
  /** Readings that are gone already. */
  gone: number
}

interface PartialReadingsNeeds {
  readonly fields: readonly string[]
  /** Milliseconds in which the other values of a time arrive, as far as the server promises. */
  readonly waitMs: number
  /** Milliseconds that only grow. */
  readonly nowMs?: () => number
}

/**
 * Puts values of one time together, in whichever notifications they come. A reading is complete when all fields have a
 * value, when all that lack have a later one (each item tells its values in their order), or when nothing has
 * come for as long as values of one time may be apart. Readings leave in the order in which they have begun.
 */
export class PartialReadings {
  readonly #needs: PartialReadingsNeeds
  readonly #nowMs: () => number
  readonly #queue: Partial[] = []
  readonly #slots = new Map<string, Slot>()
  /** The time of the newest value of each field, as it can be compared. */
  readonly #latest = new Map<string, string>()
  #characters = 0

  constructor(needs: PartialReadingsNeeds, saved: readonly SavedReading[] = []) {
    this.#needs = needs
    this.#nowMs = needs.nowMs ?? monotonicMs
    for (const { time, fields } of saved) {
      const slot = this.#slotOf(time)
      const reading = this.#begin(time, slot)
      for (const [field, value] of Object.entries(fields)) {
        this.#put(reading, field, value)
        slot.counts.set(field, slot.readings.length)
      }
    }
  }

  add(time: string, field: string, value: FieldValue): void {
    const slot = this.#slotOf(time)
    const count = slot.counts.get(field) ?? 0
    const place = Math.max(count - slot.gone, 0)
    const before = slot.readings[place - 1]?.fields.get(field)
    // Servers repeat a value after a break.
    if (before !== undefined && before.text === value.text && before.state === value.state) return
    this.#put(slot.readings[place] ?? this.#begin(time, slot), field, value)
    slot.counts.set(field, slot.gone + place + 1)
    const comparable = comparableTime(time)
    if (comparable > (this.#latest.get(field) ?? '')) this.#latest.set(field, comparable)
  }

  /**
   * Takes out what is complete.
   *
   * @param isMoreToCome whether the server has said so: then values may lack that it has already
   */
  take(isMoreToCome: boolean): readonly TimedReading[] {
    const nowMs = this.#nowMs()
    if (isMoreToCome) for (const reading of this.#queue) reading.sinceMs = nowMs
    let count = 0
    let characters = this.#characters
    for (const reading of this.#queue) {
      const isTooMuch = characters > openCharactersMax
      if (!isTooMuch && !this.#isComplete(reading) && this.#dueMs(reading) > nowMs) break
      characters -= reading.characters
      count++
    }
    return this.#takeOut(count)
  }

  /** Milliseconds until the first one has waited long enough; undefined where none waits. */
  get dueInMs(): number | undefined {
    const [first] = this.#queue
    return first && Math.max(0, this.#dueMs(first) - this.#nowMs())
  }

  get saved(): readonly SavedReading[] {
    return this.#queue.map(({ time, fields }) => ({ time, fields: Object.fromEntries(fields) }))
  }

  #dueMs({ sinceMs, beganMs }: Partial): number {
    return Math.min(sinceMs + this.#needs.waitMs, beganMs + heldMsMax)
  }

  #isComplete({ fields, time }: Partial): boolean {
    if (fields.size >= this.#needs.fields.length) return true
    const comparable = comparableTime(time)
    return this.#needs.fields.every(
      (field) => fields.has(field) || (this.#latest.get(field) ?? '') > comparable,
    )
  }

  #takeOut(count: number): readonly TimedReading[] {
    const taken = this.#queue.splice(0, count)
    for (const { time, characters } of taken) {
      this.#characters -= characters
      const slot = this.#slotOf(time)
      slot.readings.shift()
      slot.gone++
      if (slot.readings.length === 0) this.#slots.delete(time)
    }
    return taken
  }

  #slotOf(time: string): Slot {
    const known = this.#slots.get(time)
    if (known !== undefined) return known
    const slot = { readings: [], counts: new Map<string, number>(), gone: 0 }
    this.#slots.set(time, slot)
    return slot
  }

  #begin(time: string, slot: Slot): Partial {
    const nowMs = this.#nowMs()
    const reading = { time, fields: new Map(), beganMs: nowMs, sinceMs: nowMs, characters: 0 }
    slot.readings.push(reading)
    this.#queue.push(reading)
    return reading
  }

  #put(reading: Partial, field: string, value: FieldValue): void {
    const { text = '', state = '' } = value
    const characters = field.length + text.length + state.length + valueCharacters
    reading.fields.set(field, value)
    reading.characters += characters
    this.#characters += characters
  }
}

/** Drops the letter behind a time, so that one with more digits is greater than one with fewer. */
function comparableTime(time: string): string {
  return time.slice(0, -1)
}
