import type { Clock } from '../../src/core/clock.ts'
import {
  type Deed,
  type FoundTransaction,
  type Ledger,
  LedgerUnreachable,
  type Preparation,
  type Sighting,
  type SignedTransaction,
  type Submission,
  type Terms,
  type WaitingTransaction,
} from '../../src/ledgers/ledger.ts'
import { sha256Of } from '../../src/ledgers/proofs/transaction-text.ts'
import { News } from '../../src/ledgers/sandbox/news.ts'
import type { NodeTransaction, ScriptedNode } from './scripted-node.ts'

/** How long a transaction waits before more is bid, in microseconds. */
const bumpAfterUs = 60_000_000

/** What happens to the next transaction that is sent: the connection breaks before, or after the node has it. */
export type Cut = 'before' | 'after'

interface Said {
  readonly account: string
  readonly sequence: number
  readonly price: number
  readonly deed: Deed
}

/**
 * A ledger over a node that does as it is told. It keeps the promises of the port as an adapter for the EVM does: by what
 * is there, never by what a node says, and never by one that lags behind.
 */
export class ScriptedLedger implements Ledger {
  readonly network: string
  readonly account: string
  readonly distributionWallet: string
  readonly batchWaitUs = 0
  inFlightMax = 16
  /** The node that is asked: another one may answer later. */
  node: ScriptedNode
  isDown = false
  cut: Cut | undefined
  /** What one may pay at most. */
  priceMax = 100
  /** Intents that would be reverted. */
  readonly reverted = new Set<string>()
  /** Intents that the network takes no transaction of, once it sees one. */
  readonly refused = new Set<string>()
  /** How often something was looked for. */
  looks = 0
  readonly #clock: Clock
  readonly #news = new News()
  /** What was seen of the chain: a node that does not know it lags behind. */
  #seen = { height: 0, final: 0, finalId: '' }
  #resting = Promise.withResolvers<void>()

  constructor(node: ScriptedNode, name: string, clock: Clock, account = `${name} account`) {
    this.node = node
    this.network = name
    this.account = account
    this.distributionWallet = this.account
    this.#clock = clock
  }

  mappingOf(assetCode: string): string {
    return assetCode
  }

  async prepare({ intentId }: Deed): Promise<Preparation> {
    this.#ask()
    if (this.reverted.has(intentId)) return { refused: 'the contract reverts it: no such place' }
    const { price } = this.node
    if (price > this.priceMax) throw new LedgerUnreachable(`it costs ${price} now`)
    return { terms: termsOf(price) }
  }

  async sign(deed: Deed, sequence: number, terms: Terms): Promise<SignedTransaction> {
    const said: Said = { account: this.account, sequence, price: priceOf(terms), deed }
    const blob = JSON.stringify(said)
    return { hash: sha256Of(blob), sequence, blob, text: blob, terms }
  }

  async betterTerms({ terms, signedAtUs }: WaitingTransaction): Promise<Terms | undefined> {
    this.#ask()
    const least = Math.ceil(priceOf(terms) * 1.125)
    const isSoon = this.#clock.nowUs() - signedAtUs < bumpAfterUs
    if (isSoon || least > this.priceMax) return undefined
    return termsOf(Math.min(this.priceMax, Math.max(least, this.node.price)))
  }

  async nextSequence(): Promise<number> {
    this.#ask()
    this.#requireFresh()
    return this.node.countWithPool(this.account) + 1
  }

  async submit(blob: string): Promise<Submission> {
    this.#ask()
    const transaction = transactionOf(blob)
    if (!transaction) return { is: 'refused', reason: 'it is not a transaction' }
    const { cut } = this
    this.cut = undefined
    if (this.refused.has(transaction.intentId)) return { is: 'refused', reason: 'it is malformed' }
    if (cut === 'before') throw new LedgerUnreachable('the connection broke')
    const answer = this.node.send(transaction)
    if (cut === 'after') throw new LedgerUnreachable('the connection broke')
    return answer === 'taken' ? { is: 'accepted' } : this.#untaken(transaction)
  }

