import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Signal } from '../../processors/alert-memory.ts'
import { windowFunctions } from '../../processors/alert-rules.ts'
import { addToWindow, emptyWindow, resultOf } from '../../processors/alert-window.ts'
import { recomputed } from '../support/alert-results.ts'
import {
  cleared,
  hand,
  isHot,
  reading,
  run,
  secondUs,
  timer,
  transitions,
  triggered,
} from '../support/alert-signals.ts'

describe('a threshold', () => {
  test('fires when it is broken, and clears when it is not', () => {
    const moves = transitions(
      isHot,
      [80, 81, 90, 80].map((t, index) => reading(index + 1, t)),
    )

    expect(moves.map(({ from, to, atUs, value }) => [atUs / secondUs, from, to, value])).toEqual([
      [2, 'ok', 'firing', 81],
      [4, 'firing', 'cleared', 80],
    ])
  })

  test.each([
    ['>', [81], [79, 80]],
    ['>=', [80, 81], [79]],
    ['<', [79], [80, 81]],
    ['<=', [79, 80], [81]],
    ['==', [80], [79, 81]],
    ['!=', [79, 81], [80]],
  ] as const)('with %s is broken by %j and not by %j', (operator, broken, whole) => {
    const fires = (t: number) => run({ ...isHot, operator }, [reading(1, t)]).length > 0

    expect(broken.map(fires)).toEqual(broken.map(() => true))
    expect(whole.map(fires)).toEqual(whole.map(() => false))
  })

  test('compares texts', () => {
    const rule = { ...isHot, operator: '==', threshold: 'fault' } as const

    expect(run(rule, [reading(1, 'run'), reading(2, 'fault'), reading(3, 'run')])).toEqual([
      [2, 'firing', triggered],
      [3, 'cleared', cleared],
    ])
  })

  test('with hysteresis neither fires nor clears between its two thresholds', () => {
    const values = [77, 81, 77, 76, 79, 75, 77]

    expect(
      run(
        { ...isHot, clearThreshold: 75 },
        values.map((t, index) => reading(index, t)),
      ),
    ).toEqual([
      [1, 'firing', triggered],
      [5, 'cleared', cleared],
    ])
  })

  test('is moved by no reading without its field', () => {
    expect(run(isHot, [reading(1, 81), reading(2)])).toEqual([[1, 'firing', triggered]])
  })
})

describe('a rule that has to hold for a minute', () => {
  const rule = { ...isHot, forUs: 60 * secondUs, clearForUs: 60 * secondUs }

  test('fires a minute after it was first broken, whichever reading shows that', () => {
    expect(run(rule, [reading(10, 81), reading(40, 82), reading(75, 83)])).toEqual([
      [10, 'pending', undefined],
      [70, 'firing', triggered],
    ])
  })

  test('is ok again when a reading is, before the minute is over', () => {
    expect(run(rule, [reading(10, 81), reading(69, 80), reading(71, 81)])).toEqual([
      [10, 'pending', undefined],
      [69, 'ok', undefined],
      [71, 'pending', undefined],
    ])
  })

  test('fires when a timer says that a minute is over', () => {
    expect(run(rule, [reading(10, 81), timer(69), timer(70), timer(71)])).toEqual([
      [10, 'pending', undefined],
      [70, 'firing', triggered],
    ])
  })

  test('clears when it was not broken for a minute', () => {
    const signals = [10, 71, 100, 110, 120, 181].map((seconds, index) =>
      reading(seconds, [81, 81, 80, 81, 80, 80][index]),
    )

    expect(run(rule, signals).slice(1)).toEqual([
      [70, 'firing', triggered],
      [180, 'cleared', cleared],
    ])
  })
})

