import type { ErrorDetail } from '../../core/errors.ts'
import type { Outcome } from '../../ledgers/seals/receipt-format.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { AlertStep } from './moved-alerts.ts'

/** Why a fact is not known, or not shown. */
export const missingReasons = [
  'trimmed',
  'expired',
  'removed',
  'not_kept',
  'not_searched',
  'too_many',
] as const

export interface Missing {
  readonly what: string
  readonly reason: (typeof missingReasons)[number]
  readonly message: string
}

export interface FoundPoint {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface Refusal {
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly source: string
}

/** One reading of the time that was asked for, with what its sources know of it. */
export interface FoundReading {
  readonly outcome: Outcome
  /** Its values, where they are known. */
  readonly point: FoundPoint | undefined
  /** Whether all fields are known, so that its canonical text is known, too. */
  readonly isComplete: boolean
  readonly digest: bigint | undefined
  /** Declared fields that are out of their range. */
  readonly flagged: readonly string[]
  readonly receivedAtUs: number | undefined
  readonly kind: 'received' | 'imported' | 'redriven' | undefined
  readonly sender: string | undefined
  /** Its place in the journal, where that is known; the entry itself may be trimmed. */
  readonly offset: Offset | undefined
  /** Why its entry is not found in the journal. */
  readonly journalProblem: Missing | undefined
  /** The version that judged it, where its entry says so. */
  readonly version: number | undefined
  readonly refusal: Refusal | undefined
  /** Steps of alerts that it caused. */
  readonly steps: readonly AlertStep[]
  readonly missing: readonly Missing[]
}
