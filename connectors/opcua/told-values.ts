import type { MonitoredItem } from './options.ts'
import type { FieldValue } from './partial-readings.ts'

/** Characters of a value that is remembered; one that is longer may come twice. */
const rememberedMax = 500

/** What each item has told last: one for each item, of which there are 10,000 at most. */
type Newest = Map<MonitoredItem, string>

/**
 * Knows what has been told already. Some servers tell the newest value of each item once more when a session goes on
 * over another connection: with the same time it is the same value.
 */
export class ToldValues {
  /** Of values that are durable: what is not comes again, and has to be taken then. */
  readonly #durable: Newest = new Map()
  #taken: Newest = new Map()

  /** A run begins with what is durable. */
  begin(): void {
    this.#taken = new Map(this.#durable)
  }

  /** Whether it is news. */
  take(item: MonitoredItem, time: string, { text = '', state = '' }: FieldValue): boolean {
    const told = `${time} ${state} ${text}`
    if (told.length > rememberedMax) {
      this.#taken.delete(item)
      return true
    }
    if (this.#taken.get(item) === told) return false
    this.#taken.set(item, told)
    return true
  }

  /** What was taken of these items up to now. To be handed to `settle` when it is durable. */
  newestOf(items: Iterable<MonitoredItem>): ReadonlyMap<MonitoredItem, string | undefined> {
    return new Map([...items].map((item) => [item, this.#taken.get(item)]))
  }

  settle(newest: ReadonlyMap<MonitoredItem, string | undefined>): void {
    for (const [item, told] of newest) {
      if (told === undefined) this.#durable.delete(item)
      else this.#durable.set(item, told)
    }
  }
}
