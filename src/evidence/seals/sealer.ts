import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Clocks, monotonicMs, type StepClocks } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { SealMarks } from '../../ingest/pipeline/seal-marks.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import {
  bringForward,
  countMarks,
  type DueMark,
  dueMarks,
  firstDueUs,
  putOff,
} from './due-marks.ts'
import {
  batchSealsMax,
  closeBatch,
  haveBatches,
  retryBatches,
  type SealLedger,
} from './seal-batches.ts'
import { TooManyAtOnce } from './stretch-leaves.ts'
import { treeOfStretch } from './stretch-tree.ts'
import { type ReadStretch, writeSeals } from './write-seals.ts'

/** Stretches of one step. */
const marksOfStep = 500

/** A stream with more stretches than this in a step lets all others go first in the next one. */
const marksOfStreamMax = 50

/** Seals that are written together, or what was read in so much time: each transaction holds up the decider. */
const sealsOfWrite = 200
const writeEveryMs = 1_000

/** How often it looks whether something is due, while there was nothing to do. */
const idleMs = 500

/** How often marks are counted, and batches are looked after. */
const countMs = 10_000
const retryMs = 300_000

/** Seals wait so long for others at most while there are stretches to be sealed. */
const batchWaitMs = 300_000

/** Waits after failures. */
const failedMsMax = 10_000

/** How long a stretch waits that could not be read, and one that is too much to be read. */
const shortWaitUs = 60_000_000
const longWaitUs = 3_600_000_000

/** Stretches that cannot be read, one after the other: as many mean that the store does not answer. */
const failuresInARowMax = 3

/** While much waits to be stored, it rests between two pages: for so long, and so many times at most. */
const restMs = 50
const restsMax = 20

/** How far the consumers of the journal are. */
export interface SealedProgress {
  /** By when what came in is stored. */
  storedUntilUs(nowUs: number): number
  /** What the shipper has stored. */
  position(): Offset
  /** Whether so much waits that shipments come first. */
  readonly isBehind: boolean
}

export interface SealerNeeds {
  readonly state: StateDatabase
  readonly store: Pick<TimeSeriesStore, 'query' | 'placeLate'>
  readonly clock: Clocks & Partial<Pick<StepClocks, 'steps'>>
  readonly marks: Pick<SealMarks, 'decidingUntil' | 'forgetAll' | 'written'>
  readonly progress: SealedProgress
  /** How long after the end of a stretch it is sealed: its last readings are under way until then. */
  readonly graceUs: number
  readonly ledger: SealLedger
  /** Called when something is to be anchored. */
  readonly onAnchors: () => void
  readonly onFailure: (error: unknown) => void
  /** Called with a stretch that cannot be sealed now: it is tried again. */
  readonly onPutOff: (mark: DueMark, error: unknown) => void
}

/** What it has done since the start, and what waits. */
export interface SealingStatus {
  /** Stretches that are marked, those under way included, when they were counted last. */
  readonly marks: number
  readonly added: number
  readonly revised: number
  /** How often a stretch could not be sealed. */
  readonly failures: number
  /** For how long there has been something to do without a break. */
  readonly behindSeconds: number
}

/**
 * Seals stretches that have ended, step by step, and puts their seals in batches. Nothing is remembered between
 * steps: what is to be done are marks, and seals without a batch.
 */
export class Sealer {
  readonly #needs: SealerNeeds
  readonly #counts = { marks: 0, added: 0, revised: 0, failures: 0 }
  #behindSinceMs: number | undefined
  /** Stretches that are due, and the offset that the shipper has to pass before they are sealed. */
  #passing: { readonly due: readonly DueMark[]; readonly until: Offset } | undefined
  /** Marks that were written when it looked last, and when the first of those that there are is due. */
  #seen = -1
  #nextDueUs = Number.NEGATIVE_INFINITY
  /** Streams that have had many stretches sealed by the step before. */
  #crowding: readonly string[] = []
  /** How often the clock was set when marks were looked through for that. */
  #clockSteps = -1
  #isCounted = false
  #countedMs = Number.NEGATIVE_INFINITY
  /** Seals in no batch, as far as they are known, and since when there are some. */
  #open: OpenSeals = { seals: Number.POSITIVE_INFINITY, sinceMs: Number.NEGATIVE_INFINITY }
  #closedMs = Number.NEGATIVE_INFINITY
  #hasBatches = true
  #retriedMs = Number.NEGATIVE_INFINITY

