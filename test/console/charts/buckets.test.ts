import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketFor, buckets } from '../../../console/src/charts/buckets.ts'

const spanMs = fc.integer({ min: 1, max: 40 * 366 * 86_400_000 })
const widthPx = fc.integer({ min: 0, max: 8000 })

test('no more buckets than pixels, but for the longest ones', () => {
  fc.assert(
    fc.property(spanMs, widthPx, (span, width) => {
      const { ms, aggregation } = bucketFor(span, width)
      if (aggregation !== buckets.at(-1)?.aggregation) {
        expect(span / ms).toBeLessThanOrEqual(Math.max(50, width))
      }
    }),
  )
})

test('no shorter bucket would do', () => {
  fc.assert(
    fc.property(spanMs, widthPx, (span, width) => {
      const chosen = bucketFor(span, width)
      const shorter = buckets[buckets.indexOf(chosen) - 1]
      if (shorter) expect(span / shorter.ms).toBeGreaterThan(Math.max(50, Math.min(2000, width)))
    }),
  )
})

test('a wider chart never has longer buckets', () => {
  fc.assert(
    fc.property(spanMs, widthPx, widthPx, (span, one, other) => {
      const [narrow, wide] = [Math.min(one, other), Math.max(one, other)]
      expect(bucketFor(span, wide).ms).toBeLessThanOrEqual(bucketFor(span, narrow).ms)
    }),
  )
})
