import {
  type Ledger,
  LedgerUnreachable,
  type SignedTransaction,
  type Submission,
} from '../../ledgers/ledger.ts'
import type { AnchorState } from '../intents/anchor.ts'
import { type NextStep, nextStep, type Seen } from '../intents/next-step.ts'
import { type Sighted, seenTogether } from '../intents/seen-together.ts'
import { deedOfSigned, fillerDeed } from './deeds.ts'
import { Findings, type Flown, type Observation } from './findings.ts'
import type { LaneNeeds } from './lane-needs.ts'
import type { OpenTransaction } from './open-work.ts'

/** What is remembered of a transaction between two looks; forgetting it only makes one look more. */
interface Memory {
  readonly failures: number
  readonly action: NextStep['action']
  readonly dueAtUs: number
  /** How far it is: rows do not say that of what fills a place. */
  readonly state: AnchorState
  /** Once the network has refused better terms, one of those before is to get in. */
  readonly isUnraised: boolean
}

/** Actions of one transaction in a row: looked for, sent, and looked for. */
const actionsMax = 3

export type FlightNeeds = Pick<LaneNeeds, 'clock' | 'rules' | 'random' | 'work'>

/** Pursues what is signed: looks for it, sends what the ledger does not have, and signs what is outbid under better terms. */
export class Flights {
  readonly #needs: FlightNeeds
  readonly #memories = new Map<string, Memory>()
  /** What was begun before is taken to have been begun then. */
  readonly #begunAtUsMin: number

  constructor(needs: FlightNeeds, begunAtUsMin: number) {
    this.#needs = needs
    this.#begunAtUsMin = begunAtUsMin
  }

  /** Has all be looked at again that the ledger may have more of. */
  expectChanges(): void {
    for (const [key, memory] of this.#memories) {
      if (memory.action === 'look') this.#memories.set(key, { ...memory, dueAtUs: 0 })
    }
  }

  /** A transaction that was signed just now was never sent. */
  expectToSend(transaction: OpenTransaction): void {
    this.#memories.set(keyOf(transaction), toSend(transaction.state))
  }

  /** How many are in no block, as far as it is known: the ledger holds only these up. */
  countInNoBlock(open: readonly OpenTransaction[]): number {
    return open.filter((one) => this.#stateOf(one) !== 'included').length
  }

  /**
   * Goes over transactions in their order, each as far as it comes now. Of those that are in blocks the first is the next to be
   * final, and the last is gone when any is: hours of them may wait, and nobody looks at each with every block.
   */
  async pursue(ledger: Ledger, open: readonly OpenTransaction[]): Promise<Flown> {
    const found = new Findings(ledger)
    const isIncluded = (one: OpenTransaction) => this.#stateOf(one) === 'included'
    const last = open.findLast(isIncluded)
    let hasFirst = false
    for (const transaction of open) {
      const isBetween = hasFirst && transaction !== last && isIncluded(transaction)
      if (!isBetween) await this.#pursueOne(ledger, transaction, found)
      hasFirst ||= isIncluded(transaction)
      if (found.problem !== undefined) break
    }
    if (last && !isIncluded(last)) {
      // Another one is the last from now on.
      this.expectChanges()
      found.waitUntil(0)
    }
    this.#forget(open, found)
    return found
  }

  async #pursueOne(ledger: Ledger, given: OpenTransaction, found: Findings): Promise<void> {
    const { clock, rules, random } = this.#needs
    const nowUs = clock.steadyUs()
    let memory = this.#wakeful(given) ?? toLook(given.state)
    if (memory.dueAtUs > nowUs) return found.passOver(memory)
    let transaction = given
    let isRaised = false
    for (let done = 0; done < actionsMax && isOurs(memory.action); done++) {
      const mayRaise = !memory.isUnraised && !found.isHeldUp
      const observed = await this.#act(ledger, transaction, { action: memory.action, mayRaise })
      const { state } = transaction
      const begunAtUs = Math.max(transaction.begunAtUs, this.#begunAtUsMin)
      const { hasRivals, seen } = observed
      const anchor = { state, isSigned: true, hasRivals, begunAtUs, failures: memory.failures }
      const step = nextStep(anchor, seen, clock.steadyUs(), { ...rules, jitter: random() })
      found.note(transaction, observed, step)
      const isUnraised = memory.isUnraised || (hasRivals && seen.is === 'refused')
      memory = step.action === 'bump' ? toSend(step.state) : { ...step, isUnraised }
      transaction = { ...transaction, state: step.state }
      isRaised = step.action === 'bump'
      // What is signed now is sent once it is written down.
      if (step.action === 'bump' || step.dueAtUs > nowUs) break
    }
    this.#memories.set(keyOf(given), memory)
    found.passOver(memory, { isRaised })
  }

  /** What rested is looked at anew: it is asked for again, or stands before something else. */
  #wakeful(transaction: OpenTransaction): Memory | undefined {
    const memory = this.#memories.get(keyOf(transaction))
    return memory && isOurs(memory.action) ? memory : undefined
  }

