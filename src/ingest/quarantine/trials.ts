import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import { type DataStream, streamVersionOf } from '../../streams/data-streams/data-stream-store.ts'
import { compiledStream } from '../pipeline/stream-directory.ts'
import type { QuarantineFilter, QuarantineStore } from './quarantine-store.ts'
import { redrive } from './redrive.ts'
import { explainedMax, type RedriveResult, type StayingEntry, slice } from './reviews.ts'

/** Trials of all streams at once: each holds a slice in memory. */
const trialsMax = 4

export interface TrialsNeeds {
  readonly quarantine: QuarantineStore
  readonly clock: Clock
}

/** What a redrive would do, by a definition that there may not be yet. Writes nothing. */
export class Trials {
  readonly #needs: TrialsNeeds
  #underWay = 0

  constructor(needs: TrialsNeeds) {
    this.#needs = needs
  }

  /** A paused stream is judged as if it went on. @throws DomainError `overloaded` */
  async run(draft: DataStream, filter: QuarantineFilter): Promise<RedriveResult> {
    if (this.#underWay >= trialsMax) {
      throw new DomainError('overloaded', `${trialsMax} quarantines are being tried`, {
        retryAfter: 1,
      })
    }
    this.#underWay++
    try {
      return await this.#judged(draft, filter)
    } finally {
      this.#underWay--
    }
  }

  async #judged(draft: DataStream, filter: QuarantineFilter): Promise<RedriveResult> {
    const { quarantine, clock } = this.#needs
    const stream = compiledStream(streamVersionOf({ ...draft, isPaused: false }))
    const result = { redriven: 0, accepted: 0, remaining: 0 }
    const stillRefused: StayingEntry[] = []
    for (let after = -1, hasMore = true; hasMore; ) {
      const page = await quarantine.page(draft.id, filter, { after, limits: slice })
      for (const held of page.entries) {
        // Each may take some milliseconds, and others have a turn in between.
        await nextTurn()
        const { accepted, refusal } = redrive(stream, held, clock.nowUs())
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
      after = page.entries.at(-1)?.id ?? after
      hasMore = page.hasMore
    }
    return { ...result, stillRefused }
  }
}
