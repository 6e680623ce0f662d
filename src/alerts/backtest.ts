import {
  type AlertTransition,
  newMemory,
  type RuleMemory,
  type Signal,
} from '../../processors/alert-memory.ts'
import {
  type AlertRule,
  type CompiledRule,
  compileAlertRules,
  type Scalar,
  type Severity,
} from '../../processors/alert-rules.ts'
import { conditionSteps, step } from '../../processors/alerts.ts'
import type { FieldMap } from '../contracts/stream-schema.ts'
import { type SeriesColumn, type SeriesPage, valueAt } from '../storage/time-series/series.ts'
import { AroundAlerts, type ShownReading } from './around-alerts.ts'

/** Alerts that are listed of one set of rules, each with its readings; more are counted. */
const alertsMax = 500

/** What rules are tried on. Plain data: it goes to another thread. */
export interface BacktestPlan {
  readonly proposed: readonly AlertRule[]
  /** The rules of the stream, to compare with; nothing where these are the ones that are tried. */
  readonly current: readonly AlertRule[] | undefined
  readonly fields: FieldMap
  /** The fields that rules look at: the columns of the pages, in this order. */
  readonly columns: readonly string[]
}

/** An alert that would have been. Times are microseconds since the epoch. */
export interface BacktestAlert {
  readonly ruleId: string
  readonly severity: Severity
  readonly sinceUs: number
  readonly triggeredAtUs: number
  /** Null where it goes on at the end. */
  clearedAtUs: number | null
  readonly value: Scalar | null
  readonly threshold: Scalar | null
  isFlapping: boolean
  flaps: number
  readonly readings: readonly ShownReading[]
}

export interface BacktestResult {
  readonly readings: number
  readonly proposed: RulesResult
  readonly current: RulesResult | undefined
}

interface RulesResult {
  /** In the order in which they began; those after `alertsMax` are left out. */
  readonly alerts: readonly BacktestAlert[]
  /** All that there would have been. */
  readonly count: number
}

/**
 * Runs rules over stored readings, in the order of time. Pages of readings do not say when those were received: each
 * reading is taken as received at its own time, and timers go off in between as they would then. Pure.
 */
export class Backtest {
  readonly #sets: readonly RuleSet[]
  readonly #around: AroundAlerts
  readonly #plan: BacktestPlan
  #readings = 0

  constructor(plan: BacktestPlan) {
    this.#plan = plan
    this.#around = new AroundAlerts(plan.columns)
    this.#sets = [plan.proposed, ...(plan.current === undefined ? [] : [plan.current])].map(
      (rules) => new RuleSet(compileAlertRules(rules, plan.fields).rules, this.#around),
    )
  }

  take({ timesUs, columns }: SeriesPage): void {
    const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>
    const allowance = { left: 0 }
    const names = this.#plan.columns
    this.#around.turnTo({ timesUs, columns })
    for (const [row, timeUs] of timesUs.entries()) {
      for (const [index, name] of names.entries()) {
        values[name] = valueAt(columns[index] as SeriesColumn, row)
      }
      this.#around.goTo(row)
      const signal: Signal = { kind: 'reading', timeUs, receivedAtUs: timeUs, values, allowance }
      for (const set of this.#sets) {
        // Each set is run as if there were no other.
        allowance.left = conditionSteps
        set.step(signal)
      }
    }
    this.#readings += timesUs.length
  }

  /** @param endUs until when time passes after the last reading */
  finish(endUs: number): BacktestResult {
    this.#around.end()
    for (const set of this.#sets) set.step({ kind: 'timer', dueUs: endUs })
    const [proposed, current] = this.#sets.map((set) => set.result())
    return { readings: this.#readings, proposed: proposed as RulesResult, current }
  }
}

/** Rules that are run together, and the alerts that they raise. */
class RuleSet {
  readonly #rules: readonly { readonly rule: CompiledRule; readonly memory: RuleMemory }[]
  readonly #around: AroundAlerts
  readonly #alerts: BacktestAlert[] = []
  readonly #open = new Map<string, BacktestAlert>()
  #count = 0

  constructor(rules: readonly CompiledRule[], around: AroundAlerts) {
    this.#rules = rules.map((rule) => ({ rule, memory: newMemory() }))
    this.#around = around
  }

  step(signal: Signal): void {
    for (const { rule, memory } of this.#rules) {
      for (const transition of step(rule, memory, signal)) this.#note(transition)
    }
  }

  result(): RulesResult {
    const inOrder = this.#alerts.toSorted((left, right) => left.triggeredAtUs - right.triggeredAtUs)
    return { alerts: inOrder, count: this.#count }
  }

  #note({ ruleId, severity, to, atUs, sinceUs, value, threshold, ...rest }: AlertTransition): void {
    const { isFlapping, flaps } = rest
    if (to === 'firing') {
      this.#count++
      if (this.#alerts.length >= alertsMax) return
      const about = { ruleId, severity, sinceUs, triggeredAtUs: atUs, clearedAtUs: null }
      const readings = this.#around.show()
      const alert = { ...about, value, threshold, isFlapping, flaps, readings }
      this.#alerts.push(alert)
      this.#open.set(ruleId, alert)
    } else if (to === 'cleared') {
      const alert = this.#open.get(ruleId)
      if (alert === undefined) return
      this.#open.delete(ruleId)
      alert.clearedAtUs = atUs
      alert.isFlapping = isFlapping
      alert.flaps = flaps
    }
  }
}
