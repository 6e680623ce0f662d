import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Settled } from '../../contracts/connector.ts'
import { aheadUsOf, driftUsMax, type StepClocks } from '../../core/clock.ts'
import { DomainError, messageOf } from '../../core/errors.ts'
import type { Journal } from '../../storage/journal/journal.ts'
import { EntryWriter, type WrittenEntries } from './entry-writer.ts'

/** A batch is closed when it has this many bytes, so that no consumer has to hold a huge one. */
const batchBytes = 1024 * 1024

/**
 * Commits under way at once. A second one would keep the disk busier, but with half of the readings
 * in each: what a commit costs beside the disk (messages between threads, a write to each client)
 * outweighs that.
 */
const commitsInFlightMax = 1

/** Entries that wait for the journal may take this much memory; beyond it intake refuses. */
const waitingBytesMax = 64 * 1024 * 1024

interface Batch {
  readonly entries: WrittenEntries
  readonly settlements: readonly Settled[]
}

/** What is being written, before it is a batch. */
interface Draft {
  readonly writer: EntryWriter
  settlements: Settled[]
  /** What is known in it of the wall clock: its steps, and how far it is ahead of steady time. */
  steps: number
  aheadUs: number
}

interface KeptReadings {
  /** Filtered ones as well. */
  accepted: number
  filtered: number
  quarantined: number
  /** Entries about readings that had come before, which are neither. */
  reviewed: number
}

/**
 * Collects what arrives while the disk is busy and commits it together.
 *
 * It never waits on a timer: what has queued up goes as soon as a commit is free, so one lonely
 * reading pays for one fsync and a thousand at once share it.
 */
export class GroupCommit {
  readonly #journal: Journal
  readonly #clock: StepClocks | undefined
  readonly #shared: Draft
  /** Drafts that are written in several turns. */
  readonly #apart = new Set<Draft>()
  /** Where entries go now. */
  #draft: Draft
  readonly #sealed: Batch[] = []
  #sealedBytes = 0
  #inFlight = 0
  #committed = 0
  readonly #kept = { accepted: 0, filtered: 0, quarantined: 0, reviewed: 0 }
  #failure: DomainError | undefined
  #isScheduled = false
  #isHeld = false
  #isTogether = false
  #lastSettled: Promise<void> = Promise.resolve()

  /** @param clock by which times of receipt are given: when it is set, the journal says so */
  constructor(journal: Journal, clock?: StepClocks) {
    this.#journal = journal
    this.#clock = clock
    this.#shared = newDraft(clock?.steps, clock && aheadUsOf(clock))
    this.#draft = this.#shared
  }

