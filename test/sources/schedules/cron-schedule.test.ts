import { Cron } from 'croner'
import { describe, expect, test } from 'vitest'
import { CronSchedule } from '../../../src/streams/sources/schedules/cron-schedule.ts'

/** All runs of a schedule in a stretch of time, its first instant included, as in an ISO 8601 text. */
function runs(expression: string, zone: string, [from, to]: readonly [string, string]): string[] {
  const schedule = new CronSchedule(expression, zone)
  const found: string[] = []
  const endUs = Date.parse(to) * 1_000
  for (
    let atUs = schedule.next(Date.parse(from) * 1_000 - 1);
    atUs !== undefined && atUs < endUs;
  ) {
    found.push(new Date(atUs / 1_000).toISOString().replace('.000', ''))
    atUs = schedule.next(atUs)
  }
  return found
}

/** In Berlin: 02:00 is 03:00, at 01:00 UTC. */
const spring = ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'] as const
/** In Berlin: 03:00 is 02:00 once more, at 01:00 UTC. */
const autumn = ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'] as const

describe('the days on which clocks change', () => {
  test.each([
    // A time that does not exist: right when the clocks go on.
    ['30 2 * * *', spring, ['2026-03-29T01:00:00Z']],
    // All times of the hour that does not exist are one.
    ['*/15 2 * * *', spring, ['2026-03-29T01:00:00Z']],
    // It falls together with what is due then anyway.
    ['0 2,3 * * *', spring, ['2026-03-29T01:00:00Z']],
    ['30 2,3 * * *', spring, ['2026-03-29T01:00:00Z', '2026-03-29T01:30:00Z']],
    ['0 3 * * *', spring, ['2026-03-29T01:00:00Z']],
    // A time that there is twice: the first.
    ['30 2 * * *', autumn, ['2026-10-25T00:30:00Z']],
    ['0 2,3 * * *', autumn, ['2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z']],
    ['*/30 2 * * *', autumn, ['2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z']],
    ['0 3 * * *', autumn, ['2026-10-25T02:00:00Z']],
  ] as const)('%s in Berlin', (expression, day, expected) => {
    expect(runs(expression, 'Europe/Berlin', day)).toEqual(expected)
  })

  test.each([
    ['0 * * * *', spring, 23],
    ['0 * * * *', autumn, 25],
    ['*/15 * * * *', spring, 92],
    ['*/15 * * * *', autumn, 100],
    ['30 0 0-23 * * *', autumn, 25],
    ['* * * * * *', autumn, 90_000],
    // Not each hour: two o'clock is named once.
    ['0 */2 * * *', spring, 12],
    ['0 */2 * * *', autumn, 12],
  ] as const)('%s runs in the real hours of %j: %i times', (expression, day, count) => {
    expect(runs(expression, 'Europe/Berlin', day)).toHaveLength(count)
  })

  test('a day that was left out is made up for when the next one begins', () => {
    const around = ['2011-12-29T00:00:00Z', '2012-01-01T00:00:00Z'] as const
    expect(runs('0 12 30 12 *', 'Pacific/Apia', around)).toEqual(['2011-12-30T10:00:00Z'])
  })

  test('croner takes a step or star of any field of time for hours that pass', () => {
    const options = {
      timezone: 'Europe/Berlin',
      paused: true,
      fixedTimeRule: 'no-wildcard',
    } as const
    const ofCroner = (expression: string, [from]: readonly [string, string]) =>
      new Cron(expression, options).nextRun(new Date(from))?.toISOString()
    // It leaves out what is skipped, though there is none in the next hour.
    expect(ofCroner('*/15 2 * * *', spring)).toBe('2026-03-30T00:00:00.000Z')
    expect(ofCroner('0 2-23/21 * * *', spring)).toBe('2026-03-29T21:00:00.000Z')
    expect(runs('0 2-23/21 * * *', 'Europe/Berlin', spring)[0]).toBe('2026-03-29T01:00:00Z')
    // And takes 0-23 for certain hours, which leaves out one that passes.
    const cron = new Cron('0 0-23 * * *', options)
    expect(cron.nextRun(new Date('2026-10-25T00:00:00Z'))?.toISOString()).toBe(
      '2026-10-25T02:00:00.000Z',
    )
    expect(runs('0 0-23 * * *', 'Europe/Berlin', autumn)).toHaveLength(25)
  })
})

describe('days', () => {
  const july = ['2026-07-01T00:00:00Z', '2026-08-01T00:00:00Z'] as const
  const daysOf = (expression: string) =>
    runs(expression, 'UTC', july).map((run) => Number(run.slice(8, 10)))

  test('that are restricted in both fields need fit one of them', () => {
    expect(daysOf('0 0 13 * FRI')).toEqual([3, 10, 13, 17, 24, 31])
  })

  test('that are restricted in one field fit that one', () => {
    expect(daysOf('0 0 * * FRI')).toEqual([3, 10, 17, 24, 31])
    expect(daysOf('0 0 13 * *')).toEqual([13])
  })

  test('have to fit both fields where one of them begins with a star, as in crontab(5)', () => {
    expect(daysOf('0 0 */2 * FRI')).toEqual([3, 17, 31])
  })

  test('are Sundays as 0 and as 7, alone and in ranges', () => {
    expect(daysOf('0 0 * * 7')).toEqual([5, 12, 19, 26])
    expect(daysOf('0 0 * * 0')).toEqual([5, 12, 19, 26])
    expect(daysOf('0 0 * * 6-7')).toEqual([4, 5, 11, 12, 18, 19, 25, 26])
  })
})

describe('what is due', () => {
  test('is strictly after the instant, also within a second', () => {
    const schedule = new CronSchedule('* * * * * *', 'UTC')
    expect(schedule.next(10_000_000)).toBe(11_000_000)
    expect(schedule.next(10_999_999)).toBe(11_000_000)
    expect(schedule.next(9_999_999)).toBe(10_000_000)
  })

  test.each(['0 0 29 2 *', '* * 29 2 *'])('%s is found years ahead', (expression) => {
    const schedule = new CronSchedule(expression, 'Europe/Berlin')
    const nextUs = schedule.next(Date.parse('2096-03-01T00:00:00Z') * 1_000) ?? 0
    expect(new Date(nextUs / 1_000).toISOString()).toBe('2104-02-28T23:00:00.000Z')
  })

  test('can be 40 years ahead', () => {
    const onSunday = new CronSchedule('0 0 29 2 */7', 'UTC')
    const nextUs = onSunday.next(Date.parse('2088-03-01T00:00:00Z') * 1_000) ?? 0
    expect(new Date(nextUs / 1_000).toISOString()).toBe('2128-02-29T00:00:00.000Z')
  })

  test('is nothing for a day that never comes', () => {
    expect(new CronSchedule('0 0 30 2 *', 'Europe/Berlin').next(0)).toBeUndefined()
    expect(new CronSchedule('* * 31 4,6 *', 'Europe/Berlin').next(0)).toBeUndefined()
  })

  test('goes on from a value by its steps to the last value', () => {
    const hour = ['2026-07-01T00:00:00Z', '2026-07-01T01:00:00Z'] as const
    expect(runs('5/20 * * * *', 'UTC', hour).map((run) => run.slice(14, 16))).toEqual([
      '05',
      '25',
      '45',
    ])
  })
})
