import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRelativeTime, parseAskedTime } from '../../src/core/asked-time.ts'
import { formatUs } from '../../src/core/time.ts'

const nowUs = Date.UTC(2026, 0, 31, 12) * 1_000

function read(text: string): string {
  const found = parseAskedTime(text, nowUs)
  return typeof found === 'object' ? found.problem : formatUs(found)
}

describe('a time that is asked for', () => {
  test.each([
    ['2026-01-31T10:00:00+01:00', '2026-01-31T09:00:00.000000Z'],
    ['now', '2026-01-31T12:00:00.000000Z'],
    ['-24h', '2026-01-30T12:00:00.000000Z'],
    ['now-90s', '2026-01-31T11:58:30.000000Z'],
    ['-7d', '2026-01-24T12:00:00.000000Z'],
    ['-99999d', '1970-01-01T00:00:00.000000Z'],
    ['0', '1970-01-01T00:00:00.000000Z'],
    ['100000000', '1973-03-03T09:46:40.000000Z'],
    ['1767225600', '2026-01-01T00:00:00.000000Z'],
    ['1767225600.25', '2026-01-01T00:00:00.250000Z'],
    ['1767225600.1234567', '2026-01-01T00:00:00.123456Z'],
    ['1767225600000', '2026-01-01T00:00:00.000000Z'],
    ['1767225600000.5', '2026-01-01T00:00:00.000500Z'],
    ['1767225600000001', '2026-01-01T00:00:00.000001Z'],
    ['99999999999', '5138-11-16T09:46:39.000000Z'],
    ['100000000000', '1973-03-03T09:46:40.000000Z'],
    ['99999999999999', '5138-11-16T09:46:39.999000Z'],
    ['100000000000000', '1973-03-03T09:46:40.000000Z'],
  ])('%s is %s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each(['-24', '-h', '--1h', '-1.5h', '-1w', 'now-', '-1767225600'])(
    '%s is no duration',
    (text) => {
      expect(read(text)).toContain('a minus and a duration')
    },
  )

  test.each(['tomorrow', 'Now', '+1h', '1e9', '0x10', '', ' now'])('%s is none', (text) => {
    expect(read(text)).toContain('RFC 3339')
  })

  test.each(['1', '2026', '20260131', '99999999', '2026.5'])(
    '%s is no number of seconds: it may be meant as a date',
    (text) => {
      expect(read(text)).toContain('too small for seconds')
    },
  )

  test('is refused where it is a number of nanoseconds', () => {
    expect(read('1767225600000000000')).toContain('seconds, milliseconds or microseconds')
    expect(read('253402300800000000')).toContain('seconds, milliseconds or microseconds')
  })

  test('is the same instant in each unit, from 1973 on', () => {
    const seconds = fc.integer({ min: 100_000_000, max: 99_999_999_999 })
    fc.assert(
      fc.property(seconds, (count) => {
        const [s, ms, us] = [count, count * 1_000, count * 1_000_000].map((one) =>
          read(String(one)),
        )

        expect([ms, us]).toEqual([s, s])
      }),
    )
  })

  test.each(['now', '-1h', 'now-1h'])('%s counts from the present', (text) => {
    expect(isRelativeTime(text)).toBe(true)
  })

  test.each(['2026-01-31T10:00:00-01:00', '1767225600'])('%s does not', (text) => {
    expect(isRelativeTime(text)).toBe(false)
  })
})
