import { array, assert, double, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { TokenBucket } from '../../src/core/token-bucket.ts'

const rates = record({
  perSecond: double({ min: 0.01, max: 10_000, noNaN: true }),
  burst: integer({ min: 1, max: 10_000 }),
})
const messages = array(
  record({
    count: integer({ min: 1, max: 20_000 }),
    afterUs: integer({ min: 0, max: 5e6 }),
  }),
  { maxLength: 100 },
)

test('whoever waits as told sends no more than the rate and one burst or message more', () => {
  assert(
    property(rates, messages, (rate, sent) => {
      let nowUs = 0
      let total = 0
      let last = 0
      const bucket = new TokenBucket(rate, () => nowUs / 1_000)
      for (const { count, afterUs } of sent) {
        nowUs += afterUs
        nowUs += bucket.waitMs(count) * 1_000
        expect(bucket.waitMs(count)).toBe(0)
        bucket.spend(count)
        total += count
        last = count
      }
      const earned = (nowUs / 1_000_000) * rate.perSecond
      expect(total).toBeLessThanOrEqual(earned + rate.burst + last + 1e-6)
    }),
  )
})

test('nobody waits who has not used it up', () => {
  let passedMs = 0
  const bucket = new TokenBucket({ perSecond: 1, burst: 3 }, () => passedMs)
  expect(bucket.waitMs(3)).toBe(0)
  bucket.spend(3)
  expect(bucket.waitMs(1)).toBe(1_000)
  passedMs = 1_000
  expect(bucket.waitMs(1)).toBe(0)
})
