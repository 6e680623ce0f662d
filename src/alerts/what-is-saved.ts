import type { RuleMemory } from '../../processors/alert-memory.ts'
import type { CompiledRule } from '../../processors/alert-rules.ts'

/** Nothing is wrong, and nothing was: what most rules are, most of the time. */
export function isIdle({ state, isDisarmed, mutedUntilUs, sinceUs }: RuleMemory): boolean {
  return state === 'ok' && sinceUs === null && !isDisarmed && mutedUntilUs === null
}

/** Any reading puts such a silence off. */
function isCountedOn({ kind, field }: CompiledRule): boolean {
  return kind === 'silence' && field === undefined
}

/** Whether a reading has left something behind in an idle rule. */
export function hasMoved(
  rule: CompiledRule,
  memory: RuleMemory,
  silentDueUs: number | null,
): boolean {
  if (rule.kind === 'threshold' || rule.kind === 'condition' || isCountedOn(rule)) return false
  return rule.kind !== 'silence' || memory.silentDueUs !== silentDueUs
}

/**
 * A reading that only puts silence off is not saved with its rule, as that would be a row for each
 * reading: its receipt is saved, with the counters of the stream.
 */
export function putOffSilence(
  rules: readonly CompiledRule[],
  memories: ReadonlyMap<string, RuleMemory>,
  receivedAtUs: number,
): void {
  for (const rule of rules) {
    const memory = memories.get(rule.id)
    if (!memory || !isCountedOn(rule) || memory.state !== 'ok') continue
    if (memory.silentDueUs === null) continue
    const dueUs = receivedAtUs + (rule.silentForUs ?? 0)
    memory.silentDueUs = Math.max(memory.silentDueUs, dueUs)
  }
}
