import type { StateDatabase } from '../storage/state/database.ts'

/** The only row. */
const id = 1

/**
 * Times of receipt in the journal are those of the wall clock, because they name instants. What rules wait
 * for is measured in steady time; entries of the journal say how far the wall clock is ahead of it from
 * there on, so that a replay measures the same.
 */
export class AlertTime {
  #aheadUs = 0
  #sinceUs = 0
  #isChanged = false
  #isLoaded = false

  /** How far the wall clock is ahead of steady time, in microseconds. */
  get aheadUs(): number {
    return this.#aheadUs
  }

  /** Reads what held at the decider's position; to be called before anything else. */
  async load(state: StateDatabase): Promise<void> {
    if (this.#isLoaded) return
    const row = await state.selectFrom('alert_time').selectAll().executeTakeFirst()
    if (row) [this.#aheadUs, this.#sinceUs] = [row.ahead, row.since]
    this.#isLoaded = true
  }

  /** One moment by both clocks. */
  set(steadyUs: number, wallUs: number): void {
    this.#aheadUs = wallUs - steadyUs
    this.#sinceUs = steadyUs
    this.#isChanged = true
  }

  /**
   * The steady time of a time of receipt. What has a time of receipt of before the clock was set, as a
   * repeated request has, was received again after that.
   */
  steadyUs(receivedAtUs: number): number {
    return Math.max(receivedAtUs - this.#aheadUs, this.#sinceUs)
  }

  /** Writes it, as a part of the transaction of the decision. */
  async write(transaction: StateDatabase): Promise<void> {
    if (!this.#isChanged) return
    const now = { ahead: this.#aheadUs, since: this.#sinceUs }
    await transaction
      .insertInto('alert_time')
      .values({ id, ...now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(now))
      .execute()
  }

  /** To be called once it is committed. */
  written(): void {
    this.#isChanged = false
  }
}
