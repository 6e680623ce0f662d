import { type Clock, monotonicMs } from '../../../../core/clock.ts'
import { Candidates, type RollupOptions } from '../../rollups/candidates.ts'
import { LookSpan, QuietTouches, RollupLoop } from '../../rollups/rollup-loop.ts'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import type { RollupTotals } from '../../time-series-store.ts'
import type { StreamWindows } from '../../windows/stream-windows.ts'
import { lastTouch } from '../../windows/window-marks.ts'
import { floorTo } from '../../windows/window-starts.ts'
import { QuestDbAway } from '../connection.ts'
import type { Ledger } from '../ledger.ts'
import type { ReadSession } from '../read/session.ts'
import { computeRollups } from './compute-rollups.ts'
import { dayUs } from './day-of-rollups.ts'
import { denseStreams } from './dense-streams.ts'
import { dueRollups } from './due-rollups.ts'
import { firstKeptUs, writeRollups } from './write-rollups.ts'

/**
 * QuestDB goes over tens of millions of readings a second by itself, and rows are added up by the thread that stores
 * readings: so they are kept where each stands for many.
 */
export const rollupOptions: RollupOptions = {
  readingsMin: 100_000,
  perRowMin: 100,
  quietMs: 60_000,
}

export interface QuestDbRollupsNeeds {
  readonly ledger: Ledger
  /** Answers out of what is stored at one position, beside queries. */
  readonly look: <Result>(work: (session: ReadSession) => Promise<Result>) => Promise<Result>
  readonly clock: Clock
  readonly options: RollupOptions
  readonly onFailure: (error: unknown) => void
}

/**
 * Keeps what half hours of streams with many readings amount to, in the file that has position and counts. As with
 * windows, nothing is remembered between steps: what is to be done are the marks, and what was computed counts if
 * its marks are as they were.
 */
export class QuestDbRollups {
  readonly #needs: QuestDbRollupsNeeds
  readonly #candidates: Candidates
  readonly #quiet: QuietTouches
  readonly #loop: RollupLoop
  readonly #span = new LookSpan()
  /** From when on streams have rows: what is older was taken away. */
  readonly #keptFromUs = new WeakMap<StreamWindows, number>()

  constructor(needs: QuestDbRollupsNeeds) {
    this.#needs = needs
    this.#candidates = new Candidates(needs.options)
    this.#quiet = new QuietTouches(needs.options.quietMs)
    this.#loop = new RollupLoop({
      step: () => this.#step(),
      onFailure: (error) => {
        // The shipper, which stores readings there, says so.
        if (!(error instanceof QuestDbAway)) needs.onFailure(error)
      },
    })
  }

  totals(): RollupTotals {
    const { streams, marks, computed } = this.#needs.ledger.rollups
    return { streams: streams.size, marks, computed }
  }

  /** Works from now on, until it is stopped. */
  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  /** Does some of what is due. Returns whether there was anything. */
  async step(): Promise<boolean> {
    return await this.#loop.step()
  }

  async #step(): Promise<boolean> {
    if (await this.#enrol()) return true
    this.#removeOutdated()
    return await this.#rollUp()
  }

  async #enrol(): Promise<boolean> {
    const { ledger, look, options } = this.#needs
    const { rollups } = ledger
    const candidates = this.#candidates.in({ streams: ledger.streams, rolledUp: rollups.streams })
    if (candidates.length === 0) return false
    const { perRowMin } = options
    const dense = await look((session) => denseStreams(session, { candidates, perRowMin }))
    this.#candidates.lookedAt(candidates)
    // It may have been deleted meanwhile.
    const there = dense.filter(({ id, record }) => {
      return ledger.stream(id) === record && record.shapes.size > 0 && record.timestampMaxUs >= 0
    })
    const marked = there.map(({ id, record }) => {
      const toUs = floorTo(record.timestampMaxUs, rollupWidthUs) + rollupWidthUs
      return { id, ranges: [{ fromUs: 0, toUs }] }
    })
    if (marked.length === 0) return true
    ledger.writeRollups((tables) => {
      for (const { id, ranges } of marked) tables.add(id, ranges)
    })
    for (const { id, ranges } of marked) rollups.add(id, ranges)
    return true
  }

  #removeOutdated(): void {
    const { ledger } = this.#needs
    const outdated = [...ledger.rollups.streams].flatMap(([id, rollup]) => {
      const beforeUs = floorTo(firstKeptUs(ledger, id), dayUs)
      return beforeUs > (this.#keptFromUs.get(rollup) ?? 0) ? [{ id, rollup, beforeUs }] : []
    })
    if (outdated.length === 0) return
    ledger.writeRollups((tables) => {
      for (const { id, beforeUs } of outdated) tables.removeBefore(id, beforeUs)
    })
    for (const { id, rollup, beforeUs } of outdated) {
      ledger.rollups.written(id)
      this.#keptFromUs.set(rollup, beforeUs)
    }
  }

  async #rollUp(): Promise<boolean> {
    const { ledger, look, clock } = this.#needs
    const pieces = dueRollups(ledger.rollups, {
      endedByUs: clock.nowUs(),
      touchedBy: this.#quiet.touchedBy(lastTouch()),
    })
    if (pieces.length === 0) return false
    try {
      const startedMs = monotonicMs()
      const shapesOf = (id: string) => ledger.shapesOf(id)
      const question = { pieces, spanUs: this.#span.us, shapesOf }
      const computed = await look((session) => computeRollups(session, question))
      this.#span.adjust(monotonicMs() - startedMs)
      writeRollups(ledger, pieces, computed)
    } finally {
      for (const { rollup, mark } of pieces) rollup.marks.release(mark)
    }
    return true
  }
}
