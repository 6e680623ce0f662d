import type { ScheduleFields } from '../../data-streams/schedule.ts'

const secondUs = 1_000_000
const dayUs = 86_400 * secondUs

/** The 29th of February is the same day of the week after 40 years at the latest: 1900 and 2100 have none. */
const searchedDays = 41 * 366

/**
 * The times that clocks on a wall show when an expression fits. Such a time is written as the microseconds of
 * the instant at which clocks in UTC show it.
 */
export class WallTimes {
  readonly #fields: ScheduleFields

  constructor(fields: ScheduleFields) {
    this.#fields = fields
  }

  /** @returns the first at or behind this one, which is a whole second; nothing when none ever comes */
  next(fromUs: number): number | undefined {
    const fromDay = Math.floor(fromUs / dayUs)
    let day = fromDay
    while (day <= fromDay + searchedDays) {
      const date = new Date((day * dayUs) / 1_000)
      if (!this.#fields.months.includes(date.getUTCMonth() + 1)) {
        day = firstOfNextMonth(date)
        continue
      }
      const fromSecond = day === fromDay ? (fromUs - day * dayUs) / secondUs : 0
      const second = this.#fitsDay(date) ? this.#nextSecond(fromSecond) : undefined
      if (second !== undefined) return day * dayUs + second * secondUs
      day++
    }
    return undefined
  }

  #fitsDay(date: Date): boolean {
    const { daysOfMonth, daysOfWeek, isEitherDay } = this.#fields
    const fitsMonth = daysOfMonth.includes(date.getUTCDate())
    const fitsWeek = daysOfWeek.includes(date.getUTCDay())
    return isEitherDay ? fitsMonth || fitsWeek : fitsMonth && fitsWeek
  }

  /** Seconds of a day, counted from its midnight. */
  #nextSecond(from: number): number | undefined {
    const { seconds, minutes, hours } = this.#fields
    for (const hour of hours) {
      if ((hour + 1) * 3_600 <= from) continue
      for (const minute of minutes) {
        const start = hour * 3_600 + minute * 60
        if (start + 60 <= from) continue
        const second = seconds.find((one) => start + one >= from)
        if (second !== undefined) return start + second
      }
    }
    return undefined
  }
}

function firstOfNextMonth(date: Date): number {
  return (Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) * 1_000) / dayUs
}
