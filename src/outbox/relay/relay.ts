import { setTimeout as sleep } from 'node:timers/promises'

/** Rows that are taken, handed over and removed together. */
const rowsPerRound = 200

/** After a failure the next round begins this much later, whoever calls: what fails is busy enough. */
const retryMs = 1_000

/** Rows that were written down with what they tell of, and are to be brought somewhere else. */
export interface Outbox<Row> {
  /** Some of the rows that wait, in their order; fewer than the limit only when there are no more. */
  next(limit: number): Promise<readonly Row[]>
  /** Takes out what `next` has answered, all of it. */
  remove(rows: readonly Row[]): Promise<void>
}

export interface RelayNeeds<Row> {
  readonly outbox: Outbox<Row>
  /**
   * Resolves when all of them are where they are to go, and durable there. They may come again, when
   * one of them failed, or after a crash.
   */
  readonly handOver: (rows: readonly Row[]) => Promise<void>
  /** How often the outbox is looked into when nobody wakes the relay. */
  readonly lookMs: number
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Brings rows from an outbox to where they are to go, in their order, from when it is made. A row leaves
 * the outbox once it was handed over, so it gets there at least once.
 */
export class Relay<Row> {
  readonly #needs: RelayNeeds<Row>
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #woken = Promise.withResolvers<void>()

  constructor(needs: RelayNeeds<Row>) {
    this.#needs = needs
    this.#running = this.#run()
  }

  /** To be called when there may be rows; the next look finds those that nobody has called for. */
  wake(): void {
    this.#woken.resolve()
  }

  /** Resolves when nothing of it is under way. What is left waits for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // Before the look: it may miss what somebody calls for meanwhile.
      this.#woken = Promise.withResolvers()
      try {
        const mayBeMore = await this.#round()
        if (!mayBeMore) await this.#rest()
      } catch (error) {
        this.#needs.onFailure(error)
        await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
  }

  /** Resolves with whether there may be more. */
  async #round(): Promise<boolean> {
    const { outbox, handOver } = this.#needs
    const rows = await outbox.next(rowsPerRound)
    if (rows.length === 0) return false
    await handOver(rows)
    await outbox.remove(rows)
    return rows.length === rowsPerRound
  }

  async #rest(): Promise<void> {
    const timer = setTimeout(this.#woken.resolve, this.#needs.lookMs)
    timer.unref()
    await this.#woken.promise
    clearTimeout(timer)
  }
}
