import { monotonicMs } from '../../core/clock.ts'
import type { Journal, Offset } from './journal.ts'

const intervalMs = 1_000

/** Who holds entries back and says nothing for so long has forgotten them. */
const leaseMs = 5 * 60_000

/** Entries are held back until the journal is this full: from then on its room goes before. */
const heldShareMax = 0.5

/** Keeps entries from being trimmed, for a while. */
export interface TrimHold {
  /** All entries from this one on are there. */
  readonly from: Offset
  /** Why they are not kept any more; undefined as long as they are. */
  readonly lostBecause: string | undefined
  /** Says that they are still needed. */
  renew(): void
  release(): void
}

/** Trims the journal to its slowest consumer, once a second. */
export class TrimSchedule {
  readonly #journal: Journal
  readonly #slowestPosition: () => Promise<Offset>
  readonly #timer: NodeJS.Timeout
  readonly #holds = new Set<Hold>()
  #running: Promise<void> | undefined

  constructor(journal: Journal, slowestPosition: () => Promise<Offset>) {
    this.#journal = journal
    this.#slowestPosition = slowestPosition
    this.#timer = setInterval(() => {
      // A trim that fails, for want of space say, is tried again at the next turn.
      this.#running ??= this.#trim()
        .catch(() => undefined)
        .finally(() => {
          this.#running = undefined
        })
    }, intervalMs)
  }

  /** Holds back what no consumer has passed by now, and all that comes after it. */
  async hold(): Promise<TrimHold> {
    const hold = new Hold(() => this.#holds.delete(hold))
    // First of all everything is held, because a trim that is under way knows of no hold.
    this.#holds.add(hold)
    try {
      await this.#running
      hold.from = await this.#slowestPosition()
      return hold
    } catch (error) {
      hold.release()
      throw error
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  async #trim(): Promise<void> {
    if (this.#holds.size > 0) await this.#endHolds()
    const held = [...this.#holds].map(({ from }) => from)
    await this.#journal.trim(Math.min(await this.#slowestPosition(), ...held))
  }

  async #endHolds(): Promise<void> {
    const { bytes, bytesMax } = await this.#journal.status()
    for (const hold of this.#holds) {
      if (bytes > bytesMax * heldShareMax) hold.lose('the journal needs its room')
      else if (hold.isForgotten) hold.lose('nothing was received for too long')
    }
  }
}

class Hold implements TrimHold {
  from: Offset = 0
  lostBecause: string | undefined
  readonly #onEnd: () => void
  #renewedMs = monotonicMs()

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  get isForgotten(): boolean {
    return monotonicMs() - this.#renewedMs > leaseMs
  }

  renew(): void {
    this.#renewedMs = monotonicMs()
  }

  release(): void {
    this.#onEnd()
  }

  lose(reason: string): void {
    this.lostBecause = reason
    this.#onEnd()
  }
}
