import type { CompiledStream } from '../../contracts/reading.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import type { EntryWriter } from '../pipeline/entry-writer.ts'
import type { GroupCommit } from '../pipeline/group-commit.ts'
import type { QuarantineFilter, QuarantineStore } from './quarantine-store.ts'
import { redrive } from './redrive.ts'

/** What is judged in one go; while it is being committed others have their turn. */
export const slice = { entries: 200, payloadBytes: 1024 * 1024 }

/** Reviews of all streams at once: each holds a slice in memory. */
const reviewsMax = 8

/** Entries that stay of which the answer says why. */
export const explainedMax = 100

/** Times to wait for the decider (2 s each) before giving up. */
const waitsMax = 5

/** Why an entry stays in the quarantine. */
export interface StayingEntry {
  readonly id: number
  readonly reason: string
  readonly message: string
  readonly remedy: string
  readonly details: readonly ErrorDetail[]
}

export interface RedriveResult {
  /** Entries that have left the quarantine, and the readings in them that fit now. */
  readonly redriven: number
  readonly accepted: number
  readonly remaining: number
  /** The first of those that remain. */
  readonly stillRefused: readonly StayingEntry[]
}

export interface ReviewsNeeds {
  readonly quarantine: QuarantineStore
  readonly commits: Pick<GroupCommit, 'add' | 'assertReady'>
  readonly directory: { find(id: StreamId): Promise<CompiledStream | undefined> }
  readonly processing: {
    /** Resolves with whether all that is acknowledged by now has been decided. */
    caughtUp(): Promise<boolean>
  }
  readonly clock: Clock
}

/**
 * What people do with refused readings: judge them again, or delete them.
 *
 * Either is written to the journal and nowhere else, so that it is as durable as a reading and follows
 * it in every replay. The decider makes it so. A review begins when the decider has seen all that was
 * written before, and there is one at a time for each stream: no entry is named twice, not even when
 * a review was cut off and is asked for again.
 */
export class Reviews {
  readonly #needs: ReviewsNeeds
  readonly #underWay = new Map<StreamId, Promise<unknown>>()
  readonly #stopping = new AbortController()

  constructor(needs: ReviewsNeeds) {
    this.#needs = needs
  }

  /**
   * Judges the entries that match by the newest version of the stream.
   *
   * @throws DomainError `stream_paused`, `conflict` while the stream has another review,
   *   `overloaded`, or why the journal takes no more: what was judged by then is redriven, and the
   *   rest can be asked for again
   */
  async redrive(streamId: StreamId, filter: QuarantineFilter): Promise<RedriveResult> {
    return await this.#alone(streamId, async (stream) => {
      assertOpen(stream)
      const entries = await this.#needs.quarantine.ids(streamId, filter)
      return await this.#redriveUpTo(entries.at(-1) ?? -1, stream, filter)
    })
  }

  /**
   * Deletes the entries that match. Resolves with how many there were.
   *
   * @throws DomainError as `redrive`
   */
  async remove(streamId: StreamId, filter: QuarantineFilter): Promise<number> {
    return await this.#alone(streamId, async (stream) => {
      const ids = await this.#needs.quarantine.ids(streamId, filter)
      if (ids.length === 0) return 0
      const nowUs = this.#needs.clock.nowUs()
      await this.#durable((writer) => writer.removed(stream, ids, nowUs))
      return ids.length
    })
  }

  /** Ends reviews under way after their slice; resolves when none is left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled(this.#underWay.values())
  }

  async #redriveUpTo(
    last: number,
    stream: CompiledStream,
    filter: QuarantineFilter,
  ): Promise<RedriveResult> {
    const { quarantine, clock } = this.#needs
    const result = { redriven: 0, accepted: 0, remaining: 0 }
    const stillRefused: StayingEntry[] = []
    let after = -1
    while (after < last) {
      this.#assertRunning()
      const range = { after, last, limits: slice }
      const { entries } = await quarantine.page(stream.streamId, filter, range)
      // Nothing may come into a stream that was deleted or paused meanwhile.
      assertOpen(await this.#found(stream.streamId))
      const redrives = entries.map((held) => redrive(stream, held, clock.nowUs()))
      await this.#durable((writer) => {
        for (const { write } of redrives) write(writer)
      })
      for (const { held, accepted, refusal } of redrives) {
        result.accepted += accepted
        if (refusal === undefined) result.redriven++
        else {
          result.remaining++
          const { reason, message, details } = refusal
          if (stillRefused.length < explainedMax) {
            stillRefused.push({
              id: held.id,
              reason,
              message,
              remedy: refusalRemedy(reason),
              details,
            })
          }
        }
      }
      after = entries.at(-1)?.id ?? last
    }
    return { ...result, stillRefused }
  }

  async #alone<Value>(
    streamId: StreamId,
    work: (stream: CompiledStream) => Promise<Value>,
  ): Promise<Value> {
    this.#assertRunning()
    if (this.#underWay.has(streamId)) {
      throw conflict(
        'the quarantine of the stream is under review already',
        'Wait until the other redrive or deletion of this quarantine has ended, then try again; GET /streams/{streamId}/quarantine/summary shows what is left.',
      )
    }
    if (this.#underWay.size >= reviewsMax) {
      throw new DomainError('overloaded', `${reviewsMax} quarantines are under review`, {
        retryAfter: 1,
      })
    }
    const review = this.#review(streamId, work)
    this.#underWay.set(streamId, review)
    try {
      return await review
    } finally {
      this.#underWay.delete(streamId)
    }
  }

  async #review<Value>(
    streamId: StreamId,
    work: (stream: CompiledStream) => Promise<Value>,
  ): Promise<Value> {
    await this.#decided()
    const value = await work(await this.#found(streamId))
    await this.#decided()
    return value
  }

  /** @throws DomainError `not_found` */
  async #found(streamId: StreamId): Promise<CompiledStream> {
    const stream = await this.#needs.directory.find(streamId)
    if (!stream) throw notFound('stream', streamId)
    return stream
  }

  async #decided(): Promise<void> {
    for (let wait = 0; wait < waitsMax; wait++) {
      if (await this.#needs.processing.caughtUp()) return
      this.#assertRunning()
    }
    throw new DomainError('overloaded', 'what was received before is not counted yet', {
      retryAfter: 5,
    })
  }

  /** Resolves when what is written is on disk. @throws DomainError when it is not */
  async #durable(write: (writer: EntryWriter) => void): Promise<void> {
    const { commits } = this.#needs
    commits.assertReady()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    commits.add(write, (error) => (error === undefined ? resolve() : reject(error)))
    await promise
  }

  #assertRunning(): void {
    if (!this.#stopping.signal.aborted) return
    throw new DomainError('overloaded', 'the service is stopping', { retryAfter: 5 })
  }
}

function assertOpen({ isPaused }: CompiledStream): void {
  if (isPaused) throw new DomainError('stream_paused', 'the stream is paused')
}
