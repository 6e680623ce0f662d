import { createHash } from 'node:crypto'
import type { StreamId } from '../../../core/ids.ts'
import type { CronSchedule } from './cron-schedule.ts'

/** Times that have passed are counted up to this: there may have been one a second for years. */
const countedMax = 1_000

/** When a round is due, and when it begins. */
export interface RoundTime {
  readonly dueUs: number
  readonly startUs: number
}

/** Rounds whose time to begin has passed. */
export interface PassedRounds {
  readonly count: number
  readonly first: RoundTime
  /** Nothing that was due up to here is still to come. */
  readonly upToUs: number
}

export interface RoundTimesNeeds {
  readonly schedule: CronSchedule
  readonly jitterUs: number
  readonly streamId: StreamId
}

/**
 * When the rounds of a source begin. Jitter has each of them begin later than it is due, so that many sources of
 * one schedule do not come all at once: by the same part of the jitter each time, which is that of the stream,
 * and always before the next round is due.
 */
export class RoundTimes {
  readonly #needs: RoundTimesNeeds
  /** Part of the jitter that is the stream's, in [0, 1). */
  readonly #part: number

  constructor(needs: RoundTimesNeeds) {
    this.#needs = needs
    this.#part = createHash('sha256').update(needs.streamId).digest().readUInt32BE() / 2 ** 32
  }

  /** The next one that is due after this instant. */
  next(afterUs: number): RoundTime | undefined {
    const { schedule, jitterUs } = this.#needs
    const dueUs = schedule.next(afterUs)
    if (dueUs === undefined) return undefined
    if (jitterUs === 0) return { dueUs, startUs: dueUs }
    const gapUs = (schedule.next(dueUs) ?? Number.POSITIVE_INFINITY) - dueUs
    return { dueUs, startUs: dueUs + Math.floor(this.#part * Math.min(jitterUs, gapUs)) }
  }

  /** How far the next two that are due after this instant are apart. */
  periodUs(afterUs: number): number {
    const { schedule } = this.#needs
    const next = schedule.next(afterUs)
    const later = next === undefined ? undefined : schedule.next(next)
    return later === undefined || next === undefined ? Number.MAX_SAFE_INTEGER : later - next
  }

  /**
   * Counts rounds that were due after one instant, and should have begun by another; nothing when
   * there is none.
   */
  passed(afterUs: number, nowUs: number): PassedRounds | undefined {
    const first = this.next(afterUs)
    if (first === undefined || first.startUs > nowUs) return undefined
    let last = first
    for (let count = 1; count < countedMax; count++) {
      const next = this.next(last.dueUs)
      if (next === undefined || next.startUs > nowUs) return { count, first, upToUs: last.dueUs }
      last = next
    }
    return { count: countedMax, first, upToUs: nowUs }
  }
}
