import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { aheadAfter } from '../../../console/src/api/service-clock.ts'

const dayMs = 86_400_000
const slownessMs = fc.integer({ min: 0, max: 60_000 })

/** What is told of an answer that took a while each way, by a browser that is so far behind. */
function told(aheadMs: number, nowMs: number, [there, back]: readonly [number, number]) {
  const serviceMs = Math.floor((nowMs + there + aheadMs) / 1000) * 1000
  return { serviceMs, sentMs: nowMs, answeredMs: nowMs + there + back }
}

test('a clock that is right stays so, however slow the network is', () => {
  fc.assert(
    fc.property(fc.nat(), slownessMs, slownessMs, (nowMs, there, back) => {
      expect(aheadAfter(0, told(0, nowMs, [there, back]))).toBe(0)
    }),
  )
})

test('a wrong clock is known as well as the way there and back lets it, and then left alone', () => {
  const ms = fc.integer({ min: -dayMs, max: dayMs })
  fc.assert(
    fc.property(ms, fc.nat(), slownessMs, slownessMs, (aheadMs, nowMs, there, back) => {
      const answer = told(aheadMs, nowMs, [there, back])
      const found = aheadAfter(0, answer)
      // Beside half of the way, what may be wrong is the tolerance and the second that is told.
      expect(Math.abs(found - aheadMs)).toBeLessThanOrEqual(there + back + 3000)
      expect(aheadAfter(found, answer)).toBe(found)
    }),
  )
})

test('a clock that is set right is known to be', () => {
  const before = aheadAfter(0, told(dayMs, 0, [20, 20]))
  expect(aheadAfter(before, told(0, dayMs, [20, 20]))).toBe(0)
})
