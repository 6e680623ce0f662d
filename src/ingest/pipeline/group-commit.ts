import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Settled } from '../../contracts/connector.ts'
import { aheadUsOf, driftUsMax, receiptAheadUsMax, type StepClocks } from '../../core/clock.ts'
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

/** Room for what is said of time in front of a batch. */
const timesBytes = 256

interface Batch {
  readonly entries: WrittenEntries
  readonly settlements: readonly Settled[]
  readonly times: BatchTimes
}

/** What is known of the clocks at the ends of a batch, in microseconds. */
interface BatchTimes {
  /** When its first entry was written, in steady time. */
  readonly beganUs: number
  /** How far the wall clock was ahead of steady time then, and at its last entry. */
  readonly aheadUs: readonly [number, number]
}

/** What is being written, before it is a batch. */
interface Draft {
  readonly writer: EntryWriter
  settlements: Settled[]
  /** What is known in it of the wall clock: its steps, and how far it is ahead of steady time. */
  steps: number
  aheadUs: number
  /** How far the wall clock was ahead at its first entry, and when that was, in steady time. */
  beganAheadUs: number
  beganUs: number
}

/** A batch that the journal has been asked to keep. */
interface CommittedBatch extends Pick<Batch, 'settlements'> {
  readonly kept: Readonly<KeptReadings>
  /** Since when nobody was heard, in steady time, if it is not kept. */
  readonly unheardSinceUs: number
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
  /** How far the wall clock is ahead of steady time behind what the journal has; NaN where that is not known. */
  #saidAheadUs: number
  /** Since when messages are refused, in steady time, as far as the journal does not say it yet. */
  #unheardSinceUs: number | undefined
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
    this.#saidAheadUs = this.#shared.aheadUs
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
    if (this.#clock !== undefined) followClock(draft, this.#clock)
    write(draft.writer)
    draft.settlements.push(settled)
    if (draft !== this.#shared) return
    if (draft.writer.byteLength >= batchBytes && !this.#isTogether) this.#seal(draft)
    this.#schedule()
  }

  /**
   * Adds entries of a message with this time of receipt by the wall clock. One that came before
   * the clock was set back seems to come from the future when it is repeated: the entries say that
   * it came now.
   */
  addReceived(receivedAtUs: number, write: (writer: EntryWriter) => void, settled: Settled): void {
    const clock = this.#clock
    if (clock === undefined || receivedAtUs - clock.nowUs() <= receiptAheadUsMax) {
      this.add(write, settled)
      return
    }
    this.add((writer) => {
      const steadyUs = clock.steadyUs()
      writer.clock(steadyUs, receivedAtUs)
      write(writer)
      writer.clock(steadyUs, steadyUs + this.#draft.aheadUs)
    }, settled)
  }

  /**
   * Notes that messages are refused for reasons of ours: the next batch begins with an entry that nobody could be
   * heard, so that rules do not take it for silence.
   *
   * @param sinceUs steady time; now unless something else is said
   */
  noteUnheard(sinceUs = this.#clock?.steadyUs()): void {
    if (sinceUs === undefined) return
    this.#unheardSinceUs = Math.min(this.#unheardSinceUs ?? sinceUs, sinceUs)
    // How long that was is not understood without the clock.
    this.#saidAheadUs = Number.NaN
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
      // Entries that were written before are not to be behind it.
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
    const { settlements, beganUs, beganAheadUs, aheadUs } = draft
    this.#sealed.push({
      entries,
      settlements,
      times: { beganUs, aheadUs: [beganAheadUs, aheadUs] },
    })
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

  #commit({ entries: ofBatch, settlements, times }: Batch): void {
    // Empty ones are only waited for.
    const entries = ofBatch.count === 0 ? ofBatch : this.#withTimes(ofBatch, times)
    const { bytes, count, quarantined, filtered, reviewed } = entries
    const unheardSinceUs = Math.min(this.#unheardSinceUs ?? times.beganUs, times.beganUs)
    if (count > 0) this.#unheardSinceUs = undefined
    this.#inFlight++
    const appended = () => this.#journal.append(bytes, count).then(noError, toDomainError)
    const outcome = count === 0 ? Promise.resolve(undefined) : appended()
    const settledBefore = this.#lastSettled
    // Were there several under way, one could fail late: order is kept by the chain.
    const accepted = count - quarantined - reviewed
    const kept = { accepted, filtered, quarantined, reviewed }
    this.#lastSettled = this.#settle({ kept, settlements, unheardSinceUs }, outcome, settledBefore)
  }

  /** In front of a batch stands what its entries are not understood without. */
  #withTimes(entries: WrittenEntries, times: BatchTimes): WrittenEntries {
    if (this.#clock === undefined) return entries
    const [fromAheadUs, toAheadUs] = times.aheadUs
    const isSaid = Math.abs(fromAheadUs - this.#saidAheadUs) <= driftUsMax
    this.#saidAheadUs = toAheadUs
    if (isSaid && this.#unheardSinceUs === undefined) return entries
    const writer = new EntryWriter(timesBytes)
    if (!isSaid) writer.clock(times.beganUs, times.beganUs + fromAheadUs)
    if (this.#unheardSinceUs !== undefined) {
      writer.downtime(this.#unheardSinceUs, this.#clock.steadyUs() + fromAheadUs)
    }
    return joined(writer.take(), entries)
  }

  async #settle(
    { kept, settlements, unheardSinceUs }: CommittedBatch,
    outcome: Promise<DomainError | undefined>,
    settledBefore: Promise<void>,
  ): Promise<void> {
    const error = await outcome
    await settledBefore
    this.#inFlight--
    if (error === undefined) this.#count(kept)
    else this.#noteFailure(error, unheardSinceUs)
    // First, so that the disk is busy while acknowledgements are written.
    this.#commitNext()
    for (const settled of settlements) {
      try {
        settled(error)
      } catch (fault) {
        // A fault of one listener concerns nobody else: the others are told, and the next batch
        // goes on.
        queueMicrotask(() => {
          throw fault
        })
      }
    }
  }

  #count({ accepted, filtered, quarantined, reviewed }: Readonly<KeptReadings>): void {
    if (accepted + quarantined + reviewed > 0) this.#committed++
    this.#kept.accepted += accepted
    this.#kept.filtered += filtered
    this.#kept.quarantined += quarantined
    this.#kept.reviewed += reviewed
  }

  #noteFailure(error: DomainError, unheardSinceUs: number): void {
    // What was said of the clock may be lost with it: it is said again, too.
    if (this.#clock !== undefined) this.noteUnheard(unheardSinceUs)
    if (!error.retryable) this.#failure = error
  }
}

function newDraft(steps = 0, aheadUs = 0): Draft {
  const began = { beganAheadUs: aheadUs, beganUs: 0 }
  return { writer: new EntryWriter(), settlements: [], steps, aheadUs, ...began }
}

/** What comes behind has its times of receipt by the clock as it is set now. */
function followClock(draft: Draft, clock: StepClocks): void {
  const isFirst = draft.settlements.length === 0
  if (draft.steps !== clock.steps) {
    draft.steps = clock.steps
    const aheadUs = aheadUsOf(clock)
    if (Math.abs(aheadUs - draft.aheadUs) > driftUsMax) {
      draft.aheadUs = aheadUs
      const steadyUs = clock.steadyUs()
      if (!isFirst) draft.writer.clock(steadyUs, steadyUs + aheadUs)
    }
  }
  if (!isFirst) return
  draft.beganAheadUs = draft.aheadUs
  draft.beganUs = clock.steadyUs()
}

function joined(first: WrittenEntries, second: WrittenEntries): WrittenEntries {
  const bytes = new Uint8Array(first.bytes.byteLength + second.bytes.byteLength)
  bytes.set(first.bytes)
  bytes.set(second.bytes, first.bytes.byteLength)
  return {
    bytes,
    count: first.count + second.count,
    quarantined: first.quarantined + second.quarantined,
    filtered: first.filtered + second.filtered,
    reviewed: first.reviewed + second.reviewed,
  }
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