  constructor(needs: SealerNeeds) {
    this.#needs = needs
  }

  get status(): SealingStatus {
    const sinceMs = this.#behindSinceMs
    const behindSeconds = sinceMs === undefined ? 0 : (monotonicMs() - sinceMs) / 1_000
    return { ...this.#counts, behindSeconds }
  }

  /** Works until it is told to stop. */
  async run(signal: AbortSignal): Promise<void> {
    let failedMs = idleMs
    while (!signal.aborted) {
      try {
        const worked = await this.step(signal)
        failedMs = idleMs
        if (!worked) await pause(idleMs, signal)
      } catch (error) {
        // A store that is being closed ends what it was asked for.
        if (signal.aborted) return
        this.#needs.onFailure(error)
        await pause(failedMs, signal)
        failedMs = Math.min(failedMs * 2, failedMsMax)
      }
    }
  }

  /** Seals some of the stretches that are due, or else closes a batch. Resolves with whether there was something to do. */
  async step(signal?: AbortSignal): Promise<boolean> {
    const ready = await this.#ready()
    const isBusy = ready.length > 0 || this.#passing !== undefined
    if (isBusy) this.#behindSinceMs ??= monotonicMs()
    else this.#behindSinceMs = undefined
    if (ready.length > 0) await this.#sealAll(ready, signal)
    const isClosed = await this.#closeBatch(isBusy)
    await this.#lookAfter()
    return ready.length > 0 || isClosed
  }

  /**
   * What can be sealed: stretches that are due, once all is stored that was decided while they had their marks. What is
   * decided from then on marks them again.
   */
  async #ready(): Promise<readonly DueMark[]> {
    const { marks, progress } = this.#needs
    if (!this.#passing) {
      const due = await this.#due()
      if (due.length === 0) return []
      marks.forgetAll(due)
      this.#passing = { due, until: marks.decidingUntil }
    }
    const { due, until } = this.#passing
    if (progress.position() < until) return []
    this.#passing = undefined
    return due
  }

  /** Nothing is asked of the state before a mark is written, or the first one is due. */
  async #due(): Promise<readonly DueMark[]> {
    const { state, clock, marks, progress, graceUs } = this.#needs
    const untilUs = progress.storedUntilUs(clock.nowUs()) - graceUs
    await this.#followClock()
    const { written } = marks
    if (written === this.#seen && untilUs < this.#nextDueUs) return []
    const due = await dueMarks(state, { untilUs, limit: marksOfStep, after: this.#crowding })
    this.#crowding = crowdingIn(due)
    this.#isCounted = false
    this.#seen = written
    const next = due.length === 0 ? await firstDueUs(state) : undefined
    this.#nextDueUs = due.length > 0 ? untilUs : (next ?? Number.POSITIVE_INFINITY)
    return due
  }

  /** A clock that was set back leaves marks that are due far ahead: also one that was set while nothing ran. */
  async #followClock(): Promise<void> {
    const { state, clock } = this.#needs
    const { steps = 0 } = clock
    if (steps === this.#clockSteps) return
    await bringForward(state, clock.nowUs(), longWaitUs)
    this.#clockSteps = steps
    this.#nextDueUs = Number.NEGATIVE_INFINITY
  }

  async #sealAll(marks: readonly DueMark[], signal: AbortSignal | undefined): Promise<void> {
    const { state, clock } = this.#needs
    let read: ReadStretch[] = []
    let sinceMs = monotonicMs()
    const write = async () => {
      const { added, revised } = await writeSeals(state, read, clock.nowUs())
      this.#counts.added += added
      this.#counts.revised += revised
      if (added + revised > 0) this.#open = opened(this.#open, added + revised)
      read = []
      sinceMs = monotonicMs()
    }
    let failures = 0
    for (const mark of marks) {
      if (signal?.aborted) break
      try {
        read.push({ mark, tree: await this.#read(mark, signal) })
        failures = 0
      } catch (error) {
        if (signal?.aborted) break
        await this.#putOff(mark, error)
        if (++failures >= failuresInARowMax) {
          if (read.length > 0) await write()
          throw error
        }
      }
      if (read.length >= sealsOfWrite || monotonicMs() - sinceMs >= writeEveryMs) await write()
    }
    if (read.length > 0) await write()
  }

  async #read(mark: DueMark, signal: AbortSignal | undefined) {
    const { store } = this.#needs
    await store.placeLate?.(mark.streamId)
    const turn = () => this.#turn(signal)
    return await treeOfStretch(store, mark, { turn, ...(signal && { signal }) })
  }

  /** Lets shipments go first, within bounds. */
  async #turn(signal: AbortSignal | undefined): Promise<void> {
    await nextTurn()
    for (let rests = 0; this.#needs.progress.isBehind && rests < restsMax; rests++) {
      await pause(restMs, signal)
    }
  }

  /** Has a stretch that cannot be sealed wait, so that others are. */
  async #putOff(mark: DueMark, error: unknown): Promise<void> {
    const { state, clock, onPutOff } = this.#needs
    this.#counts.failures++
    const { waitUs, problem } = problemOf(error)
    onPutOff(mark, error)
    const change = putOff(state, mark, { untilUs: clock.nowUs() + waitUs, problem })
    await state.executeQuery(change.compile())
  }

