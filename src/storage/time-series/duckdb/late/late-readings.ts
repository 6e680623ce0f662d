import { type Clock, monotonicMs } from '../../../../core/clock.ts'
import type { Contents } from '../contents.ts'
import { type Look, lookInTurns, type StoreTurns } from '../store-turns.ts'
import { findLateDuplicates } from './look-up.ts'
import { placeLate } from './place-late.ts'

/** Late readings are looked up after this time at the earliest, so that there are some. */
const restMsMin = 1_000

/** A look-up is followed by a rest that is so many times as long. */
const restsPerLookUp = 10

/**
 * A portion of what was found is followed by a rest as long as it took, up to this, where nobody waits for the
 * last one: others write, too.
 */
const restMsAfterPortionMax = 1_000

/** More of them hold up what comes: to look them up takes memory, too. */
const lateMax = 2_000_000

interface LateReadingsNeeds {
  readonly turns: StoreTurns
  readonly contents: () => Contents
  readonly clock: Clock
  readonly onFailure: (error: unknown) => void
}

/** Looks up late readings from time to time, beside everything else. */
export class LateReadings {
  readonly #needs: LateReadingsNeeds
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #restMs = restMsMin
  /** Between the portions of what is being placed. */
  #restedMs = 0
  /** Who waits until all is stored. */
  #waiting = 0
  #isStopped = false

  /** `onFailure` hears of look-ups that nobody waits for. */
  constructor(needs: LateReadingsNeeds) {
    this.#needs = needs
  }

  /** To be told when there may be late readings. */
  wake(): void {
    const { contents, onFailure } = this.#needs
    if (this.#timer || this.#running || this.#isStopped) return
    if (contents().late.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // What fails is tried again after the next rest: the readings are still there.
      this.#place().catch((error: unknown) => {
        if (!this.#isStopped) onFailure(error)
      })
    }, this.#restMs).unref()
  }

  /** Resolves when there are not too many of them. */
  async room(): Promise<void> {
    if (this.#needs.contents().late.size > lateMax) await this.place()
  }

  /** Resolves when what waits now is stored, or counted as a duplicate. */
  async place(): Promise<void> {
    this.#waiting++
    try {
      await this.#place()
    } finally {
      this.#waiting--
    }
  }

  /** Resolves when no reading of one stream waits any more that waits now. */
  async placeOf(streamId: string): Promise<void> {
    const { catalog, late } = this.#needs.contents()
    const record = catalog.streams.get(streamId)
    if (record && late.has(record)) await this.place()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running?.catch(() => undefined)
  }

  async #place(): Promise<void> {
    while (this.#running) await this.#running.catch(() => undefined)
    if (this.#isStopped || this.#needs.contents().late.size === 0) return
    const startedMs = monotonicMs()
    this.#restedMs = 0
    this.#running = this.#placeAll()
    try {
      await this.#running
    } finally {
      this.#running = undefined
      const workedMs = monotonicMs() - startedMs - this.#restedMs
      this.#restMs = Math.max(restMsMin, workedMs * restsPerLookUp)
      this.wake()
    }
  }

  async #placeAll(): Promise<void> {
    const { turns, contents, clock } = this.#needs
    const { write } = turns
    const frozen = await write(async () => {
      const { catalog, late } = contents()
      return { catalog, late, tables: late.freeze() }
    })
    // Opened anew just now, the file may have none any more.
    if (frozen.tables.length === 0) return
    const inTurns = lookInTurns(turns)
    const look: Look = async (work) => {
      this.#throwIfStopped()
      return await inTurns(work)
    }
    const duplicates = await findLateDuplicates(look, frozen.catalog, frozen.tables)
    // What is not stored when it has to end is looked up once more: nothing is lost, or counted twice.
    for (const tables of frozen.late.portionsOf(frozen.tables)) {
      this.#throwIfStopped()
      const startedMs = monotonicMs()
      await write(async (writer) => {
        const { catalog, late } = contents()
        if (catalog !== frozen.catalog) throw new Error('the time-series file was opened again')
        const nowUs = clock.nowUs()
        await placeLate(writer, { catalog, lateTables: late, tables, duplicates, nowUs })
      })
      if (this.#waiting > 0) continue
      const restMs = Math.min(monotonicMs() - startedMs, restMsAfterPortionMax)
      this.#restedMs += restMs
      await restFor(restMs)
    }
  }

  /** @throws Error when the store is being closed */
  #throwIfStopped(): void {
    if (this.#isStopped) throw new Error('the store is being closed')
  }
}

async function restFor(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
