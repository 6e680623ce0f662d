import { type Clock, monotonicMs } from '../../../../core/clock.ts'
import { Candidates, type RollupOptions } from '../../rollups/candidates.ts'
import { LookSpan, QuietTouches, RollupLoop } from '../../rollups/rollup-loop.ts'
import type { RollupTotals } from '../../time-series-store.ts'
import { lastTouch } from '../../windows/window-marks.ts'
import type { Catalog, StreamRecord } from '../catalog.ts'
import { lookInTurns, type StoreTurns } from '../store-turns.ts'
import { computeRollups } from './compute-rollups.ts'
import { dueRollups, firstKeptUs } from './due-rollups.ts'
import { denseStreams, enrol } from './enrol.ts'
import { removeOutdated, writeRollups } from './write-rollups.ts'

/** Fewer readings are aggregated in some milliseconds, and a row takes the space of some readings. */
export const rollupOptions: RollupOptions = { readingsMin: 100_000, perRowMin: 30, quietMs: 60_000 }

export interface RollupNeeds {
  readonly turns: StoreTurns
  /** It is read from the file anew after a failure. */
  readonly catalog: () => Catalog
  readonly clock: Clock
  readonly options: RollupOptions
  readonly onFailure: (error: unknown) => void
}

/**
 * Keeps the rows that queries of streams with many readings are answered from, beside everything else. Nothing is
 * remembered between steps: what is to be done are the marks, and what was computed counts if its marks are as
 * they were.
 */
export class Rollups {
  readonly #needs: RollupNeeds
  readonly #candidates: Candidates<StreamRecord>
  readonly #loop: RollupLoop
  readonly #span = new LookSpan()
  readonly #quiet: QuietTouches
  /** From when on streams have rows: what is older was taken away. */
  readonly #keptFrom = new WeakMap<StreamRecord, number>()

  constructor(needs: RollupNeeds) {
    this.#needs = needs
    this.#candidates = new Candidates(needs.options)
    this.#quiet = new QuietTouches(needs.options.quietMs)
    this.#loop = new RollupLoop({ step: () => this.#step(), onFailure: needs.onFailure })
  }

  totals(): RollupTotals {
    const { streams, marks, computed } = this.#needs.catalog().rollups
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
    const catalog = this.#needs.catalog()
    if (await this.#enrol(catalog)) return true
    await this.#removeOutdated(catalog)
    return await this.#rollUp(catalog)
  }

  async #enrol(catalog: Catalog): Promise<boolean> {
    const { turns, options } = this.#needs
    const candidates = this.#candidates.in({
      streams: catalog.streams,
      rolledUp: catalog.rollups.streams,
    })
    if (candidates.length === 0) return false
    const { perRowMin } = options
    const dense = await denseStreams(lookInTurns(turns), catalog, { candidates, perRowMin })
    this.#candidates.lookedAt(candidates)
    if (dense.length > 0) {
      await turns.write(async (writer, now) => {
        if (now === catalog) await enrol(writer, catalog, dense)
      })
    }
    return true
  }

  async #removeOutdated(catalog: Catalog): Promise<void> {
    const outdated = [...catalog.rollups.streams.keys()].flatMap((id) => {
      const record = catalog.streams.get(id)
      return record && firstKeptUs(record) > (this.#keptFrom.get(record) ?? 0) ? [record] : []
    })
    if (outdated.length === 0) return
    const keptFrom = outdated.map((record) => [record, firstKeptUs(record)] as const)
    await this.#needs.turns.write((writer, now) => removeOutdated(writer, now, outdated))
    for (const [record, fromUs] of keptFrom) this.#keptFrom.set(record, fromUs)
  }

  async #rollUp(catalog: Catalog): Promise<boolean> {
    const { turns, clock } = this.#needs
    const chunk = dueRollups(catalog, {
      endedByUs: clock.nowUs(),
      touchedBy: this.#quiet.touchedBy(lastTouch()),
      spanUs: this.#span.us,
    })
    if (!chunk) return false
    const { pieces } = chunk
    try {
      const startedMs = monotonicMs()
      const computed = await turns.look((reader) => computeRollups(reader, catalog, chunk))
      this.#span.adjust(monotonicMs() - startedMs)
      await turns.write(async (writer, now) => {
        if (now === catalog) await writeRollups(writer, catalog, { pieces, computed })
      })
    } finally {
      for (const { rollup, mark } of pieces) rollup.marks.release(mark)
    }
    return true
  }
}
