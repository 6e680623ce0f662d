import { zoneSegments } from '../../../storage/time-series/zones.ts'
import { parseSchedule } from '../../data-streams/schedule.ts'
import { WallTimes } from './wall-times.ts'

const secondUs = 1_000_000
const hourUs = 3_600 * secondUs

/** Clocks of zones differ from each other, and from what they have shown before, by no more than this. */
const differenceUs = 27 * hourUs

/**
 * When a cron expression is due, by the clocks of a time zone. On the days on which these are
 * changed there are two kinds of schedules, as in cron(8):
 *
 * - One for certain hours is due once for each time that its expression names. A time that the clocks skip is
 *   due when they go on; of one that they show twice, the first is due.
 * - One for all of the 24 hours is due in each hour that passes, whatever it is called: whenever the clocks show
 *   a time that fits. It makes up for nothing, as its next hour is about to come.
 */
export class CronSchedule {
  readonly #times: WallTimes
  readonly #zone: string
  readonly #isEveryHour: boolean

  /**
   * @param expression one in which `scheduleProblem` finds no problem
   * @param zone a name that `Intl` knows
   */
  constructor(expression: string, zone: string) {
    const fields = parseSchedule(expression)
    this.#times = new WallTimes(fields)
    this.#zone = zone
    this.#isEveryHour = fields.hours.length === 24
  }

  /** The next instant at which it is due, after this one; nothing when none ever comes. */
  next(afterUs: number): number | undefined {
    const fromUs = (Math.floor(afterUs / secondUs) + 1) * secondUs
    return this.#isEveryHour ? this.#nextShown(fromUs) : this.#nextReached(fromUs)
  }

  /** The first instant from this one on at which the clocks show a time that fits. */
  #nextShown(fromUs: number): number | undefined {
    for (let atUs = fromUs; ; ) {
      const [segment] = zoneSegments(this.#zone, atUs, atUs + 1)
      if (segment === undefined) return undefined
      const timeUs = this.#times.next(atUs + segment.offsetUs)
      if (timeUs === undefined) return undefined
      const dueUs = timeUs - segment.offsetUs
      if (dueUs < segment.toUs) return dueUs
      // The clocks change before. Right after that they may show again what they have shown; later they do not.
      const isFar = segment.toUs - atUs > differenceUs
      atUs = isFar ? Math.max(segment.toUs, dueUs - differenceUs) : segment.toUs
    }
  }

  /** The first instant from this one on at which the clocks reach or skip a time that fits for the first time. */
  #nextReached(fromUs: number): number | undefined {
    let unreachedUs = Number.NEGATIVE_INFINITY
    for (const segment of zoneSegments(this.#zone, fromUs - differenceUs, fromUs)) {
      const toUs = Math.min(segment.toUs, fromUs)
      unreachedUs = Math.max(unreachedUs, toUs + segment.offsetUs)
    }
    const timeUs = this.#times.next(unreachedUs)
    if (timeUs === undefined) return undefined
    for (const segment of zoneSegments(this.#zone, timeUs - differenceUs, timeUs + differenceUs)) {
      const dueUs = Math.max(segment.fromUs, timeUs - segment.offsetUs)
      if (dueUs < segment.toUs) return dueUs
    }
    return undefined
  }
}
