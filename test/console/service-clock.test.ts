import * as fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { noteServiceTime, serviceAheadMs } from '../../console/src/api/service-clock.ts'

const nowMs = Date.UTC(2026, 0, 31, 12)

beforeEach(() => {
  serviceAheadMs.value = 0
})

test('a clock that is off is made up for, to seconds, and that of an answer that takes a moment is not', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(2_000), (aheadMs, takenMs) => {
      serviceAheadMs.value = 0
      noteServiceTime(new Date(nowMs + aheadMs).toUTCString(), nowMs + takenMs)
      const known = serviceAheadMs.value
      expect(Math.abs(aheadMs - known)).toBeLessThan(8_000)
      if (Math.abs(aheadMs) < 2_000) expect(known).toBe(0)
      // What is told again moves nothing: ages would jump.
      noteServiceTime(new Date(nowMs + 60_000 + aheadMs).toUTCString(), nowMs + 60_000)
      expect(serviceAheadMs.value).toBe(known)
    }),
  )
})

test.for([null, '', 'soon'])('a time that is none (%j) changes nothing', (date) => {
  noteServiceTime(date, nowMs)
  expect(serviceAheadMs.value).toBe(0)
})

test('a clock that was set right counts again', () => {
  noteServiceTime(new Date(nowMs + 86_400_000).toUTCString(), nowMs)
  noteServiceTime(new Date(nowMs).toUTCString(), nowMs)
  expect(serviceAheadMs.value).toBe(0)
})
