import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgeClock, doubtedUs } from '../../src/core/age-clock.ts'
import { HandClock } from '../support/hand-clock.ts'

const secondUs = 1_000_000
const dayUs = 86_400 * secondUs

/** It is looked at so often. */
const lookUs = 3_600 * secondUs

const moves = fc.array(
  fc.record({
    passUs: fc.integer({ min: 1, max: dayUs / 4 }),
    stepUs: fc.oneof(
      fc.integer({ min: -dayUs, max: dayUs }),
      fc.integer({ min: -secondUs, max: secondUs }),
    ),
  }),
  { minLength: 1, maxLength: 20 },
)

describe('the clock that readings age by', () => {
  test('is never ahead of the wall clock, nor of time that passed since a lasting one', () => {
    fc.assert(
      fc.property(moves, (some) => {
        const clock = new HandClock()
        const ages = new AgeClock(clock)
        const since: { readonly steadyUs: number; readonly aheadUs: number }[] = []
        for (const { passUs, stepUs } of some) {
          since.push({ steadyUs: clock.steadyUs(), aheadUs: clock.nowUs() - clock.steadyUs() })
          for (let left = passUs; left > 0; left -= lookUs) {
            clock.atUs += Math.min(left, lookUs)
            const steadyUs = clock.steadyUs()
            const recent = since.filter(
              (_, index) =>
                (since[index + 1]?.steadyUs ?? steadyUs) >= steadyUs - doubtedUs - lookUs,
            )
            const aheads = recent.map(({ aheadUs }) => aheadUs)
            const aheadUs = ages.nowUs() - steadyUs
            expect(aheadUs).toBeLessThanOrEqual(clock.nowUs() - steadyUs + 20_000)
            expect(aheadUs).toBeGreaterThanOrEqual(Math.min(...aheads) - 20_000)
          }
          clock.step(stepUs)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('does not follow one that is set forward for a while by mistake', () => {
    fc.assert(
      fc.property(fc.integer({ min: secondUs, max: 9_999 * dayUs }), (stepUs) => {
        const clock = new HandClock()
        const ages = new AgeClock(clock)
        clock.step(stepUs)
        for (let hours = 0; hours < 23; hours++) {
          clock.atUs += 3_600 * secondUs
          expect(ages.nowUs()).toBe(clock.nowUs() - stepUs)
        }
        clock.step(-stepUs)
        clock.atUs += 2 * dayUs
        expect(ages.nowUs()).toBe(clock.nowUs())
      }),
    )
  })

  test('follows one that is set forward after a day', () => {
    const clock = new HandClock()
    const ages = new AgeClock(clock)
    clock.step(60 * secondUs)
    expect(ages.nowUs()).toBe(clock.nowUs() - 60 * secondUs)
    clock.atUs += doubtedUs - 1
    expect(ages.nowUs()).toBe(clock.nowUs() - 60 * secondUs)
    clock.atUs += 1
    expect(ages.nowUs()).toBe(clock.nowUs())
  })

  test('doubts each step for a day of its own, however small the one before it was', () => {
    const clock = new HandClock()
    const ages = new AgeClock(clock)
    const years = 3_650 * dayUs
    clock.step(secondUs / 20)
    ages.nowUs()
    clock.atUs += doubtedUs - 300 * secondUs
    ages.nowUs()
    clock.step(years)
    ages.nowUs()
    clock.atUs += 3_600 * secondUs
    expect(ages.nowUs()).toBe(clock.nowUs() - years)
    clock.atUs += doubtedUs - 3_600 * secondUs
    expect(ages.nowUs()).toBe(clock.nowUs())
  })

  test('follows steps of every night a day later, and does not fall behind further and further', () => {
    const clock = new HandClock()
    const ages = new AgeClock(clock)
    for (let night = 0; night < 30; night++) {
      clock.step(8 * 3_600 * secondUs)
      ages.nowUs()
      clock.atUs += (16 * 3_600 + 60) * secondUs
      expect(clock.nowUs() - ages.nowUs()).toBeLessThanOrEqual(2 * 8 * 3_600 * secondUs)
    }
  })
})
