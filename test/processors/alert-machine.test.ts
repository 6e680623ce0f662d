import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AlertTransition,
  admit,
  newClock,
  newMemory,
  type RuleMemory,
  type Signal,
} from '../../processors/alert-memory.ts'
import {
  type AlertRule,
  type CompiledRule,
  compileAlertRules,
  operators,
  windowFunctions,
} from '../../processors/alert-rules.ts'
import { conditionSteps, step } from '../../processors/alerts.ts'
import { modelledTransitions } from '../support/alert-model.ts'

const secondUs = 1_000_000
/** On a boundary of all windows of these tests. */
const startUs = 1_700_006_400 * secondUs

const duration = fc.constantFrom(0, 30, 60, 120).map((seconds) => seconds * secondUs)
const window = fc.constantFrom(1, 60, 120).map((seconds) => seconds * secondUs)
const value = fc.integer({ min: 0, max: 10 })
const order = fc.constantFrom(...operators.slice(0, 4))
const common = { id: fc.constant('rule'), severity: fc.constant('warning' as const) }
const held = { ...common, forUs: duration, clearForUs: duration }

const comparison = fc
  .record({ operator: fc.constantFrom(...operators), threshold: value, gap: fc.nat({ max: 3 }) })
  .map(({ operator, threshold, gap }) => {
    if (operator === '==' || operator === '!=') return { operator, threshold }
    const clearThreshold = operator.startsWith('>') ? threshold - gap : threshold + gap
    return { operator, threshold, ...(gap > 0 && { clearThreshold }) }
  })

const rule: fc.Arbitrary<AlertRule> = fc.oneof(
  fc
    .tuple(fc.record(held), comparison)
    .map(([base, compared]) => ({ ...base, ...compared, field: 't' })),
  fc
    .record({
      ...held,
      function: fc.constantFrom(...windowFunctions),
      windowUs: window,
      operator: order,
      threshold: value,
    })
    .map((each) => ({ ...each, field: 't' })),
  fc.record({
    ...held,
    function: fc.constant('count' as const),
    windowUs: window,
    operator: order,
    threshold: value,
  }),
  fc
    .record({
      ...held,
      function: fc.constant('rate' as const),
      operator: order,
      threshold: value.map((each) => each / 50),
    })
    .map((each) => ({ ...each, field: 't' })),
  fc.record({ ...held, condition: fc.constant('t > 5.0') }),
  fc.record({ ...common, forUs: fc.constant(0), clearForUs: duration, silentForUs: window }),
  fc.record({
    ...common,
    forUs: fc.constant(0),
    clearForUs: duration,
    silentForUs: window,
    field: fc.constant('t'),
  }),
)

const pause = fc
  .constantFrom(0, 1, 7, 30, 60, 61, 150, 570, 700)
  .map((seconds) => seconds * secondUs)

/** Each happens some time after the one before, and readings are under way for some time. */
const happening = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('reading' as const),
      pauseUs: pause,
      lagUs: pause,
      t: fc.option(value),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('timer' as const), pauseUs: pause }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('acknowledge', 'mute', 'unmute', 'clear', 'start', 'retire'),
      pauseUs: pause,
      muteUs: pause,
    }),
  },
)

const downtime = fc.record({ kind: fc.constant('downtime' as const), pauseUs: pause })

/** Signals as the journal has them: by the clock of receipt in order, and readings that are admitted. */
const signals = fc.array(happening, { maxLength: 60 }).map(inOrder)

/** Signals of a service that is away now and then. */
const signalsOfStarts = fc
  .array(fc.oneof({ weight: 8, arbitrary: happening }, downtime), { maxLength: 60 })
  .map(inOrder)

type Happening = typeof happening extends fc.Arbitrary<infer Each> ? Each : never
type Downtime = typeof downtime extends fc.Arbitrary<infer Each> ? Each : never

function inOrder(happenings: readonly (Happening | Downtime)[]): readonly Signal[] {
  const clock = newClock()
  let nowUs = startUs
  return happenings.flatMap((each): readonly Signal[] => {
    const beforeUs = nowUs
    nowUs += each.pauseUs
    if (each.kind === 'downtime') return [{ kind: 'downtime', fromUs: beforeUs, untilUs: nowUs }]
    if (each.kind === 'timer') return [{ kind: 'timer', dueUs: nowUs }]
    if (!('lagUs' in each)) {
      const untilUs = nowUs + each.muteUs
      return [{ kind: each.kind as 'mute', atUs: nowUs, untilUs, by: 'someone' }]
    }
    const timeUs = nowUs - each.lagUs
    return admit(clock, timeUs) ? [reading(timeUs, nowUs, each.t)] : []
  })
}

function reading(timeUs: number, receivedAtUs: number, t: number | null): Signal {
  const values = t === null ? {} : { t }
  return { kind: 'reading', timeUs, receivedAtUs, values, allowance: { left: conditionSteps } }
}

function compiled(given: AlertRule): CompiledRule {
  const fields = { t: { type: 'number' } } as const
  return compileAlertRules([given], fields).rules[0] as CompiledRule
}

function run(given: AlertRule, all: readonly Signal[]): readonly AlertTransition[] {
  const machine = compiled(given)
  const memory = newMemory()
  return all.flatMap((signal) => step(machine, memory, signal))
}

/** Values of functions may differ in the last digits, by the order of their computation. */
function rounded(transitions: readonly AlertTransition[]) {
  return transitions.map((each) => ({
    ...each,
    value: typeof each.value === 'number' ? Number(each.value.toPrecision(9)) : each.value,
  }))
}

describe('the state machine', () => {
  test('does what the model does, whatever the rule and whatever happens', () => {
    fc.assert(
      fc.property(rule, signalsOfStarts, (given, all) => {
        expect(rounded(run(given, all))).toEqual(rounded(modelledTransitions(given, all)))
      }),
      { numRuns: 1_500 },
    )
  })

  test('goes on after a crash as if there had been none', () => {
    fc.assert(
      fc.property(rule, signalsOfStarts, fc.func(fc.boolean()), (given, all, crashes) => {
        const machine = compiled(given)
        let memory = newMemory()
        const transitions = all.flatMap((signal, index) => {
          if (crashes(index)) memory = JSON.parse(JSON.stringify(memory)) as RuleMemory
          return step(machine, memory, signal)
        })

        expect(transitions).toEqual(run(given, all))
      }),
      { numRuns: 300 },
    )
  })

  test('makes the same of readings with any timers between them', () => {
    fc.assert(
      fc.property(
        rule,
        signals,
        fc.array(fc.nat({ max: 100 }), { maxLength: 20 }),
        (given, all, at) => {
          const withTimers = all.flatMap((signal, index) => {
            const beforeUs = index === 0 ? startUs : receiptOf(all[index - 1] as Signal)
            const gapUs = receiptOf(signal) - beforeUs
            const timers = at.filter((place) => place % all.length === index)
            return [
              ...timers
                .toSorted((left, right) => left - right)
                .map(
                  (place): Signal => ({ kind: 'timer', dueUs: beforeUs + (gapUs * place) / 100 }),
                ),
              signal,
            ]
          })

          expect(run(given, withTimers)).toEqual(run(given, all))
        },
      ),
      { numRuns: 500 },
    )
  })
})

function receiptOf(signal: Signal): number {
  if (signal.kind === 'reading') return signal.receivedAtUs
  if (signal.kind === 'downtime') return signal.untilUs
  return signal.kind === 'timer' ? signal.dueUs : signal.atUs
}
