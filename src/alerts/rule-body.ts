import type { AlertRule } from '../../processors/alert-rules.ts'

const units = [
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['m', 60_000_000],
  ['s', 1_000_000],
] as const

/** A rule as definitions have it: durations as texts, and nothing of what was not said. */
export function ruleBody(rule: AlertRule): object {
  const { forUs, clearForUs, windowUs, silentForUs, ...rest } = rule
  return {
    ...rest,
    ...durations({ for: forUs, clearFor: clearForUs, window: windowUs, silentFor: silentForUs }),
  }
}

function durations(given: Readonly<Record<string, number | undefined>>): object {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, us = 0]) => (us === 0 ? [] : [[name, textOf(us)]])),
  )
}

/** In the largest unit that says it exactly. */
function textOf(us: number): string {
  const [unit, size] = units.find(([, each]) => us % each === 0) ?? ['s', 1_000_000]
  return `${us / size}${unit}`
}
