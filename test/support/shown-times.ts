import type { RandomSchedule } from './random-schedules.ts'

/** What clocks show in one second. */
export interface ShownTime {
  /** As if these clocks were in UTC: seconds from 1970. */
  readonly wall: number
  readonly second: number
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
}

/** All that the clocks of a zone show in some hours, second by second, as `Intl` tells it. */
export class ShownTimes {
  readonly fromSecond: number
  readonly times: readonly ShownTime[]
  /** Each second that could be shown, with the instant at which it is, or is jumped over, for the first time. */
  readonly reached: readonly { readonly time: ShownTime; readonly atSecond: number }[]

  constructor(zone: string, fromSecond: number, toSecond: number) {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    this.fromSecond = fromSecond
    const times: ShownTime[] = []
    for (let at = fromSecond; at < toSecond; at++) {
      const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
        format.format(at * 1_000).match(/\d+/g) ?? []
      ).map(Number)
      times.push(timeAt(Date.UTC(year, month - 1, day, hour, minute, second) / 1_000))
    }
    this.times = times
    this.reached = reachedIn(times, fromSecond)
  }
}

function timeAt(wall: number): ShownTime {
  const date = new Date(wall * 1_000)
  return {
    wall,
    second: date.getUTCSeconds(),
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  }
}

function reachedIn(times: readonly ShownTime[], fromSecond: number) {
  const shown = new Set<number>()
  const reached: { time: ShownTime; atSecond: number }[] = []
  for (const [index, time] of times.entries()) {
    const atSecond = fromSecond + index
    const before = times[index - 1]?.wall ?? time.wall - 1
    for (let skipped = before + 1; skipped < time.wall; skipped++) {
      if (!shown.has(skipped)) reached.push({ time: timeAt(skipped), atSecond })
      shown.add(skipped)
    }
    if (!shown.has(time.wall)) reached.push({ time, atSecond })
    shown.add(time.wall)
  }
  return reached
}

function fits(schedule: RandomSchedule, time: ShownTime): boolean {
  const { seconds, minutes, hours, daysOfMonth, months, daysOfWeek } = schedule
  if (!seconds.values.has(time.second) || !minutes.values.has(time.minute)) return false
  if (!hours.values.has(time.hour) || !months.values.has(time.month)) return false
  const fitsMonth = daysOfMonth.values.has(time.day)
  const fitsWeek = daysOfWeek.values.has(time.weekday)
  const isEither = daysOfMonth.text[0] !== '*' && daysOfWeek.text[0] !== '*'
  return isEither ? fitsMonth || fitsWeek : fitsMonth && fitsWeek
}

/** When a schedule is due, in seconds from 1970: found by looking at each second. */
export function dueSeconds(schedule: RandomSchedule, shown: ShownTimes): readonly number[] {
  if (schedule.hours.values.size === 24) {
    const due: number[] = []
    for (const [index, time] of shown.times.entries()) {
      if (fits(schedule, time)) due.push(shown.fromSecond + index)
    }
    return due
  }
  const due = new Set<number>()
  for (const { time, atSecond } of shown.reached) if (fits(schedule, time)) due.add(atSecond)
  return [...due]
}