  /** Bytes of entries that wait to be handed to the journal. */
  get waitingBytes(): number {
    let bytes = this.#sealedBytes + this.#shared.writer.byteLength
    for (const { writer } of this.#apart) bytes += writer.byteLength
    return bytes
  }

  /** Batches that are on disk. */
  get committed(): number {
    return this.#committed
  }

  /**
   * Readings that are on disk since the start, by verdict. What failed was not received
   * (decisions.md#counters-of-a-stream).
   */
  get kept(): Readonly<KeptReadings> {
    return this.#kept
  }

  /** Why nothing will be accepted any more, or nothing. A failure that may pass is none. */
  get failure(): DomainError | undefined {
    return this.#failure
  }

  /** @throws DomainError `journal_unavailable`, or `overloaded` when too much waits already */
  assertReady(): void {
    if (this.#failure) throw this.#failure
    if (this.waitingBytes > waitingBytesMax) {
      throw new DomainError('overloaded', 'too many readings wait for the disk', { retryAfter: 1 })
    }
  }

  /** Writes entries, and settles once they, and all that was written before, are durable. */
  add(write: (writer: EntryWriter) => void, settled: Settled): void {
    const draft = this.#draft
    if (this.#clock !== undefined && draft.steps !== this.#clock.steps) noteStep(draft, this.#clock)
    write(draft.writer)
    draft.settlements.push(settled)
    if (draft !== this.#shared) return
    if (draft.writer.byteLength >= batchBytes && !this.#isTogether) this.#seal(draft)
    this.#schedule()
  }

  /** What the work adds becomes durable in one batch, or not at all, however much it is. */
  together(work: () => void): void {
    this.#isTogether = true
    try {
      work()
    } finally {
      this.#isTogether = false
      if (this.#shared.writer.byteLength >= batchBytes) this.#seal(this.#shared)
    }
  }

  /**
   * Work that takes long becomes durable in one batch, too: others get a turn between its steps. When
   * one fails, nothing of the work becomes durable, and nothing of it is settled.
   */
  async togetherInTurns(steps: Iterable<() => void>): Promise<void> {
    const draft = newDraft(this.#shared.steps, this.#shared.aheadUs)
    this.#apart.add(draft)
    try {
      for (const step of steps) {
        this.#draft = draft
        try {
          step()
        } finally {
          this.#draft = this.#shared
        }
        await nextTurn()
      }
      // Whatever was written before is not behind it.
      if (this.#shared.settlements.length > 0) this.#seal(this.#shared)
      this.#seal(draft)
    } finally {
      this.#apart.delete(draft)
    }
    this.#schedule()
  }

  /** Resolves when everything that was added before is settled. */
  async drain(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.add(nothing, () => resolve())
    await promise
  }

  /**
   * Does something while nothing is being committed, and nothing can be: what the journal has is what
   * everybody was told. Readings wait meanwhile, so it has to be a matter of milliseconds.
   */
  async between<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isHeld) throw new Error('the journal is held already')
    this.#isHeld = true
    try {
      await this.#lastSettled
      return await work()
    } finally {
      this.#isHeld = false
      this.#commitNext()
    }
  }

  /** At the end of the turn of the event loop, so that all its sockets contribute. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#commitNext()
    })
  }

  #seal(draft: Draft): void {
    const entries = draft.writer.take()
    this.#sealed.push({ entries, settlements: draft.settlements })
    this.#sealedBytes += entries.bytes.byteLength
    draft.settlements = []
  }

  #commitNext(): void {
    while (this.#inFlight < commitsInFlightMax && !this.#isHeld) {
      if (this.#sealed.length === 0 && this.#shared.settlements.length > 0) this.#seal(this.#shared)
      const batch = this.#sealed.shift()
      if (batch === undefined) return
      this.#sealedBytes -= batch.entries.bytes.byteLength
      this.#commit(batch)
    }
  }

  #commit({ entries, settlements }: Batch): void {
    const { bytes, count, quarantined, filtered, reviewed } = entries
    this.#inFlight++
    const outcome =
      count === 0
        ? Promise.resolve(undefined)
        : this.#journal.append(bytes, count).then(noError, toDomainError)
    const settledBefore = this.#lastSettled
    // Were there several under way, one could fail late: order is kept by the chain.
    const accepted = count - quarantined - reviewed
    const kept = { accepted, filtered, quarantined, reviewed }
    this.#lastSettled = this.#settle({ kept, settlements }, outcome, settledBefore)
  }

  async #settle(
    { kept, settlements }: Pick<Batch, 'settlements'> & { readonly kept: Readonly<KeptReadings> },
    outcome: Promise<DomainError | undefined>,
    settledBefore: Promise<void>,
  ): Promise<void> {
    const error = await outcome
    await settledBefore
    this.#inFlight--
    this.#note(error, kept)
    // First, so that the disk is busy while acknowledgements are written.
    this.#commitNext()
    for (const settled of settlements) {
      try {
        settled(error)
      } catch (fault) {
        // Of whoever was to be told, and of nobody else: the others are told, and the next batch goes on.
        queueMicrotask(() => {
          throw fault
        })
      }
    }
  }

  #note(error: DomainError | undefined, kept: Readonly<KeptReadings>): void {
    if (error === undefined) {
      const { accepted, filtered, quarantined, reviewed } = kept
      if (accepted + quarantined + reviewed > 0) this.#committed++
      this.#kept.accepted += accepted
      this.#kept.filtered += filtered
      this.#kept.quarantined += quarantined
      this.#kept.reviewed += reviewed
    } else {
      // What was said of the clock may be lost with it.
      this.#shared.aheadUs = Number.NaN
      this.#shared.steps = -1
      if (!error.retryable) this.#failure = error
    }
  }
}

function newDraft(steps = 0, aheadUs = 0): Draft {
  return { writer: new EntryWriter(), settlements: [], steps, aheadUs }
}

/** What comes behind has its times of receipt by the clock as it is set now. */
function noteStep(draft: Draft, clock: StepClocks): void {
  draft.steps = clock.steps
  const aheadUs = aheadUsOf(clock)
  if (Math.abs(aheadUs - draft.aheadUs) <= driftUsMax) return
  draft.aheadUs = aheadUs
  const steadyUs = clock.steadyUs()
  draft.writer.clock(steadyUs, steadyUs + aheadUs)
}

/** Writes no entry: what settles with it only waits for its turn. */
export function nothing(): void {}

function noError(): undefined {
  return undefined
}

function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  return new DomainError('journal_unavailable', messageOf(error), { cause: error })
}