  async sight(hash: string): Promise<Sighting> {
    this.looks++
    this.#ask()
    const height = this.node.heightOf(hash)
    const block = height === undefined ? undefined : this.node.blockAt(height)
    if (height === undefined || !block) {
      if (this.node.isPooled(hash)) return { is: 'pending' }
      this.#requireFresh()
      return { is: 'unknown' }
    }
    const { id: blockHash, timeUs } = block
    const header = JSON.stringify({ network: this.network, height, blockHash })
    const path = { index: 0, size: 1, hashes: [] }
    const token = tokenOf(block.transactions.find((one) => one.hash === hash))
    const inclusion = { height, timeUs, header, blockHash, path, signatures: [], ...token }
    return { is: 'included', isFinal: height <= this.node.finalHeight, inclusion }
  }

  async find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
    this.#ask()
    const found = new Map<string, FoundTransaction>()
    for (const { hash, blob, intentId } of this.node.onChain()) {
      if (!intentIds.includes(intentId)) continue
      const { deed, sequence, price } = JSON.parse(blob) as Said
      const terms = termsOf(price)
      found.set(intentId, {
        hash,
        sequence,
        blob,
        text: blob,
        terms,
        deed: { ...deed, leaves: [] },
      })
    }
    return found
  }

  async changed(signal: AbortSignal): Promise<void> {
    this.rest()
    await this.#news.next(signal)
  }

  async close(): Promise<void> {}

  /** Resolves when somebody waits for the next change, and has nothing else to do. */
  get resting(): Promise<void> {
    return this.#resting.promise
  }

  rest(): void {
    this.#resting.resolve()
  }

  /** Has `resting` mean the next rest. */
  stir(): void {
    this.#resting = Promise.withResolvers<void>()
  }

  /** What it means that a node did not take a transaction. */
  #untaken({ hash, nonce, from }: NodeTransaction): Submission {
    if (this.node.heightOf(hash) !== undefined || this.node.isPooled(hash))
      return { is: 'accepted' }
    this.#requireFresh()
    if (this.node.count(from, this.node.finalHeight) > nonce) return { is: 'superseded' }
    if (this.node.countWithPool(from) !== nonce) return { is: 'early' }
    throw new LedgerUnreachable('the node does not take it for what it pays')
  }

  #ask(): void {
    if (this.isDown) throw new LedgerUnreachable('the node does not answer')
    const { node } = this
    const { height, final } = this.#seen
    const finalHeight = Math.max(final, node.finalHeight)
    const finalId = node.blockAt(finalHeight)?.id ?? this.#seen.finalId
    this.#seen = { height: Math.max(height, node.height), final: finalHeight, finalId }
  }

  /** That something is not there is believed only of a node that knows whatever was seen before. */
  #requireFresh(): void {
    const { height, final, finalId } = this.#seen
    const isBehind = this.node.height < height || this.node.finalHeight < final
    if (isBehind || (final > 0 && this.node.blockAt(final)?.id !== finalId)) {
      throw new LedgerUnreachable('the node lags behind what another one has said')
    }
  }
}

/** A token is named after what it is for, and an asset after its stream. */
function tokenOf(transaction: NodeTransaction | undefined): { readonly tokenId?: string } {
  if (!transaction || transaction.blob === '') return {}
  const { deed } = JSON.parse(transaction.blob) as Said
  if (deed.kind === 'issuance') return { tokenId: `issued for ${deed.asset?.streamId}` }
  return deed.kind === 'nft' ? { tokenId: deed.intentId } : {}
}

function termsOf(price: number): Terms {
  return JSON.stringify({ price })
}

function priceOf(terms: Terms): number {
  return (JSON.parse(terms) as { readonly price: number }).price
}

function transactionOf(blob: string): NodeTransaction | undefined {
  if (!blob.startsWith('{')) return undefined
  const { account, sequence, price, deed } = JSON.parse(blob) as Said
  const { intentId } = deed
  return { hash: sha256Of(blob), from: account, nonce: sequence - 1, price, intentId, blob }
}
