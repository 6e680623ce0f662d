import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../core/clock.ts'
import type { RollupTotals } from '../../time-series-store.ts'
import { lastTouch } from '../../windows/window-marks.ts'
import type { Catalog, StreamRecord } from '../catalog.ts'
import type { StoreTurns } from '../store-turns.ts'
import { computeRollups } from './compute-rollups.ts'
import { dueRollups, firstKeptUs } from './due-rollups.ts'
import { Candidates, denseStreams, enrol, type RollupThresholds } from './enrol.ts'
import { rollupWidthUs } from './rollup-catalog.ts'
import { removeOutdated, writeRollups } from './write-rollups.ts'

export interface RollupOptions extends RollupThresholds {
  /**
   * What has been touched is left alone for so long: where late readings come all the time, rows would be
   * computed again and again, in vain.
   */
  readonly quietMs: number
}

/** Fewer readings are aggregated in some milliseconds, and a row takes the space of some readings. */
export const rollupOptions: RollupOptions = { readingsMin: 100_000, perRowMin: 30, quietMs: 60_000 }

/** How often it is looked for something to do. */
const idleMs = 5_000

/** After each step it rests for so many times as long as the step has taken: shipments come first. */
const restFactor = 2

/** How long one look at readings should take, about: the time that it covers is cut accordingly. */
const lookMsMax = 400
const lookMsMin = 100
const spanGrowth = 4
const spanUsMax = 32 * 24 * 3_600_000_000

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
  readonly #candidates: Candidates
  readonly #quiet: QuietTouches
  readonly #stopping = new AbortController()
  /** From when on streams have rows: what is older was taken away. */
  readonly #keptFrom = new WeakMap<StreamRecord, number>()
  #spanUs = 12 * rollupWidthUs
  #running: Promise<void> | undefined

  constructor(needs: RollupNeeds) {
    this.#needs = needs
    this.#candidates = new Candidates(needs.options)
    this.#quiet = new QuietTouches(needs.options.quietMs)
  }

  totals(): RollupTotals {
    const { streams, marks, computed } = this.#needs.catalog().rollups
    return { streams: streams.size, marks, computed }
  }

  /** Works from now on, until it is stopped. */
  start(): void {
    this.#running = this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    let restMs = idleMs
    while (!signal.aborted) {
      // Nobody waits for it: a process may end meanwhile.
      await sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      const startedMs = performance.now()
      const worked = await this.step().catch((error: unknown) => {
        // The marks are still there: it is tried again.
        this.#needs.onFailure(error)
        return false
      })
      restMs = worked ? (performance.now() - startedMs) * restFactor : idleMs
    }
  }

  /** Does some of what is due. Returns whether there was anything. */
  async step(): Promise<boolean> {
    const catalog = this.#needs.catalog()
    if (await this.#enrol(catalog)) return true
    await this.#removeOutdated(catalog)
    return await this.#rollUp(catalog)
  }

  async #enrol(catalog: Catalog): Promise<boolean> {
    const { turns, options } = this.#needs
    const candidates = this.#candidates.in(catalog)
    if (candidates.length === 0) return false
    const { perRowMin } = options
    const dense = await turns.look((reader) =>
      denseStreams(reader, catalog, { candidates, perRowMin }),
    )
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
      spanUs: this.#spanUs,
    })
    if (!chunk) return false
    const { pieces } = chunk
    try {
      const startedMs = performance.now()
      const computed = await turns.look((reader) => computeRollups(reader, catalog, chunk))
      this.#adjustSpan(performance.now() - startedMs)
      await turns.write(async (writer, now) => {
        if (now === catalog) await writeRollups(writer, catalog, { pieces, computed })
      })
    } finally {
      for (const { rollup, mark } of pieces) rollup.marks.release(mark)
    }
    return true
  }

  #adjustSpan(tookMs: number): void {
    if (tookMs > lookMsMax) this.#spanUs /= 2
    else if (tookMs < lookMsMin) this.#spanUs *= spanGrowth
    const rows = Math.floor(Math.min(this.#spanUs, spanUsMax) / rollupWidthUs)
    this.#spanUs = Math.max(1, rows) * rollupWidthUs
  }
}

/** Knows which touches are old enough: they are numbered. */
class QuietTouches {
  readonly #quietMs: number
  #seen: { readonly atMs: number; readonly touch: number }[] = []

  constructor(quietMs: number) {
    this.#quietMs = quietMs
  }

  /** The last touch that is as old. */
  touchedBy(touch: number): number {
    const nowMs = performance.now()
    this.#seen.push({ atMs: nowMs, touch })
    const last = this.#seen.findLastIndex(({ atMs }) => nowMs - atMs >= this.#quietMs)
    if (last < 0) return 0
    this.#seen = this.#seen.slice(last)
    return this.#seen[0]?.touch ?? 0
  }
}
