import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { monotonicMs } from '../../core/clock.ts'
import { race } from '../../core/race.ts'
import type { JournalBatch, JournalReader, Offset } from '../../storage/journal/journal.ts'
import type { JournalHead } from '../../storage/journal/journal-head.ts'
import { EntryFormatError } from './entry.ts'

/** Waits between attempts after a failure: doubled each time, up to the longest. */
const retryMsFirst = 100
const retryMsMax = 5_000

/** A follower of the journal with a position of its own. */
export interface Consumer {
  readonly name: string
  /** About how many entries it would handle together now, where its pace would give it fewer. */
  readonly entriesWanted?: number
  /** Whether somebody waits for what follows from the entries that it handles. */
  readonly isUrgent?: boolean
  position(): Offset
  /** Where it wants to read now: at its position, or before it, to do something again. */
  readsFrom?(): Offset
  /** Whether it has something to do that needs no entry. */
  readonly wantsTurn?: boolean
  /** Resolves when it has something to do, whether or not there are entries. One may wait at a time. */
  untilWoken?(): Promise<void> | undefined
  /**
   * Handles batches that begin at the position, and moves it past them, in one transaction. Safe to
   * be repeated after any failure.
   */
  handle(batches: readonly JournalBatch[]): Promise<void>
}

export interface ConsumerPace {
  /** About how many entries are handled together. */
  readonly entriesMax: number
  /**
   * Shortest time between the starts of two rounds, unless a full one waits: small transactions cost as much as large.
   */
  readonly intervalMs: number
  /** Shortest time between two starts while the work of the consumer is urgent. */
  readonly urgentIntervalMs?: number
  /**
   * Share of the time that it may work as long as less than a full round waits for it: it then finds
   * more for each round. All of the time when nothing is said.
   */
  readonly shareMax?: number
  /** Share of the time while the work of the consumer is urgent. */
  readonly urgentShareMax?: number
  /** The longest rest, however long a round was. */
  readonly restMsMax?: number
  /** The longest rest while the work of the consumer is urgent: a round may be about thousands of timers at once. */
  readonly urgentRestMsMax?: number
}

export interface ConsumerStatus {
  readonly position: Offset
  /** The problem that it has now, or nothing. */
  readonly problem: string | undefined
}

export interface ConsumerLoopNeeds {
  readonly consumer: Consumer
  readonly reader: JournalReader
  readonly head: JournalHead
  readonly pace: ConsumerPace
}

/** Drives one consumer along the journal until it is told to stop. */
export class ConsumerLoop {
  readonly #needs: ConsumerLoopNeeds
  /** How many entries the last round handled, and whether it left some of what was there and wanted. */
  #lastRound = { entries: 0, isCut: false }
  #problem: string | undefined
  #moved = Promise.withResolvers<void>()

  constructor(needs: ConsumerLoopNeeds) {
    this.#needs = needs
  }

  status(): ConsumerStatus {
    return { position: this.#needs.consumer.position(), problem: this.#problem }
  }

  /** Resolves when the position is at or past an offset; the signal gives up waiting. */
  async reaches(offset: Offset, signal: AbortSignal): Promise<void> {
    while (this.#needs.consumer.position() < offset && !signal.aborted) {
      const aborted = new Promise((resolve) => {
        signal.addEventListener('abort', resolve, { once: true })
      })
      await race([this.#moved.promise, aborted])
    }
  }

  async run(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    let retryMs = retryMsFirst
    while (!signal.aborted) {
      const startedMs = monotonicMs()
      try {
        const handled = await this.#round()
        this.#problem = undefined
        retryMs = retryMsFirst
        if (handled) await this.#rest(startedMs, signal)
        else await this.#untilMore(signal)
      } catch (error) {
        this.#problem = this.#describe(error)
        onFailure(error)
        await pause(retryMs, signal)
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** What may be shown to anybody: a database's message could quote a reading. */
  #describe(error: unknown): string {
    if (error instanceof EntryFormatError) return error.message
    return `the ${this.#needs.consumer.name} fails and tries again: the log says why`
  }

  async #round(): Promise<boolean> {
    const { consumer, reader, head } = this.#needs
    const position = consumer.position()
    const wanted = this.#entriesWanted()
    const there = head.offset - position
    const batches = reader.read(consumer.readsFrom?.() ?? position, wanted)
    if (batches.length === 0 && !consumer.wantsTurn) return false
    await consumer.handle(batches)
    const entries = consumer.position() - position
    this.#lastRound = { entries, isCut: entries < Math.min(wanted, there) }
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
    return true
  }

  async #untilMore(signal: AbortSignal): Promise<void> {
    const { consumer, head } = this.#needs
    const more = head.reaches(consumer.position(), signal)
    const woken = consumer.untilWoken?.()
    await (woken ? race([more, woken]) : more)
  }

  async #rest(startedMs: number, signal: AbortSignal): Promise<void> {
    const { consumer, pace } = this.#needs
    const workedMs = monotonicMs() - startedMs
    const { isUrgent = false, wantsTurn = false } = consumer
    const round = { workedMs, isUrgent, isNextFull: this.#isNextFull(), wantsTurn }
    const restMs = restAfter(round, pace)
    // Others who share the thread have their turn, however much waits.
    await (restMs > 0 ? pause(restMs, signal) : turn())
  }

  /** Large entries, or such that lie far apart, make a full round before as many wait as are wanted. */
  #isNextFull(): boolean {
    const { consumer, head } = this.#needs
    const { entries, isCut } = this.#lastRound
    // It waits for something else than entries.
    if (entries === 0) return false
    const full = isCut ? entries : this.#entriesWanted()
    return head.offset - consumer.position() >= full
  }

  #entriesWanted(): number {
    const { consumer, pace } = this.#needs
    return Math.max(pace.entriesMax, consumer.entriesWanted ?? 0)
  }
}

/**
 * A journal that ends before a consumer's position is not the one that the consumer followed: new
 * entries would get offsets that it takes for done, and would be skipped.
 */
export function assertJournalReaches(head: Offset, consumers: readonly Consumer[]): void {
  for (const consumer of consumers) {
    const position = consumer.position()
    if (position <= head) continue
    throw new Error(
      `the journal ends at ${head}, but the ${consumer.name} has come to ${position}: put back the journal.db that belongs to this data folder`,
    )
  }
}

/** What a round was like. */
export interface Round {
  readonly workedMs: number
  /** Whether as much waits after it as is handled together. */
  readonly isNextFull: boolean
  readonly isUrgent: boolean
  /** Whether there is something to do after it that needs no entry. */
  readonly wantsTurn: boolean
}

/** Milliseconds until the next round may begin. */
export function restAfter(
  { workedMs, isNextFull, isUrgent, wantsTurn }: Round,
  {
    intervalMs,
    urgentIntervalMs = intervalMs,
    shareMax = 1,
    urgentShareMax = shareMax,
    restMsMax = Number.POSITIVE_INFINITY,
    urgentRestMsMax = restMsMax,
  }: ConsumerPace,
): number {
  if (isNextFull) return 0
  const usualShare = isUrgent ? urgentShareMax : shareMax
  const share = wantsTurn ? 1 : usualShare
  const shortestMs = isUrgent ? urgentIntervalMs : intervalMs
  const longestMs = isUrgent ? urgentRestMsMax : restMsMax
  return Math.max(0, shortestMs - workedMs, Math.min(longestMs, workedMs / share - workedMs))
}

/** A pause that ends early, and without an error, when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
