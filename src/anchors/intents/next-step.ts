import type { Sighting, Submission } from '../../ledgers/ledger.ts'
import type { AnchorFailure, AnchorState, AnchorStatus } from './anchor.ts'

/** An anchor, or all anchors of one transaction, as far as it matters for what is to be done next. */
export interface PursuedAnchor {
  readonly state: AnchorState
  /** Whether a transaction of it is signed: it is never signed again as long as that may get in. */
  readonly isSigned: boolean
  /**
   * Whether another transaction under its sequence may get in, of which nothing is said by what was seen: at most one of
   * them does, and then nothing else is signed.
   */
  readonly hasRivals: boolean
  /** Since when it is tried, in steady microseconds. */
  readonly begunAtUs: number
  /** Failures in a row. */
  readonly failures: number
}

/** What was seen: `nothing` before anybody has looked; `outbid` where it is in no block, and there are better terms for it. */
export type Seen = { readonly is: 'nothing' } | { readonly is: 'outbid' } | Sighting | Submission

export interface AnchorRules {
  /** How long it is tried. */
  readonly patienceUs: number
  /** Wait after the first failure; it doubles with each. */
  readonly retryUsMin: number
  readonly retryUsMax: number
  /** Random, 0 to 1: so that not all come back at once. */
  readonly jitter: number
}

/** What follows. */
export interface NextStep {
  readonly state: AnchorState
  readonly failures: number
  /** `bump`: to sign the same under the same sequence once more, and better terms. */
  readonly action: 'sign' | 'bump' | 'send' | 'look' | 'rest'
  /** When to do it, in steady microseconds. */
  readonly dueAtUs: number
  /** Statuses that users see from now on, in order. */
  readonly statuses: readonly AnchorStatus[]
  readonly failure?: AnchorFailure
}

/**
 * What follows from what was seen of an anchor. Nothing else decides that, and nothing is remembered for it but the
 * anchor itself.
 *
 * A transaction is signed for it when there is none, or when the one that there was can never get in; and under the sequence of the
 * one that there is, so that only one of them gets in, when that is outbid.
 */
export function nextStep(
  anchor: PursuedAnchor,
  seen: Seen,
  nowUs: number,
  rules: AnchorRules,
): NextStep {
  if (anchor.state === 'completed' || anchor.state === 'failed') return resting(anchor)
  if (seen.is === 'unreachable') return again(anchor, seen.reason, nowUs, rules)
  const isOver = seen.is === 'refused' || seen.is === 'superseded'
  if (isOver && anchor.hasRivals) return goOn(anchor, 'look', nowUs + rules.retryUsMin)
  if (seen.is === 'refused') return failed(seen.reason)
  if (seen.is === 'superseded') return goOn(unsigned(anchor), 'sign', nowUs)
  // Without a transaction there is nothing that could have been seen of it.
  if (!anchor.isSigned) return goOn(anchor, 'sign', nowUs)
  if (seen.is === 'nothing') return goOn(anchor, 'look', nowUs)
  if (seen.is === 'included' && seen.isFinal) return completed(nowUs)
  return late(anchor, nowUs, rules) ?? underWay(anchor, seen, nowUs, rules)
}

/** What follows while there is time, of what is signed. */
function underWay(
  anchor: PursuedAnchor,
  { is }: Seen,
  nowUs: number,
  rules: AnchorRules,
): NextStep {
  const soonUs = nowUs + rules.retryUsMin
  if (is === 'outbid') return goOn(takenBack(anchor), 'bump', nowUs)
  if (is === 'unknown') return back(anchor, nowUs)
  if (is === 'early' && anchor.hasRivals) return goOn(anchor, 'look', soonUs)
  if (is === 'early') return back(anchor, soonUs)
  return moved(anchor, is === 'included' ? 'included' : 'submitted', soonUs)
}

function completed(nowUs: number): NextStep {
  return {
    state: 'completed',
    failures: 0,
    action: 'rest',
    dueAtUs: nowUs,
    statuses: ['LEDGER_SUBMITTED', 'COMPLETED'],
  }
}

function resting({ state, failures }: PursuedAnchor): NextStep {
  return { state, failures, action: 'rest', dueAtUs: 0, statuses: [] }
}

/** What is not done in time stays an error until somebody asks for it again, or it is found on the ledger all the same. */
function goOn(
  { state, failures }: PursuedAnchor,
  action: Exclude<NextStep['action'], 'rest'>,
  dueAtUs: number,
): NextStep {
  return { state, failures, action, dueAtUs, statuses: [] }
}

/** What was in a block that is taken back. */
function takenBack(anchor: PursuedAnchor): PursuedAnchor {
  return anchor.state === 'included' ? { ...anchor, state: 'signed' } : anchor
}

function unsigned(anchor: PursuedAnchor): PursuedAnchor {
  return { ...anchor, isSigned: false, state: anchor.state === 'error' ? 'error' : 'waiting' }
}

/** The ledger has it: users see that once, whatever becomes of the block. */
function moved({ state }: PursuedAnchor, to: 'submitted' | 'included', dueAtUs: number): NextStep {
  return {
    state: state === 'error' ? 'error' : to,
    failures: 0,
    action: 'look',
    dueAtUs,
    statuses: state === 'error' ? [] : ['LEDGER_SUBMITTED'],
  }
}

/** The ledger does not have it, or not any more: the same transaction is sent again. */
function back({ state, failures }: PursuedAnchor, dueAtUs: number): NextStep {
  const next = state === 'error' ? 'error' : 'signed'
  return { state: next, failures, action: 'send', dueAtUs, statuses: [] }
}

function again(anchor: PursuedAnchor, reason: string, nowUs: number, rules: AnchorRules): NextStep {
  const { retryUsMin, retryUsMax, jitter } = rules
  const failures = anchor.failures + 1
  const waitUs = Math.min(retryUsMax, retryUsMin * 2 ** Math.min(anchor.failures, 30))
  const step: NextStep = {
    ...goOn(anchor, anchor.isSigned ? 'look' : 'sign', nowUs + waitUs * (0.5 + jitter / 2)),
    failures,
  }
  return late(anchor, nowUs, rules, reason) ?? step
}

function failed(reason: string): NextStep {
  return {
    state: 'failed',
    failures: 0,
    action: 'rest',
    dueAtUs: 0,
    statuses: ['FAILED'],
    failure: { error: 'ledger_refused', message: reason },
  }
}

/** The step of one that took too long; undefined while there is time. */
function late(
  { state, begunAtUs, failures }: PursuedAnchor,
  nowUs: number,
  { patienceUs }: AnchorRules,
  reason = 'the ledger did not take it in time',
): NextStep | undefined {
  if (state === 'error' || nowUs - begunAtUs < patienceUs) return undefined
  const failure = { error: 'ledger_timeout', message: reason }
  return { state: 'error', failures, action: 'rest', dueAtUs: 0, statuses: ['ERROR'], failure }
}