  #stateOf(transaction: OpenTransaction): AnchorState {
    return this.#memories.get(keyOf(transaction))?.state ?? transaction.state
  }

  async #act(
    ledger: Ledger,
    transaction: OpenTransaction,
    { action, mayRaise }: { readonly action: NextStep['action']; readonly mayRaise: boolean },
  ): Promise<Observation> {
    const { hash, earlier } = transaction
    const hasRivals = action === 'send' && earlier.length > 0
    try {
      if (action !== 'send') return await this.#look(ledger, transaction, mayRaise)
      const seen = await this.#submit(ledger, hash)
      if (seen.is !== 'superseded' || !hasRivals) return { hash, seen, hasRivals }
      return await this.#settled(ledger, transaction)
    } catch (error) {
      if (!(error instanceof LedgerUnreachable)) throw error
      return { hash, seen: { is: 'unreachable', reason: error.message }, hasRivals }
    }
  }

  async #submit(ledger: Ledger, hash: string): Promise<Submission> {
    return await ledger.submit(await this.#needs.work.blobOf(hash))
  }

  /**
   * What became of a sequence that the newest can never get in under: one of those before has it, or none of ours. A ledger may say
   * that only to what it is sent, which is no harm, because the sequence is taken.
   */
  async #settled(ledger: Ledger, { hash, earlier }: OpenTransaction): Promise<Observation> {
    const before: Sighted[] = []
    for (const one of earlier) {
      const seen = await ledger.sight(one)
      const isOver = seen.is === 'unknown' && (await this.#submit(ledger, one)).is === 'superseded'
      before.push({ hash: one, seen: isOver ? { is: 'superseded' } : seen })
    }
    const newest: Sighted = { hash, seen: { is: 'superseded' } }
    return { ...seenTogether([newest, ...before]), hasRivals: false }
  }

  async #look(
    ledger: Ledger,
    transaction: OpenTransaction,
    mayRaise: boolean,
  ): Promise<Observation> {
    const { hash, earlier } = transaction
    const before: Sighted[] = []
    const newest = { hash, seen: await ledger.sight(hash) }
    for (const one of earlier) before.push({ hash: one, seen: await ledger.sight(one) })
    const together = seenTogether([newest, ...before])
    const isToRaise = mayRaise && isWaiting(together.seen)
    const better = isToRaise ? await this.#raised(ledger, transaction) : undefined
    if (!better) return { ...together, hasRivals: false }
    return { hash, seen: { is: 'outbid' }, hasRivals: false, better }
  }

  /** Signs it under better terms, if there are any. What was found on a ledger is never signed here. */
  async #raised(
    ledger: Ledger,
    transaction: OpenTransaction,
  ): Promise<SignedTransaction | undefined> {
    const { work } = this.#needs
    const { hash, sequence, intentId, terms, signedAtUs } = transaction
    // A network without terms has no better ones.
    if (terms === '') return undefined
    const blob = await work.blobOf(hash)
    const better = await ledger.betterTerms({ blob, terms, signedAtUs })
    if (better === undefined) return undefined
    const anchors = await work.signedAnchors(transaction.named)
    if (!anchors) return undefined
    const deed = deedOfSigned(intentId, anchors) ?? fillerDeed(sequence, ledger.account)
    return await ledger.sign(deed, sequence, better)
  }

  /** What is not open any more needs no memory. */
  #forget(open: readonly OpenTransaction[], found: Findings): void {
    const keys = new Set(open.filter(({ hash }) => !found.hasEnded(hash)).map(keyOf))
    for (const key of this.#memories.keys()) if (!keys.has(key)) this.#memories.delete(key)
  }
}

/** One for all that is signed for an intent under a sequence. */
function keyOf({ sequence, intentId }: OpenTransaction): string {
  return `${sequence} ${intentId}`
}

function toLook(state: AnchorState): Memory {
  return { failures: 0, action: 'look', dueAtUs: 0, state, isUnraised: false }
}

function toSend(state: AnchorState): Memory {
  return { ...toLook(state), action: 'send' }
}

/** Whether it is done here, with what is signed already. */
function isOurs(action: NextStep['action']): boolean {
  return action === 'look' || action === 'send'
}

function isWaiting({ is }: Seen): boolean {
  return is === 'pending' || is === 'unknown'
}
