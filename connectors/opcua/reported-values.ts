import type { MonitoredItem } from './options.ts'
import type { FieldValue } from './partial-readings.ts'

/** Characters of a value that is remembered; one that is longer may come twice. */
const rememberedMax = 500

/** The last value that the server reported of each item, of which there are 10,000 at most. */
type Newest = Map<MonitoredItem, string>

/**
 * Recognises values that the server has reported before. Some servers repeat the newest value of each item when a
 * session continues over another connection. A value with the same time and the same content is a repetition.
 */
export class ReportedValues {
  /**
   * Values that are durable. The server sends a value again that is not durable, and it must be
   * taken then.
   */
  readonly #durable: Newest = new Map()
  #taken: Newest = new Map()

  /** Starts a run, which remembers the durable values only. */
  begin(): void {
    this.#taken = new Map(this.#durable)
  }

  /** Remembers a value, and returns true when it is not a repetition. */
  take(item: MonitoredItem, time: string, { text = '', state = '' }: FieldValue): boolean {
    const value = `${time} ${state} ${text}`
    if (value.length > rememberedMax) {
      this.#taken.delete(item)
      return true
    }
    if (this.#taken.get(item) === value) return false
    this.#taken.set(item, value)
    return true
  }

  /** Values of these items that were taken last, for `noteDurable` once they are durable. */
  newestOf(items: Iterable<MonitoredItem>): ReadonlyMap<MonitoredItem, string | undefined> {
    return new Map([...items].map((item) => [item, this.#taken.get(item)]))
  }

  noteDurable(newest: ReadonlyMap<MonitoredItem, string | undefined>): void {
    for (const [item, value] of newest) {
      if (value === undefined) this.#durable.delete(item)
      else this.#durable.set(item, value)
    }
  }
}