describe('a window', () => {
  const rule = { ...isHot, function: 'avg', windowUs: 60 * secondUs } as const

  test('is judged once, when a reading comes after its end', () => {
    expect(run(rule, [reading(0, 70), reading(59, 100), reading(60, 0), reading(120, 0)])).toEqual([
      [60, 'firing', triggered],
      [120, 'cleared', cleared],
    ])
  })

  test('is judged by a timer some seconds after its end, and takes nothing later', () => {
    const signals = [reading(10, 81), timer(64), timer(65), reading(30, 0), reading(70, 0)]

    expect(run(rule, signals)).toEqual([[60, 'firing', triggered]])
  })

  test('without a reading has a count of none', () => {
    const { field: _, ...unnamed } = isHot
    const counted = { ...unnamed, function: 'count', windowUs: 60 * secondUs } as const
    const few = { ...counted, operator: '<', threshold: 1 } as const

    expect(run(few, [reading(10, 1), timer(65), timer(124), timer(125), timer(999)])).toEqual([
      [120, 'firing', triggered],
    ])
  })

  test.each(windowFunctions)('says the %s of its readings, as a recomputation does', (name) => {
    const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 })
    fc.assert(
      fc.property(numbers, (values) => {
        const taken = emptyWindow(0)
        for (const each of values) addToWindow(taken, each)
        const expected = recomputed(name, values)

        if (expected === undefined) expect(resultOf(name, taken)).toBeUndefined()
        else expect(Math.abs(Number(resultOf(name, taken)) - Number(expected))).toBeLessThan(1e-6)
      }),
    )
  })

  test('stays a number that JSON can hold, whatever its readings are', () => {
    const window = emptyWindow(0)
    for (const each of [Number.MAX_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE]) {
      addToWindow(window, each)
    }

    for (const name of windowFunctions) expect(resultOf(name, window)).toSatisfy(Number.isFinite)
  })
})

describe('a rate', () => {
  const rule = { ...isHot, function: 'rate', threshold: 2 } as const

  test('is the change per second between two readings', () => {
    expect(transitions(rule, [reading(0, 0), reading(10, 20), reading(20, 41)])).toMatchObject([
      { to: 'firing', atUs: 20 * secondUs, value: 2.1 },
    ])
  })

  test('is none between two readings of one time', () => {
    expect(run(rule, [reading(1, 0), reading(1, 100), reading(2, 101)])).toEqual([])
  })
})

describe('silence', () => {
  const { field: _, operator: __, threshold: ___, ...rest } = isHot
  const rule = { ...rest, silentForUs: 60 * secondUs }

  test('fires when nothing arrives for so long, and clears when something does', () => {
    const signals = [reading(0), reading(50), timer(109), timer(110), reading(130), reading(190)]

    expect(run(rule, signals)).toEqual([
      [110, 'firing', triggered],
      [130, 'cleared', cleared],
      [190, 'firing', triggered],
      [190, 'cleared', cleared],
    ])
  })

  test('counts from where the rule begins, if nothing ever arrives', () => {
    expect(run(rule, [hand(5, 'start'), timer(64), timer(65)])).toEqual([[65, 'firing', triggered]])
  })

  test('of a field is not ended by readings without it', () => {
    expect(run({ ...rule, field: 't' }, [reading(0, 1), reading(50), timer(60)])).toEqual([
      [60, 'firing', triggered],
    ])
  })
})

describe('a condition', () => {
  const { field: _, operator: __, threshold: ___, ...rest } = isHot
  const rule = { ...rest, condition: 't > 80.0 && t < 90.0' }

  test('fires where it is true', () => {
    expect(run(rule, [reading(1, 79), reading(2, 85), reading(3, 95)])).toEqual([
      [2, 'firing', triggered],
      [3, 'cleared', cleared],
    ])
  })

  test('is moved by no reading for which it says nothing', () => {
    expect(run(rule, [reading(1, 85), reading(2)])).toEqual([[1, 'firing', triggered]])
  })

  test('is not looked at once the rules of a stream have done all the work that they may', () => {
    const signal = { ...reading(1, 85), allowance: { left: 0 } } as Signal

    expect(run(rule, [signal])).toEqual([])
  })
})
