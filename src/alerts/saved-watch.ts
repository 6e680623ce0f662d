import type { RuleMemory } from '../../processors/alert-memory.ts'
import type { AlertRule } from '../../processors/alert-rules.ts'
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
  /** What the stream is called. */
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
