import { parseJson } from '../core/parse-json.ts'
import { formatUs } from '../core/time.ts'

/** How many readings of a stream are told with an alert. */
const readingsMax = 5

/** The newest readings of a stream with rules, as far as they have come by. */
export class RecentReadings {
  readonly #times: number[] = []
  readonly #values: string[] = []
  #next = 0

  /** @param values canonical JSON */
  add(timeUs: number, values: string): void {
    this.#times[this.#next] = timeUs
    this.#values[this.#next] = values
    this.#next = (this.#next + 1) % readingsMax
  }

  /** The oldest first, as data points (decisions.md#answers-with-readings). */
  points(): readonly object[] {
    const { length } = this.#times
    const oldest = length < readingsMax ? 0 : this.#next
    return Array.from({ length }, (_, place) => {
      const at = (oldest + place) % readingsMax
      const values = parseJson(this.#values[at] ?? '{}') as object
      return { timestamp: formatUs(this.#times[at] ?? 0), ...values }
    })
  }
}
