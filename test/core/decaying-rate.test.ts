import { expect, test } from 'vitest'
import { DecayingRate } from '../../src/core/decaying-rate.ts'

test('what goes on evenly is shown as it is, and what has ended as nothing after a while', () => {
  let passedMs = 0
  const rate = new DecayingRate(() => passedMs)
  for (let second = 0; second < 300; second += 10) {
    passedMs = second * 1_000
    rate.add(50)
  }
  expect(rate.perSecond()).toBeCloseTo(5, 0)

  passedMs += 3_600_000
  expect(rate.perSecond()).toBeCloseTo(0, 3)
})