  /** Closes a batch, if it is time for one. Resolves with whether there was something in it. */
  async #closeBatch(isBusy: boolean): Promise<boolean> {
    const { state, clock, ledger, onAnchors } = this.#needs
    if (!this.#isBatchDue(isBusy)) return false
    const closed = await closeBatch({ state, clock, ledger })
    const isMore = closed === batchSealsMax
    this.#open = { seals: isMore ? Number.POSITIVE_INFINITY : 0, sinceMs: monotonicMs() }
    if (closed === 0) return false
    this.#hasBatches = true
    // What is left of a full one is closed next.
    if (!isMore) this.#closedMs = monotonicMs()
    onAnchors()
    return true
  }

  /**
   * Whether nothing else is to be sealed now, or some seals wait for long; but for a full batch only once in the time
   * of a grace, because late data comes at any time, and each batch costs a transaction.
   */
  #isBatchDue(isBusy: boolean): boolean {
    const { seals, sinceMs } = this.#open
    if (seals === 0) return false
    if (seals !== Number.POSITIVE_INFINITY && seals >= batchSealsMax) return true
    const nowMs = monotonicMs()
    const isSoon = nowMs - this.#closedMs < this.#needs.graceUs / 1_000
    return !isSoon && (!isBusy || nowMs - sinceMs >= batchWaitMs)
  }

  /** Counts what waits, and tries batches again that were not anchored in time: now and then. */
  async #lookAfter(): Promise<void> {
    const { state, clock, onAnchors } = this.#needs
    const nowMs = monotonicMs()
    if (!this.#isCounted && nowMs - this.#countedMs >= countMs) {
      this.#counts.marks = await countMarks(state)
      this.#isCounted = true
      this.#countedMs = nowMs
    }
    if (!this.#hasBatches || nowMs - this.#retriedMs < retryMs) return
    this.#retriedMs = nowMs
    this.#hasBatches = await haveBatches(state)
    if (this.#hasBatches && (await retryBatches(state, clock)) > 0) onAnchors()
  }
}

/** Streams that have many of these marks. */
function crowdingIn(due: readonly DueMark[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { streamId } of due) counts.set(streamId, (counts.get(streamId) ?? 0) + 1)
  return [...counts].flatMap(([id, count]) => (count > marksOfStreamMax ? [id] : []))
}

interface OpenSeals {
  readonly seals: number
  readonly sinceMs: number
}

function opened({ seals, sinceMs }: OpenSeals, more: number): OpenSeals {
  return { seals: seals + more, sinceMs: seals === 0 ? monotonicMs() : sinceMs }
}

/** Why a stretch could not be read, and how long it waits. */
function problemOf(error: unknown) {
  if (error instanceof TooManyAtOnce) {
    const message = 'too many readings have the same time: they cannot be put in order in memory'
    return { waitUs: longWaitUs, problem: { error: 'too_many_at_once', message } }
  }
  if (!(error instanceof DomainError)) {
    const message = 'the readings could not be read'
    return { waitUs: shortWaitUs, problem: { error: 'store_unavailable', message } }
  }
  const { code, message } = error
  return {
    waitUs: code === 'query_too_slow' ? longWaitUs : shortWaitUs,
    problem: { error: code, message },
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => undefined)
}
