import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatUs, type InstantUs, parseInstant, parseRfc3339 } from '../../src/core/time.ts'

/** The Unix time that `Date` gives for a text of its own format, in microseconds. */
function us(isoText: string): number {
  return Date.parse(isoText) * 1000
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** ±HH:MM of an offset in minutes. */
function zone(offsetMinutes: number): string {
  const minutes = Math.abs(offsetMinutes)
  const sign = offsetMinutes < 0 ? '-' : '+'
  return `${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}

/** Date and time of day in the zone, without the zone, with the milliseconds of `Date`. */
function localText(instantMs: number, offsetMinutes: number): string {
  return new Date(instantMs + offsetMinutes * 60_000).toISOString().slice(0, -1)
}

const offsets = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 })

function instants(first: string, last: string): fc.Arbitrary<number> {
  return fc.integer({ min: Date.parse(first), max: Date.parse(last) })
}

/** Where a double still counts single microseconds. */
const precise = instants('1700-01-01T00:00:00Z', '2250-01-01T00:00:00Z')

describe('parseRfc3339', () => {
  test.each([
    ['2026-01-31T23:59:59Z', us('2026-01-31T23:59:59Z')],
    ['2026-01-31t23:59:59z', us('2026-01-31T23:59:59Z')],
    ['2026-01-31T23:59:59-00:00', us('2026-01-31T23:59:59Z')],
    ['2026-01-31T23:59:59+00:00', us('2026-01-31T23:59:59Z')],
    ['2026-01-31T23:59:59+05:45', us('2026-01-31T18:14:59Z')],
    ['2026-01-31T23:59:59-23:59', us('2026-02-01T23:58:59Z')],
    ['2026-01-31T23:59:59.5Z', us('2026-01-31T23:59:59.500Z')],
    ['2026-01-31T23:59:59.000001Z', us('2026-01-31T23:59:59Z') + 1],
    ['2024-02-29T00:00:00Z', us('2024-02-29T00:00:00Z')],
    ['2000-02-29T00:00:00Z', us('2000-02-29T00:00:00Z')],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['0001-01-01T00:00:00Z', us('0001-01-01T00:00:00Z')],
    ['9999-12-31T23:59:59Z', us('9999-12-31T23:59:59Z')],
  ])('accepts %s', (text, expectedUs) => {
    expect(parseRfc3339(text)).toBe(expectedUs)
  })

  test.each([
    ['2026-06-30T23:59:60Z', 'leap second'],
    ['2026-06-30T23:59:61Z', '00 to 59, not 61'],
    ['2026-01-31T24:00:00Z', '00 to 23, not 24'],
    ['2026-01-31T23:60:00Z', '00 to 59, not 60'],
    ['2026-01-31 23:59:59Z', 'a T between'],
    ['2026-01-31T23:59:59,5Z', 'zone'],
    ['2026-01-31T23:59:59.Z', 'must have digits'],
    ['2026-01-31T23:59:59+0100', 'zone'],
    ['2026-01-31T23:59:59+01', 'zone'],
    ['2026-01-31T23:59:59+1:00', 'zone'],
    ['2026-01-31T23:59:59+24:00', 'zone'],
    ['2026-01-31T23:59:59+01:60', 'zone'],
    ['2026-01-31T23:59:59−01:00', 'zone'],
    ['2026-01-31T23:59:59', 'no time zone'],
    ['2026-01-31T23:59:59.123', 'no time zone'],
    ['2026-01-31T23:59Z', 'HH:MM:SS'],
    ['2026-01-31', 'a T between'],
    ['20260131T235959Z', 'RFC 3339'],
    ['2026-W05-6T23:59:59Z', 'RFC 3339'],
    ['2026-031T23:59:59Z', 'RFC 3339'],
    ['26-01-31T23:59:59Z', 'RFC 3339'],
    ['+002026-01-31T23:59:59Z', 'RFC 3339'],
    ['２０２６-01-31T23:59:59Z', 'RFC 3339'],
    ['', 'RFC 3339'],
    ['0000-01-01T00:00:00Z', 'not 0000'],
    ['2026-00-01T00:00:00Z', '01 to 12, not 00'],
    ['2026-13-01T00:00:00Z', '01 to 12, not 13'],
    ['2026-01-00T00:00:00Z', '01 to 31 in 2026-01, not 00'],
    ['2026-04-31T00:00:00Z', '01 to 30 in 2026-04, not 31'],
    ['2026-02-29T00:00:00Z', '01 to 28 in 2026-02, not 29'],
    ['1900-02-29T00:00:00Z', '01 to 28 in 1900-02, not 29'],
  ])('refuses %j and says why', (text, reason) => {
    expect(parseRfc3339(text)).toEqual({ problem: expect.stringContaining(reason) })
  })

  test.each(['0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])(
    'refuses %s, which is an instant of a year that UTC could not write',
    (text) => {
      expect(parseRfc3339(text)).toEqual({ problem: expect.any(String) })
    },
  )

  test('cuts off the fraction beyond six digits, and never rounds it up', () => {
    const digits = fc.string({ unit: fc.nat(9).map(String), maxLength: 20 })
    fc.assert(
      fc.property(precise, fc.nat(999_999), digits, (instantMs, micros, more) => {
        const second = Math.floor(instantMs / 1000) * 1000
        const fraction = String(micros).padStart(6, '0') + more
        const text = `${new Date(second).toISOString().slice(0, 19)}.${fraction}Z`

        expect(parseRfc3339(text)).toBe(second * 1000 + micros)
      }),
    )
  })

  test('agrees with Date on any instant and any offset, and adds the microseconds', () => {
    fc.assert(
      fc.property(precise, fc.nat(999), offsets, (instantMs, micros, offset) => {
        const fraction = String(micros).padStart(3, '0')
        const text = `${localText(instantMs, offset)}${fraction}${zone(offset)}`

        expect(parseRfc3339(text)).toBe(instantMs * 1000 + micros)
      }),
    )
  })

  test('agrees with Date on whole seconds of any year that RFC 3339 can write', () => {
    const anyYear = instants('0001-01-02T00:00:00Z', '9999-12-30T00:00:00Z')
    fc.assert(
      fc.property(anyYear, offsets, (instantMs, offset) => {
        const second = Math.floor(instantMs / 1000) * 1000
        const text = localText(second, offset).slice(0, 19) + zone(offset)

        expect(parseRfc3339(text)).toBe(second * 1000)
      }),
    )
  })

  test('refuses an instant that is followed by anything', () => {
    fc.assert(
      fc.property(precise, fc.string({ minLength: 1 }), (instantMs, more) => {
        expect(parseRfc3339(new Date(instantMs).toISOString() + more)).toHaveProperty('problem')
      }),
    )
  })

  test('answers any text with a number or a problem', () => {
    const similar = fc.stringMatching(/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d*)?[Zz+-].{0,5}$/)
    fc.assert(
      fc.property(fc.oneof(fc.string(), similar), (text) => {
        const parsed = parseRfc3339(text)
        const problem = typeof parsed === 'number' ? undefined : parsed.problem

        expect(problem ?? parsed).toSatisfy(
          (one) => Number.isInteger(one) || (typeof one === 'string' && one !== ''),
        )
      }),
    )
  })
})

describe('parseInstant', () => {
  const anyInstant = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })

  test('has every microsecond of every year that RFC 3339 can write', () => {
    fc.assert(
      fc.property(anyInstant, (instantUs) => {
        const text = formatUs(instantUs)

        expect(BigInt(parseInstant(text) as InstantUs)).toBe(instantUs)
        expect(Date.parse(`${text.slice(0, 23)}Z`)).toBe(
          Number((instantUs - (((instantUs % 1000n) + 1000n) % 1000n)) / 1000n),
        )
      }),
    )
  })

  test.each([
    ['0001-01-01T00:00:00.000001Z', -62_135_596_799_999_999n],
    ['1684-07-28T00:12:25.259007Z', -9_007_199_254_740_993n],
    ['2255-06-05T23:47:34.740993Z', 9_007_199_254_740_993n],
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_799_999_999n],
  ])('reads %s', (text, expected) => {
    expect(parseInstant(text)).toBe(expected)
  })

  test('answers a number wherever a double counts microseconds', () => {
    expect(parseInstant('2026-01-31T23:59:59.123456Z')).toBe(us('2026-01-31T23:59:59.123Z') + 456)
    expect(parseInstant('1969-12-31T23:59:59.999999Z')).toBe(-1)
  })
})

describe('formatUs', () => {
  test('writes UTC with Z and six decimals', () => {
    expect(formatUs(us('2026-01-31T23:59:59.123Z') + 45)).toBe('2026-01-31T23:59:59.123045Z')
  })

  test('counts forwards within a second before 1970, too', () => {
    expect(formatUs(-1)).toBe('1969-12-31T23:59:59.999999Z')
  })

  test('is read back as the same microsecond', () => {
    fc.assert(
      fc.property(precise, fc.nat(999), (instantMs, micros) => {
        const timestampUs = instantMs * 1000 + micros

        expect(parseRfc3339(formatUs(timestampUs))).toBe(timestampUs)
      }),
    )
  })
})
