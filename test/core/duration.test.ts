import { describe, expect, test } from 'vitest'
import { durationUs } from '../../src/core/duration.ts'

describe('a duration', () => {
  test.each([
    ['30s', 30_000_000],
    ['5m', 300_000_000],
    ['12h', 43_200_000_000],
    ['90d', 7_776_000_000_000],
    ['999999s', 999_999_000_000],
  ])('of %s has %i microseconds', (text, us) => {
    expect(durationUs(text)).toBe(us)
  })

  test.each(['', '0s', '05m', '-1h', '1.5h', '1w', '1 h', '1H', '1000000s', 's', 30, null])(
    'is not %j',
    (text) => {
      expect(durationUs(text)).toBeUndefined()
    },
  )
})
