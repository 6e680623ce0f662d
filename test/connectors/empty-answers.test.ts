import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CircleCheck } from '../../connectors/circle-check.ts'
import { EmptyAnswers } from '../../connectors/empty-answers.ts'

describe('answers that bring nothing', () => {
  test('are taken for ever at the pace that was agreed on, and slower', () => {
    const pace = fc.integer({ min: 10, max: 60_000 })
    const property = fc.property(pace, fc.array(fc.nat(5_000)), (intervalMs, lates) => {
      let nowMs = 0
      const empty = new EmptyAnswers(intervalMs, () => nowMs)
      for (const late of [...lates, ...Array<number>(200).fill(0)]) {
        nowMs += intervalMs + late
        empty.count()
      }
    })
    fc.assert(property)
  })

  test('are too many when they come at once, for the twentieth time in a row', () => {
    let nowMs = 0
    const empty = new EmptyAnswers(1_000, () => nowMs)
    let count = 0
    const countAll = () => {
      for (; count < 1_000; count++) {
        nowMs += 0.3
        empty.count()
      }
    }
    expect(countAll).toThrow('nothing new to say')
    expect(count).toBe(20)
  })

  test('count anew after news', () => {
    const empty = new EmptyAnswers(1_000, () => 0)
    for (let count = 0; count < 1_000; count++) {
      empty.count()
      empty.reset()
    }
  })
})

describe('a walk', () => {
  test('is found to go in a circle within a few times around, and only then', () => {
    const property = fc.property(
      fc.nat(200),
      fc.integer({ min: 1, max: 50 }),
      (straight, around) => {
        const circle = new CircleCheck()
        const placeAt = (step: number) =>
          step < straight ? `a${step}` : `b${(step - straight) % around}`
        let step = 0
        while (!circle.isBack(placeAt(step))) step++
        expect(step).toBeGreaterThanOrEqual(straight + around)
        expect(step).toBeLessThanOrEqual(4 * (straight + around) + 4)
      },
    )
    fc.assert(property)
    const straight = new CircleCheck()
    for (let step = 0; step < 10_000; step++) expect(straight.isBack(String(step))).toBe(false)
  })
})
