import { createPublicKey } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { LruMap } from '../../core/lru-map.ts'
import {
  type Deed,
  type FoundTransaction,
  type Inclusion,
  type Ledger,
  LedgerUnreachable,
  type Preparation,
  type Sighting,
  type SignedTransaction,
  type Submission,
} from '../ledger.ts'
import type { MerkleTree } from '../merkle/merkle-tree.ts'
import { sandboxKinds, sandboxNetwork, sha256Of } from '../proofs/transaction-text.ts'
import {
  type Block,
  blockCharsMax,
  blockTransactionsMax,
  type ChainKeys,
  nextBlock,
  treeOf,
} from './block.ts'
import { Chain } from './chain.ts'
import type { TransactionPlace } from './chain-index.ts'
import { inclusionIn } from './inclusion.ts'
import { type Cipher, ensureSandboxKeys, type SandboxKeys } from './keys.ts'
import { mappingOf } from './mapping.ts'
import { News } from './news.ts'
import { blobOf, foundTransaction, noTerms, parseBlob, signedText } from './transaction.ts'
import { type Waiting, WaitingTransactions } from './waiting-transactions.ts'

/** Between two blocks while something waits. */
const blockMs = 100

/** Until the disk is tried again after it has failed. */
const reopenMs = 500

/** Transactions under way at once: those of a few blocks. */
const inFlightMax = 1_000

/** Blocks in memory: who looks at one transaction of a block looks at the others, too. */
const blocksMax = 4

export interface SandboxNeeds {
  /** Its own folder: chain, keys, index. */
  readonly folder: string
  readonly cipher: Cipher
  readonly clock: Clock
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
}

/** A block with what the paths of its transactions are taken from. */
interface KnownBlock {
  readonly block: Block
  readonly tree: MerkleTree
}

/**
 * A ledger of our own: an append-only file of blocks, each of which names the one before it and is signed. It shows
 * what a ledger shows, and is run by the service itself. A block is told of once it is on the disk, and is final then.
 */
