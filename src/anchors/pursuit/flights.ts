import { type Ledger, LedgerUnreachable } from '../../ledgers/ledger.ts'
import type { AnchorState } from '../intents/anchor.ts'
import type { AnchorFacts } from '../intents/anchored-kind.ts'
import { type NextStep, nextStep, type Seen } from '../intents/next-step.ts'
import type { DeskRequest, MovedAnchors, MovedTransaction } from './desk.ts'
import type { LaneNeeds } from './lane-needs.ts'
import type { OpenTransaction } from './open-work.ts'

/** What is remembered of a transaction between two looks; forgetting it only makes one look more. */
interface Memory {
  readonly failures: number
  readonly action: NextStep['action']
  readonly dueAtUs: number
}

/** States of anchors that are pursued. */
const pursued: readonly AnchorState[] = ['waiting', 'signed', 'submitted', 'included']

/** Actions of one transaction in a row: looked for, sent, and looked for. */
const actionsMax = 3

/** What a round over the open transactions of an account has come to. */
export interface Flown extends Pick<DeskRequest, 'transactions' | 'moved'> {
  /** When to look again, in steady microseconds. */
  readonly dueAtUs: number
  /** Whether a place is not taken by what was to have it: sequences have to be compared. */
  readonly isOutOfStep: boolean
  /** Why the ledger could not be asked. */
  readonly problem: string | undefined
}

export type FlightNeeds = Pick<LaneNeeds, 'clock' | 'rules' | 'random' | 'work'>

/** Pursues transactions that are signed: looks for them, and sends what the ledger does not have. */
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
    for (const [hash, memory] of this.#memories) {
      if (memory.action === 'look') this.#memories.set(hash, { ...memory, dueAtUs: 0 })
    }
  }

  /** A transaction that was signed just now was never sent. */
  expectToSend(hash: string): void {
    this.#memories.set(hash, { failures: 0, action: 'send', dueAtUs: 0 })
  }

  /** Goes over transactions in their order, each as far as it comes now. */
  async pursue(ledger: Ledger, open: readonly OpenTransaction[]): Promise<Flown> {
    const found = new Findings(ledger)
    for (const transaction of open) {
      await this.#pursueOne(ledger, transaction, found)
      if (found.problem !== undefined) break
    }
    this.#forget(open, found)
    return found
  }

  async #pursueOne(ledger: Ledger, given: OpenTransaction, found: Findings): Promise<void> {
    const { clock, rules, random } = this.#needs
    let transaction = given
    const known = this.#wakeful(given.hash)
    const nowUs = clock.steadyUs()
    if (known && known.dueAtUs > nowUs) return found.waitUntil(known.dueAtUs)
    let memory: Memory = known ?? { failures: 0, action: 'look', dueAtUs: nowUs }
    for (let done = 0; done < actionsMax && memory.action !== 'rest'; done++) {
      const seen = await this.#act(ledger, transaction.hash, memory.action)
      const { state } = transaction
      const begunAtUs = Math.max(transaction.begunAtUs, this.#begunAtUsMin)
      const anchor = { state, isSigned: true, begunAtUs, failures: memory.failures }
      const step = nextStep(anchor, seen, clock.steadyUs(), { ...rules, jitter: random() })
      found.note(transaction, seen, step)
      memory = step
      transaction = { ...transaction, state: step.state }
      if (step.dueAtUs > nowUs || seen.is === 'superseded') break
    }
    this.#memories.set(given.hash, memory)
    found.waitUntil(memory.action === 'rest' ? Number.POSITIVE_INFINITY : memory.dueAtUs)
  }

  /** What rested is looked at anew: it is asked for again, or stands before something else. */
  #wakeful(hash: string): Memory | undefined {
    const memory = this.#memories.get(hash)
    return memory?.action === 'rest' ? undefined : memory
  }

  async #act(ledger: Ledger, hash: string, action: NextStep['action']): Promise<Seen> {
    try {
      if (action !== 'send') return await ledger.sight(hash)
      return await ledger.submit(await this.#needs.work.blobOf(hash))
    } catch (error) {
      if (!(error instanceof LedgerUnreachable)) throw error
      return { is: 'unreachable', reason: error.message }
    }
  }

  /** What is not open any more needs no memory. */
  #forget(open: readonly OpenTransaction[], found: Findings): void {
    const hashes = new Set(open.map(({ hash }) => hash))
    for (const { hash, to } of found.transactions) if (to !== 'open') hashes.delete(hash)
    for (const hash of this.#memories.keys()) if (!hashes.has(hash)) this.#memories.delete(hash)
  }
}

/** Collects what follows from sightings. */
class Findings implements Flown {
  readonly transactions: MovedTransaction[] = []
  readonly moved: MovedAnchors[] = []
  readonly #ledger: Ledger
  dueAtUs = Number.POSITIVE_INFINITY
  isOutOfStep = false
  problem: string | undefined

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  waitUntil(dueAtUs: number): void {
    this.dueAtUs = Math.min(this.dueAtUs, dueAtUs)
  }

  note(transaction: OpenTransaction, seen: Seen, step: NextStep): void {
    const { hash } = transaction
    if (seen.is === 'unreachable') this.problem = seen.reason
    if (seen.is === 'included' && seen.isFinal) {
      this.transactions.push({ hash, to: 'final', inclusion: seen.inclusion })
    }
    if (seen.is === 'refused' || seen.is === 'superseded') {
      this.transactions.push({ hash, to: 'dead' })
      this.isOutOfStep = true
    }
    if (step.state !== transaction.state) this.#move(transaction, seen, step)
  }

  #move({ hash, assetCode }: OpenTransaction, seen: Seen, step: NextStep): void {
    const isEnd = step.state === 'completed' || step.state === 'failed'
    const facts: AnchorFacts = {
      txHash: hash,
      account: this.#ledger.account,
      distributionWallet: this.#ledger.distributionWallet,
      mapping: assetCode === null ? '' : this.#ledger.mappingOf(assetCode),
      tokenId: (seen.is === 'included' && seen.inclusion.tokenId) || '',
    }
    this.moved.push({
      of: { transactionHash: hash },
      from: isEnd ? [...pursued, 'error'] : pursued,
      to: step.state,
      statuses: step.statuses,
      facts,
      failure: step.failure,
    })
  }
}
