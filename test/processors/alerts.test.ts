import { describe, expect, test } from 'vitest'
import { admit, newClock, newMemory, type Signal } from '../../processors/alert-memory.ts'
import { type AlertRule, compileAlertRules } from '../../processors/alert-rules.ts'
import { conditionSteps, step } from '../../processors/alerts.ts'

const atOnce = { id: 'rule', severity: 'warning', forUs: 0, clearForUs: 0 } as const
const isHot = { ...atOnce, field: 't', operator: '>', threshold: 80 } as const
const secondUs = 1_000_000

/** A reading of `t` at so many seconds, received at the same time. */
function reading(seconds: number, t?: number): Signal {
  const timeUs = seconds * secondUs
  const values = t === undefined ? {} : { t }
  return {
    kind: 'reading',
    timeUs,
    receivedAtUs: timeUs,
    values,
    allowance: { left: conditionSteps },
  }
}

function run(rule: AlertRule, signals: readonly Signal[]) {
  const [compiled] = compileAlertRules([rule], { t: { type: 'number' } }).rules
  if (compiled === undefined) throw new Error('there is a rule')
  const memory = newMemory()
  return signals
    .flatMap((signal) => step(compiled, memory, signal))
    .map(({ from, to, atUs, value }) => [atUs / secondUs, from, to, value])
}

describe('a threshold', () => {
  test('fires when it is broken, and clears when it is not', () => {
    expect(run(isHot, [reading(1, 80), reading(2, 81), reading(3, 90), reading(4, 80)])).toEqual([
      [2, 'ok', 'firing', 81],
      [4, 'firing', 'cleared', 80],
    ])
  })
})

describe('the clock of a stream', () => {
  test('counts what is older than the newest reading, and lets it move nothing', () => {
    const clock = newClock()

    expect([1, 3, 2, 3, 4].map((timeUs) => admit(clock, timeUs))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ])
    expect(clock.late).toBe(1)
  })

  test('knows a reading of the newest time when it is sent again', () => {
    const clock = newClock()
    const sent = [
      [1, 10],
      [1, 11],
      [1, 10],
      [2, 10],
      [2, 10],
    ] as const

    expect(sent.map(([timeUs, digest]) => admit(clock, timeUs, digest))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ])
    expect(clock.late).toBe(0)
  })
})
