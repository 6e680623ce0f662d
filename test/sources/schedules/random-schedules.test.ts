import { Cron } from 'croner'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scheduleProblem } from '../../../src/streams/data-streams/schedule.ts'
import { CronSchedule } from '../../../src/streams/sources/schedules/cron-schedule.ts'
import { type RandomSchedule, randomSchedule } from '../../support/random-schedules.ts'
import { dueSeconds, ShownTimes } from '../../support/shown-times.ts'

/** Changes of clocks, and how far they go: from the first second after the change on. */
const changes = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z', 60],
  ['Europe/Berlin', '2026-10-25T01:00:00Z', -60],
  ['America/New_York', '2026-03-08T07:00:00Z', 60],
  ['America/New_York', '2026-11-01T06:00:00Z', -60],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z', 30],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z', -30],
  ['America/St_Johns', '2026-03-08T05:30:00Z', 60],
  ['America/St_Johns', '2026-11-01T04:30:00Z', -60],
  // One minute after midnight: back into the day before.
  ['America/St_Johns', '2010-03-14T03:31:00Z', 60],
  ['America/St_Johns', '2010-11-07T02:31:00Z', -60],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z', -60],
  ['Africa/Casablanca', '2026-03-22T02:00:00Z', 60],
  // At midnight: a day begins at one o'clock, another has its last hour twice.
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z', 60],
  ['America/Sao_Paulo', '2018-02-18T02:00:00Z', -60],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z', 120],
  ['Antarctica/Troll', '2026-10-25T01:00:00Z', -120],
  // A whole day is left out.
  ['Pacific/Apia', '2011-12-30T10:00:00Z', 1_440],
  ['Pacific/Apia', '2012-03-31T14:00:00Z', -60],
  ['Asia/Kolkata', '2026-03-29T01:00:00Z', 0],
  ['UTC', '2028-02-29T00:00:00Z', 0],
] as const

const beforeSeconds = 4 * 3_600
const afterSeconds = 5 * 3_600

const windows = changes.map(([zone, instant, minutes]) => {
  const changeSecond = Date.parse(instant) / 1_000
  const shown = new ShownTimes(zone, changeSecond - beforeSeconds, changeSecond + afterSeconds)
  return { zone, changeSecond, minutes, shown }
})

/** A place among them: a counterexample shows all that it is made of. */
const anyPlace = fc.nat(windows.length - 1)

function windowAt(place: number) {
  const window = windows[place]
  if (window === undefined) throw new Error('there are not so many')
  return window
}

/** Seconds from the change on, before or after it, at which runs are begun to be asked for. */
const anyStart = fc.oneof(
  fc.integer({ min: -beforeSeconds, max: afterSeconds - 60 }),
  fc.constantFrom(-3_601, -3_600, -1_801, -1_800, -1, 0, 1, 1_799, 1_800, 3_599, 3_600),
)

/** The next instants at which a schedule is due, as seconds from 1970. */
function nextRuns(schedule: CronSchedule, afterSecond: number, count: number): number[] {
  const runs: number[] = []
  for (let after = afterSecond; runs.length < count; ) {
    const nextUs = schedule.next(after * 1_000_000)
    if (nextUs === undefined) break
    after = nextUs / 1_000_000
    runs.push(after)
  }
  return runs
}

function dueInWindow(schedule: CronSchedule, afterSecond: number, endSecond: number): number[] {
  return nextRuns(schedule, afterSecond, 60).filter((second) => second < endSecond)
}

/**
 * Where croner has the same rules: told to take lists and ranges for fixed times, it still takes the stars and
 * steps of any field of time for hours that pass, and we do so only where all 24 hours are named.
 */
function isAlikeInCroner({ seconds, minutes, hours }: RandomSchedule): boolean {
  const isFixed = ![seconds, minutes, hours].some(({ plainText }) => /[*/]/.test(plainText))
  return isFixed === hours.values.size < 24
}

/** A star with a step in one field of days leaves the other one all its weight with us, as in crontab(5), not in croner. */
function hasDaysAsInCroner({ daysOfMonth, daysOfWeek }: RandomSchedule): boolean {
  if (daysOfMonth.text === '*' || daysOfWeek.text === '*') return true
  return !daysOfMonth.text.startsWith('*') && !daysOfWeek.text.startsWith('*')
}

/** What croner says of as many runs, as seconds from 1970. */
function runsOfCroner(text: string, zone: string, [after, count]: readonly [number, number]) {
  const cron = new Cron(text, { timezone: zone, paused: true, fixedTimeRule: 'no-wildcard' })
  return cron.nextRuns(count, new Date(after * 1_000)).map((date) => date.getTime() / 1_000)
}

const numRuns = 5_000

describe('5,000 random schedules around changes of clocks', () => {
  test.each(windows)('clocks in $zone change by $minutes minutes', ({ shown, minutes }) => {
    const wall = (second: number) => shown.times[second + beforeSeconds]?.wall ?? Number.NaN
    expect(wall(0) - wall(-1) - 1).toBe(minutes * 60)
  })

  test('are due when somebody who looks at the clocks each second would say so', () => {
    let compared = 0
    fc.assert(
      fc.property(randomSchedule, anyPlace, anyStart, (random, place, start) => {
        const { zone, changeSecond, shown } = windowAt(place)
        const after = changeSecond + start
        const schedule = new CronSchedule(random.text, zone)
        const due = dueSeconds(random, shown).filter((second) => second > after)
        compared += Math.min(due.length, 60)
        const endSecond = changeSecond + afterSeconds
        expect(dueInWindow(schedule, after, endSecond)).toEqual(due.slice(0, 60))
      }),
      { numRuns },
    )
    expect(compared).toBeGreaterThan(numRuns)
  })

  test('are due when croner says so, too, where its rules are the same', () => {
    let alike = 0
    fc.assert(
      fc.property(randomSchedule, anyPlace, anyStart, (random, place, start) => {
        const { zone, changeSecond, minutes } = windowAt(place)
        if (!hasDaysAsInCroner(random) || scheduleProblem(random.text) !== undefined) return
        // Croner leaves out hours that are shown again when two of them are, and all of a day that is skipped.
        const isAlike = isAlikeInCroner(random) && Math.abs(minutes) <= 60
        if (!isAlike && minutes !== 0) return
        alike++
        const asked = [changeSecond + start, 30] as const
        const runs = nextRuns(new CronSchedule(random.text, zone), ...asked)
        expect(runs).toEqual(runsOfCroner(random.plainText, zone, asked))
      }),
      { numRuns },
    )
    expect(alike).toBeGreaterThan(numRuns / 4)
  })
})
