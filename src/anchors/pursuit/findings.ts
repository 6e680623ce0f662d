import type { Ledger, SignedTransaction } from '../../ledgers/ledger.ts'
import type { AnchorState } from '../intents/anchor.ts'
import type { AnchorFacts } from '../intents/anchored-kind.ts'
import type { NextStep, Seen } from '../intents/next-step.ts'
import type { DeskRequest, MovedAnchors, MovedTransaction, SignedAnchors } from './desk.ts'
import type { OpenTransaction } from './open-work.ts'

/** What was seen of a transaction, or of all for its intent under its sequence. */
export interface Observation {
  /** The one that decides. */
  readonly hash: string
  readonly seen: Seen
  /** Whether nothing is said of others that may get in. */
  readonly hasRivals: boolean
  /** What is signed under better terms, where it is outbid. */
  readonly better?: SignedTransaction
}

/** What a round over the open transactions of an account has come to. */
export interface Flown extends Pick<DeskRequest, 'signed' | 'transactions' | 'moved'> {
  /** When to look again, in steady microseconds. */
  readonly dueAtUs: number
  /** Whether a place is not taken by what was to have it: sequences have to be compared. */
  readonly isOutOfStep: boolean
  /** Whether a place may be empty, or another's, of which no row says that: sequences have to be compared. */
  readonly hasGap: boolean
  /** Why the ledger could not be asked. */
  readonly problem: string | undefined
}

/** States of anchors that are pursued. */
const pursued: readonly AnchorState[] = ['waiting', 'signed', 'submitted', 'included']

/** States of what is in a block. */
const inBlock: readonly AnchorState[] = ['included', 'completed']

/** Collects what follows from sightings. */
export class Findings implements Flown {
  readonly signed: SignedAnchors[] = []
  readonly transactions: MovedTransaction[] = []
  readonly moved: MovedAnchors[] = []
  readonly #ledger: Ledger
  readonly #ended = new Set<string>()
  /** Whether something is in no block that comes before whatever is noted next. */
  #isBehind = false
  /** Whether something of that waits under the terms that it has: nothing gets in before it, whatever it pays. */
  isHeldUp = false
  hasGap = false
  dueAtUs = Number.POSITIVE_INFINITY
  isOutOfStep = false
  problem: string | undefined

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Leaves a transaction for when it is due. */
  passOver(
    { action, dueAtUs, state }: Pick<NextStep, 'action' | 'dueAtUs' | 'state'>,
    { isRaised = false } = {},
  ): void {
    if (action !== 'rest') this.waitUntil(dueAtUs)
    if (inBlock.includes(state)) return
    this.#isBehind = true
    this.isHeldUp ||= !isRaised
  }

  waitUntil(dueAtUs: number): void {
    this.dueAtUs = Math.min(this.dueAtUs, dueAtUs)
  }

  /** @param hash of the newest of an intent under its sequence */
  hasEnded(hash: string): boolean {
    return this.#ended.has(hash)
  }

  note(transaction: OpenTransaction, observed: Observation, step: NextStep): void {
    const { hash, seen, better } = observed
    if (seen.is === 'unreachable') this.problem = seen.reason
    // What comes before it is missing, and nothing of ours is under way there.
    if (seen.is === 'early' && !this.#isBehind) this.hasGap = true
    if (seen.is === 'included' && seen.isFinal) {
      this.transactions.push({ hash, to: 'final', inclusion: seen.inclusion })
      this.#ended.add(transaction.hash)
    }
    if (seen.is === 'refused' || seen.is === 'superseded') this.#end(transaction, observed)
    if (step.action === 'bump' && better) {
      this.signed.push({
        transaction: better,
        intentId: transaction.intentId,
        anchors: [],
        isBump: true,
      })
    }
    this.#move(transaction, observed, step)
  }

  #end({ hash, earlier }: OpenTransaction, { seen, hasRivals }: Observation): void {
    if (hasRivals && seen.is === 'superseded') return
    const dead = hasRivals ? [hash] : [hash, ...earlier]
    for (const one of dead) this.transactions.push({ hash: one, to: 'dead' })
    if (hasRivals) return
    this.#ended.add(hash)
    this.isOutOfStep = true
  }

  /** What has moved, or is known by another hash from now on. */
  #move(
    transaction: OpenTransaction,
    { hash, seen, hasRivals }: Observation,
    step: NextStep,
  ): void {
    const { earlier, named, state } = transaction
    const isDecided = seen.is === 'included' || (seen.is === 'refused' && !hasRivals)
    const shown = isDecided ? hash : transaction.hash
    const isRenamed = named !== shown || (seen.is === 'accepted' && earlier.length > 0)
    if (step.state === state && !isRenamed) return
    if (hasRivals && seen.is === 'refused') return
    const isEnd = step.state === 'completed' || step.state === 'failed'
    this.moved.push({
      of: { transactionHash: shown },
      from: isEnd ? [...pursued, 'error'] : pursued,
      to: step.state,
      statuses: step.statuses,
      facts: this.#factsOf(transaction, shown, seen),
      failure: step.failure,
    })
  }

  #factsOf({ assetCode }: OpenTransaction, txHash: string, seen: Seen): AnchorFacts {
    const { account, distributionWallet } = this.#ledger
    return {
      txHash,
      account,
      distributionWallet,
      mapping: assetCode === null ? '' : this.#ledger.mappingOf(assetCode),
      tokenId: (seen.is === 'included' && seen.inclusion.tokenId) || '',
    }
  }
}
