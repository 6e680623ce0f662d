import type { ResourceMove } from '../../anchors/intents/anchored-kind.ts'
import {
  appendedStep,
  completedStatus,
  errorStatus,
  failedStatus,
  statusBeforeError,
  statusesIn,
  submittedStatus,
} from '../progress/progress.ts'

/** What an anchor changes of whatever resource. */
export interface AnchoredRow {
  readonly status: string
  readonly tx_hash: string
  readonly progress: string
  readonly failure: string | null
}

/** How far a status is: none goes back, and nothing follows the last ones. */
const ranks: Readonly<Record<string, number>> = {
  METADATA_STORED: 1,
  [submittedStatus]: 2,
  [errorStatus]: 3,
  [completedStatus]: 4,
  [failedStatus]: 4,
}

/** Statuses that somebody is told of, by the word that events have for them. */
const words = {
  [completedStatus]: 'completed',
  [failedStatus]: 'failed',
  [errorStatus]: 'error',
} as const

export type ToldWord = (typeof words)[keyof typeof words]

export interface MovedRow {
  readonly row: AnchoredRow
  /** Whether the ledger has, or had, its transaction: what it is known by there is shown from then on. */
  readonly isSubmitted: boolean
  /** What whoever is told of it hears, if anything. */
  readonly told: ToldWord | undefined
}

/**
 * What becomes of a resource: undefined for one that has come to its end. A status that it has had is not entered
 * again, and none goes back.
 */
export function movedRow(row: AnchoredRow, move: ResourceMove): MovedRow | undefined {
  if (rankOf(row.status) === ranks[completedStatus]) return undefined
  const had = new Set(statusesIn(row.progress))
  let { progress, failure } = row
  let status = statusOf(row, move)
  let told: ToldWord | undefined
  for (const next of move.statuses) {
    if (rankOf(next) <= rankOf(status)) continue
    if (!had.has(next)) progress = appendedStep(progress, next, move.atUs)
    had.add(next)
    status = next
    failure = failureAfter(next, move)
    if (next in words) told = words[next as keyof typeof words]
  }
  const isSubmitted = had.has(submittedStatus)
  const hash = isSubmitted && move.facts.txHash !== '' ? move.facts.txHash : row.tx_hash
  return { row: { status, progress, failure, tx_hash: hash }, isSubmitted, told }
}

/** What comes to pass after an error goes on from before it: it has been on the ledger, too. */
function statusOf({ status, progress }: AnchoredRow, { statuses }: ResourceMove): string {
  const isDone = status === errorStatus && statuses.includes(completedStatus)
  return isDone ? statusBeforeError(progress) : status
}

function rankOf(status: string): number {
  return ranks[status] ?? 0
}

/** The failure that stays: what comes to pass all the same has none. */
function failureAfter(status: string, { failure }: ResourceMove): string | null {
  return status === failedStatus || status === errorStatus
    ? JSON.stringify(failure ?? unknownFailure)
    : null
}

const unknownFailure = { error: 'not_anchored', message: 'the ledger does not have it' }
