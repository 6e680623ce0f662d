import {
  type AlertTransition,
  type HandSignal,
  newMemory,
  type Signal,
} from '../../processors/alert-memory.ts'
import { type AlertRule, compileAlertRules, type Scalar } from '../../processors/alert-rules.ts'
import { conditionSteps, step } from '../../processors/alerts.ts'

const atOnce = { id: 'rule', severity: 'warning', forUs: 0, clearForUs: 0 } as const
export const isHot = { ...atOnce, field: 't', operator: '>', threshold: 80 } as const
export const secondUs = 1_000_000

/** What is told of a transition. */
export const triggered = 'triggered'
export const cleared = 'cleared'

/** A reading at so many seconds, received at the same time. */
export function reading(seconds: number, t?: Scalar): Signal {
  const timeUs = seconds * secondUs
  const values = t === undefined ? {} : { t }
  const allowance = { left: conditionSteps }
  return { kind: 'reading', timeUs, receivedAtUs: timeUs, values, allowance }
}

export function timer(seconds: number): Signal {
  return { kind: 'timer', dueUs: seconds * secondUs }
}

export function hand(seconds: number, kind: HandSignal['kind'], untilSeconds = 0): Signal {
  return { kind, atUs: seconds * secondUs, untilUs: untilSeconds * secondUs, by: 'someone' }
}

export function transitions(
  rule: AlertRule,
  signals: readonly Signal[],
): readonly AlertTransition[] {
  const type = typeof rule.threshold === 'string' ? 'string' : 'number'
  const [compiled] = compileAlertRules([rule], { t: { type }, door: { type: 'boolean' } }).rules
  if (compiled === undefined) throw new Error('there is a rule')
  const memory = newMemory()
  return signals.flatMap((signal) => step(compiled, memory, signal))
}

/** What becomes of a rule: the second of each transition, where to, and what is told. */
export function run(rule: AlertRule, signals: readonly Signal[]) {
  return transitions(rule, signals).map(({ to, atUs, notice }) => [atUs / secondUs, to, notice])
}
