import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTimePattern } from '../../../processors/times/time-pattern.ts'
import { timeReaderOf } from '../../../processors/timestamp.ts'

/** What a text means in a pattern, as RFC 3339 in UTC, or why it means nothing. */
function read(timestampFormat: string, value: string, zone = 'UTC'): string {
  const time = { isRequired: false, zone }
  const us = timeReaderOf({ timestampFormat, time })({ value })
  return typeof us === 'number' ? new Date(us / 1_000).toISOString() : us.problem
}

describe('a pattern', () => {
  test.each([
    ['dd.MM.yyyy HH:mm:ss', '31.01.2026 10:00:07', '2026-01-31T10:00:07.000Z'],
    ['dd.MM.yyyy HH:mm[:ss]', '31.01.2026 10:00', '2026-01-31T10:00:00.000Z'],
    ['dd.MM.yyyy HH:mm[:ss]', '31.01.2026 10:00:07', '2026-01-31T10:00:07.000Z'],
    ['yyyy/MM/dd HH:mm:ss.SSS', '2026/01/31 10:00:07.125', '2026-01-31T10:00:07.125Z'],
    ['yyyy/MM/dd HH:mm[:ss[.SSS]]', '2026/01/31 10:00:07.125', '2026-01-31T10:00:07.125Z'],
    ['M/d/yyyy h:mm a', '1/31/2026 12:05 AM', '2026-01-31T00:05:00.000Z'],
    ['M/d/yyyy h:mm a', '12/1/2025 12:05 pm', '2025-12-01T12:05:00.000Z'],
    ['M/d/yyyy h:mm a', '1/31/2026 1:05 PM', '2026-01-31T13:05:00.000Z'],
    ['yyyyMMddHHmmss', '20260131100007', '2026-01-31T10:00:07.000Z'],
    ['yyyyMMddHHmmssSSS', '20260131100007125', '2026-01-31T10:00:07.125Z'],
    ['d MMM yyyy HH:mm', '1 feb 2026 10:00', '2026-02-01T10:00:00.000Z'],
    ['d MMMM yyyy', '31 January 2026', '2026-01-31T00:00:00.000Z'],
    [
      "EEE, dd MMM yyyy HH:mm:ss 'GMT'",
      'Sat, 31 Jan 2026 10:00:07 GMT',
      '2026-01-31T10:00:07.000Z',
    ],
    ["yyyy-MM-dd'T'HH:mm:ssX", '2026-01-31T10:00:07+01', '2026-01-31T09:00:07.000Z'],
    ["yyyy-MM-dd'T'HH:mm:ss.SSSXX", '2026-01-31T10:00:07.125+0000', '2026-01-31T10:00:07.125Z'],
    [
      `yyyy-MM-dd'T'HH:mm:ss.SSS${'X'.repeat(3)}`,
      '2026-01-31T10:00:07.125+05:45',
      '2026-01-31T04:15:07.125Z',
    ],
    ["yyyy-MM-dd'T'HH:mm:ssXX", '2026-01-31T10:00:07Z', '2026-01-31T10:00:07.000Z'],
    ['yyyy-MM-dd HH:mm:ss Z', '2026-01-31 10:00:07 -0330', '2026-01-31T13:30:07.000Z'],
    ['yy-MM-dd HH:mm', '26-01-31 10:00', '2026-01-31T10:00:00.000Z'],
    ["hh 'o''clock' a, dd.MM.yyyy", "10 o'clock am, 31.01.2026", '2026-01-31T10:00:00.000Z'],
    ['[yyyy-MM-dd][dd.MM.yyyy] HH:mm', '31.01.2026 10:00', '2026-01-31T10:00:00.000Z'],
  ])('%s reads %s', (pattern, text, instant) => {
    expect(read(pattern, text)).toBe(instant)
  })

  test.each([
    ['dd.MM.yyyy HH:mm:ss', '31.01.2026 10:00', 'is not written as the timestampFormat says'],
    ['dd.MM.yyyy HH:mm:ss', ' 31.01.2026 10:00:00', 'is not written as the timestampFormat says'],
    ['dd.MM.yyyy HH:mm', '1.1.2026 10:00', 'is not written as the timestampFormat says'],
    ['dd.MM.yyyy HH:mm', '01/31/2026 10:00', 'is not written as the timestampFormat says'],
    ['dd.MM.yyyy HH:mm', '31.02.2026 10:00', 'must have a day from 01 to 28 in 2026-02, not 31'],
    ['dd.MM.yyyy HH:mm', '01.13.2026 10:00', 'must have a month from 01 to 12, not 13'],
    ['dd.MM.yyyy HH:mm', '01.01.2026 24:00', 'must have an hour from 00 to 23, not 24'],
    ['dd.MM.yyyy HH:mm:ss', '01.01.2026 10:00:60', 'is a leap second, which is not supported'],
    [
      'M/d/yyyy h:mm a',
      '1/31/2026 13:05 PM',
      'must have an hour from 1 to 12 before or after noon, not 13',
    ],
    ['EEE dd.MM.yyyy', 'Sun 31.01.2026', 'is no Sun'],
    [
      'yyyy-MM-dd HH:mm XX',
      '2026-01-31 10:00 +2400',
      'must have a time zone up to ±23:59, not +2400',
    ],
    ['[yyyy-MM-dd]', '', 'has no year, month and day'],
    ['yyyy-MM-dd[ HH:mm][ HH:mm]', '2026-01-31 10:00 11:00', 'says twice which hour'],
    ['dd.MM.yyyy', '01.01.1969', 'times before 1970 are not accepted'],
  ])('%s refuses %j', (pattern, text, problem) => {
    expect(read(pattern, text)).toBe(problem)
  })

  test.each([
    ['', 'has no year (yyyy)'],
    ['HH:mm', 'has no year (yyyy)'],
    ['yyyy-dd', 'has no month (MM)'],
    ['yyyy-MM', 'has no day of the month (dd)'],
    ['YYYY-MM-dd', 'has YYYY where it likely means y'],
    ['yyyy-MM-DD', 'has DD where it likely means d'],
    ['yyyy-MM-dd hh:mm', 'has hours from 1 to 12 (h) without a'],
    ['yyyy-MM-dd HH:mm a', 'has AM or PM (a) without hours from 1 to 12'],
    ['yyyy-MM-dd mm', 'has minutes (m) and no hours'],
    ['yyyy-MM-dd HH:ss', 'has seconds (s) and no minutes'],
    ['yyyy-MM-dd HH:mm.SSS', 'has decimals (S) and no seconds'],
    ['yyyMMdd', 'has yyy: y cannot stand there 3 times'],
    ['yyyyMMdd HHmmss.SSSSSSSSSS', 'has SSSSSSSSSS: S cannot stand there 10 times'],
    ['yyyyMdHH', 'must have MM for M: digits follow right behind'],
    ['yyyy-MM-ddTHH:mm', 'has T, which is not one of'],
    ['yyyy-MM-dd HH:mm zzz', 'has zzz, which is not one of'],
    ["yyyy-MM-dd'T", 'has a quote at place 10 that does not end'],
    ['yyyy-MM-dd[ HH:mm', 'has a ] too few'],
    ['yyyy-MM-dd HH:mm]', 'has a ] too many'],
    ['yyyy-MM-dd {HH}', 'has a {: it must be in quotes'],
    [`yyyy-MM-dd${'[ ]'.repeat(9)}`, 'has more than 8 parts that may be left out'],
    [`yyyy-MM-dd${' '.repeat(100)}`, 'has more than 100 characters'],
  ])('%s is none', (pattern, problem) => {
    const parsed = parseTimePattern(pattern)
    expect('problem' in parsed && parsed.problem).toContain(problem)
  })

  test('reads what has been written by it, in any zone', () => {
    const pieces = [
      [
        'yyyy-MM-dd HH:mm:ss.SSSSSS',
        (at: Parts) => `${at.y}-${at.M}-${at.d} ${at.H}:${at.m}:${at.s}.${at.S}`,
      ],
      ['dd.MM.yyyy HH:mm:ss', (at: Parts) => `${at.d}.${at.M}.${at.y} ${at.H}:${at.m}:${at.s}`],
      ['yyyyMMddHHmm', (at: Parts) => `${at.y}${at.M}${at.d}${at.H}${at.m}`],
      [
        'M/d/yyyy H:mm',
        (at: Parts) => `${Number(at.M)}/${Number(at.d)}/${at.y} ${Number(at.H)}:${at.m}`,
      ],
    ] as const
    const micros = fc.integer({ min: 0, max: Date.UTC(2199, 0, 1) })
    fc.assert(
      fc.property(micros, fc.constantFrom(...pieces), (ms, [pattern, write]) => {
        const at = partsOf(ms)
        const whole = pattern.includes('S')
          ? ms
          : pattern.includes('s')
            ? ms - (ms % 1_000)
            : ms - (ms % 60_000)
        expect(read(pattern, write(at))).toBe(new Date(whole).toISOString())
      }),
    )
  })

  test('never takes long, nor fails, whatever it is and reads', () => {
    const text = fc.string({
      unit: fc.constantFrom(...Array.from('yMdHhmsSaXZ[]\'" .:/-0123456789')),
      maxLength: 60,
    })
    fc.assert(
      fc.property(text, text, (pattern, value) => {
        const parsed = parseTimePattern(pattern)
        if ('problem' in parsed) expect(parsed.problem).not.toBe('')
        else expect(parsed.read(value)).toBeTypeOf('object')
      }),
      { numRuns: 2_000 },
    )
    const long = parseTimePattern(`yyyy-MM-dd${'[ H:mm]'.repeat(8)}`)
    expect('read' in long && long.read(`2026-01-31${' 1:11'.repeat(7)}x`)).toHaveProperty('problem')
  })
})

type Parts = Readonly<Record<'y' | 'M' | 'd' | 'H' | 'm' | 's' | 'S', string>>

function partsOf(ms: number): Parts {
  const [y = '', M = '', d = '', H = '', m = '', s = '', S = ''] = new Date(ms)
    .toISOString()
    .split(/[-T:.Z]/)
  return { y, M, d, H, m, s, S: `${S}000` }
}
