import type { BacktestAlert } from './backtest.ts'

/** How two sets of rules differ in the alerts that they raise. */
export interface BacktestDiff {
  readonly both: readonly BacktestAlert[]
  readonly onlyProposed: readonly BacktestAlert[]
  readonly onlyCurrent: readonly BacktestAlert[]
}

/**
 * An alert is raised by both where rules of the same id have alerts that share some time. Each alert has
 * one counterpart at most: the first one, by the time at which they began.
 */
export function diffOf(
  proposed: readonly BacktestAlert[],
  current: readonly BacktestAlert[],
): BacktestDiff {
  const left = Map.groupBy(current, ({ ruleId }) => ruleId)
  const both: BacktestAlert[] = []
  const onlyProposed: BacktestAlert[] = []
  const found = new Set<BacktestAlert>()
  for (const alert of proposed) {
    const others = left.get(alert.ruleId) ?? []
    // Alerts that are over before this one begins have nothing to do with later ones either.
    while (others[0] !== undefined && endOf(others[0]) < alert.triggeredAtUs) others.shift()
    const [other] = others
    if (other !== undefined && other.triggeredAtUs <= endOf(alert)) {
      others.shift()
      found.add(other)
      both.push(alert)
    } else onlyProposed.push(alert)
  }
  return { both, onlyProposed, onlyCurrent: current.filter((alert) => !found.has(alert)) }
}

function endOf({ clearedAtUs }: BacktestAlert): number {
  return clearedAtUs ?? Number.POSITIVE_INFINITY
}
