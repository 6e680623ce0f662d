import type { RuleMemory } from '../../processors/alert-memory.ts'
import type { AlertRule, CompiledRule } from '../../processors/alert-rules.ts'
import type { DefinedRules } from './defined-rules.ts'

/** Whose alerts they are. */
export interface StreamFacts {
  readonly id: string
  readonly ownerId: string
  readonly vaultId: string
}

/** The rules of one version of a stream, and what they stand on. */
export interface VersionRules extends DefinedRules {
  readonly version: number
  /** The name of the stream. */
  readonly name: string
}

/** What is kept of a stream between two transactions. */
export interface SavedWatch {
  readonly of: VersionRules
  readonly fleetRules: readonly AlertRule[]
  readonly memories: Readonly<Record<string, RuleMemory>>
  /** See `NoticeSequences`. */
  readonly sequences: string
}

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
