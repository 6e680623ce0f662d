import type { DowntimeSignal } from '../../processors/alert-memory.ts'
import type { StateDatabase } from '../storage/state/database.ts'

/**
 * Downtimes that are remembered: each stream has a timer or a reading soon after each of them, unless the
 * service is hardly ever up for a minute.
 */
const downtimesMax = 1_000

/**
 * Times in which nobody could be heard, in the order of the journal. Streams take them when their next
 * entry comes by, as there may be a hundred thousand of them; to take one twice changes nothing.
 */
export class Downtimes {
  #all: readonly DowntimeSignal[] = []
  #added: { readonly offset: number; readonly downtime: DowntimeSignal }[] = []
  /** How many there have been, those that were forgotten included. */
  #count = 0
  #isLoaded = false

  /** For `after`: how many there are. */
  get count(): number {
    return this.#count
  }

  /** Reads those that the decider has passed; to be called before anything else. */
  async load(state: StateDatabase): Promise<void> {
    if (this.#isLoaded) return
    const rows = await state
      .selectFrom('downtimes')
      .selectAll()
      .orderBy('journal_offset', 'desc')
      .limit(downtimesMax)
      .execute()
    const known = rows.map(({ from_at: fromUs, until_at: untilUs }) => signalOf(fromUs, untilUs))
    this.#all = known.toReversed()
    this.#count = known.length
    this.#isLoaded = true
  }

  add(offset: number, fromUs: number, untilUs: number): void {
    const downtime = signalOf(fromUs, untilUs)
    this.#added.push({ offset, downtime })
    this.#all = [...this.#all, downtime].slice(-downtimesMax)
    this.#count++
  }

  /** Downtimes after the first so many. */
  after(count: number): readonly DowntimeSignal[] {
    const left = this.#count - count
    return left <= 0 ? [] : this.#all.slice(-left)
  }

  /** Writes those that are new, as a part of the transaction of the decision. */
  async write(transaction: StateDatabase): Promise<void> {
    if (this.#added.length === 0) return
    const rows = this.#added.map(({ offset, downtime: { fromUs, untilUs } }) => ({
      journal_offset: offset,
      from_at: fromUs,
      until_at: untilUs,
    }))
    for (const row of rows) await transaction.insertInto('downtimes').values(row).execute()
    await transaction
      .deleteFrom('downtimes')
      .where('journal_offset', 'not in', (kept) =>
        kept
          .selectFrom('downtimes')
          .select('journal_offset')
          .orderBy('journal_offset', 'desc')
          .limit(downtimesMax),
      )
      .execute()
  }

  /** To be called once it is committed. */
  written(): void {
    this.#added = []
  }
}

function signalOf(fromUs: number, untilUs: number): DowntimeSignal {
  return { kind: 'downtime', fromUs, untilUs }
}