export class SandboxLedger implements Ledger {
  readonly network = sandboxNetwork
  readonly account: string
  readonly distributionWallet: string
  readonly batchWaitUs: number
  readonly inFlightMax = inFlightMax
  readonly #needs: SandboxNeeds
  readonly #keys: SandboxKeys
  readonly #chainKeys: ChainKeys
  readonly #waiting = new WaitingTransactions()
  readonly #blocks = new LruMap<number, KnownBlock>(blocksMax)
  readonly #news = new News()
  /** Undefined while the ledger is down. */
  #chain: Chain | undefined
  #downBecause = ''
  #goodBytes: number
  #timer: NodeJS.Timeout | undefined
  #making: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor(needs: SandboxNeeds, keys: SandboxKeys, chain: Chain) {
    this.#needs = needs
    this.#keys = keys
    this.#chainKeys = chainKeysOf(keys)
    this.#chain = chain
    this.#goodBytes = chain.bytes
    this.account = keys.account.id
    this.distributionWallet = keys.distribution.id
    this.batchWaitUs = needs.batchWaitUs
  }

  /**
   * Makes keys and chain where there are none.
   *
   * @throws LedgerUnreachable that says why: the first broken block, keys that do not fit, or what the disk says
   */
  static async open(needs: SandboxNeeds): Promise<SandboxLedger> {
    try {
      const keys = await ensureSandboxKeys(needs.folder, needs.cipher)
      const chain = await Chain.open({ folder: needs.folder, keys: chainKeysOf(keys) })
      return new SandboxLedger(needs, keys, chain)
    } catch (error) {
      throw new LedgerUnreachable(messageOf(error), { cause: error })
    }
  }

  mappingOf(assetCode: string): string {
    return mappingOf(assetCode)
  }

  async prepare({ kind }: Pick<Deed, 'kind'>): Promise<Preparation> {
    if (!sandboxKinds.includes(kind)) return { refused: `the sandbox knows no ${kind}` }
    return { terms: noTerms }
  }

  async sign(deed: Deed, sequence: number): Promise<SignedTransaction> {
    const { account, blocks } = this.#keys
    const signed = signedText(deed, sequence, blocks.id, account)
    const { text } = signed
    return { hash: sha256Of(text), sequence, blob: blobOf(signed), text, terms: noTerms }
  }

  async betterTerms(): Promise<undefined> {
    return undefined
  }

  async nextSequence(): Promise<number> {
    return this.#nextSequence(this.#open())
  }

  async submit(blob: string): Promise<Submission> {
    const transaction = parseBlob(blob, this.#chainKeys.account)
    if (typeof transaction === 'string') return { is: 'refused', reason: transaction }
    const { sequence } = transaction.said
    for (;;) {
      const chain = this.#open()
      if (this.#waiting.has(transaction.hash)) return { is: 'accepted' }
      if (this.#asked(() => chain.index.byHash(transaction.hash))) return { is: 'accepted' }
      if (sequence < chain.tip.nextSequence) return { is: 'superseded' }
      const next = this.#nextSequence(chain)
      if (sequence > next) return { is: 'early' }
      if (sequence === next) break
      // Another one with this sequence waits for its block. It has the sequence once that is on the disk.
      await this.#makeBlock()
    }
    if (!this.#waiting.add({ transaction, chars: blob.length })) {
      throw new LedgerUnreachable('too many transactions wait for the sandbox ledger')
    }
    this.#later(blockMs)
    return { is: 'accepted' }
  }

  async sight(hash: string): Promise<Sighting> {
    const chain = this.#open()
    if (this.#waiting.has(hash)) return { is: 'pending' }
    const place = this.#asked(() => chain.index.byHash(hash))
    if (!place) return { is: 'unknown' }
    return { is: 'included', isFinal: true, inclusion: await this.#inclusionOf(place) }
  }

  async find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
    const chain = this.#open()
    const found = new Map<string, FoundTransaction>()
    for (const intentId of intentIds) {
      const place = this.#asked(() => chain.index.byIntent(intentId))
      const transaction = place
        ? (await this.#blockAt(place.height)).block.transactions[place.position]
        : this.#waiting.byIntent(intentId)
      if (transaction) found.set(intentId, foundTransaction(transaction))
    }
    return found
  }

  async changed(signal: AbortSignal): Promise<void> {
    await this.#news.next(signal)
  }

  /** What waits is in no block then, and can be sent again. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#making
    const chain = this.#chain
    this.#goDown(new Error('it is closed'))
    await chain?.[Symbol.asyncDispose]()
  }

  #open(): Chain {
    if (!this.#chain) throw new LedgerUnreachable(this.#downBecause)
    return this.#chain
  }

  #nextSequence(chain: Chain): number {
    return chain.tip.nextSequence + this.#waiting.size
  }

  /** An answer of the index, which is a file like any other. */
  #asked<Answer>(ask: () => Answer): Answer {
    try {
      return ask()
    } catch (error) {
      throw new LedgerUnreachable(messageOf(error), { cause: error })
    }
  }

  async #blockAt(height: number): Promise<KnownBlock> {
    const known = this.#blocks.get(height)
    if (known) return known
    try {
      const block = await this.#open().block(height)
      return this.#remember(block)
    } catch (error) {
      throw new LedgerUnreachable(messageOf(error), { cause: error })
    }
  }

  #remember(block: Block): KnownBlock {
    const known = { block, tree: treeOf(block.transactions) }
    this.#blocks.set(block.said.height, known)
    return known
  }

  async #inclusionOf({ height, position }: TransactionPlace): Promise<Inclusion> {
    const { block, tree } = await this.#blockAt(height)
    const { text = '' } = block.transactions[position] ?? {}
    return inclusionIn(block, { position, text, tree }, this.#chainKeys)
  }

  /** Sees to it that there is a block, or another try of the disk, after so long at most. */
  #later(ms: number): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#makeBlock()
    }, ms)
  }

  /** One at a time. Never rejects: what fails is told to whoever asks next. */
  #makeBlock(): Promise<void> {
    this.#making = this.#making.then(() => this.#makeOne())
    return this.#making
  }

  async #makeOne(): Promise<void> {
    if (this.#isClosed) return
    try {
      this.#chain ??= await this.#reopened()
      const batch = this.#waiting.first(blockTransactionsMax, blockCharsMax)
      if (batch.length > 0) await this.#write(this.#chain, batch)
      if (this.#waiting.size > 0) this.#later(blockMs)
    } catch (error) {
      const chain = this.#chain
      this.#goDown(error)
      await chain?.[Symbol.asyncDispose]()
      this.#later(reopenMs)
    }
    this.#news.tell()
  }

  async #write(chain: Chain, batch: readonly Waiting[]): Promise<void> {
    const transactions = batch.map(({ transaction }) => transaction)
    const nowUs = this.#needs.clock.nowUs()
    const block = nextBlock(chain.tip, transactions, nowUs, this.#keys.blocks)
    try {
      await chain.append(block)
    } finally {
      this.#goodBytes = chain.bytes
    }
    this.#waiting.remove(batch.length)
    this.#remember(block)
  }

  #goDown(error: unknown): void {
    this.#chain = undefined
    this.#blocks.clear()
    this.#downBecause = `the sandbox ledger is down: ${messageOf(error)}`
  }

  /** What waited waits on, where it still follows what the file has. */
  async #reopened(): Promise<Chain> {
    const { folder } = this.#needs
    const keys = this.#chainKeys
    const chain = await Chain.open({ folder, keys, goodBytes: this.#goodBytes })
    this.#waiting.goOnFrom(chain.tip.nextSequence)
    this.#goodBytes = chain.bytes
    return chain
  }
}

function chainKeysOf({ blocks, account }: SandboxKeys): ChainKeys {
  return {
    chain: blocks.id,
    blocks: createPublicKey(blocks.private),
    account: { id: account.id, chain: blocks.id, verifier: createPublicKey(account.private) },
  }
}
