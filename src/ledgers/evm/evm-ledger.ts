import type { Clock } from '../../core/clock.ts'
import {
  type Deed,
  type FoundTransaction,
  type Heights,
  type Inclusion,
  type Ledger,
  LedgerUnreachable,
  type Preparation,
  type Sighting,
  type SignedTransaction,
  type Submission,
  type Terms,
  type WaitingTransaction,
} from '../ledger.ts'
import { requireSame } from '../nodes/asked-hash.ts'
import { BlockWatch } from '../nodes/block-watch.ts'
import type { Signer } from '../signer.ts'
import { callOf, mintedBy, saidBy } from './anchors-contract.ts'
import { ContractAccount } from './contract-account.ts'
import { ContractAssets } from './contract-assets.ts'
import { ContractLogs } from './contract-logs.ts'
import { EvmNode, type Finality, resultOf } from './evm-node.ts'
import {
  addressOf,
  type ReadTransaction,
  readTransaction,
  signedTransaction,
  termsOf,
  termsText,
} from './evm-transaction.ts'
import { type EvmLedgerName, feeRules, higherBid } from './fees.ts'
import {
  bigOf,
  blockOf,
  type Hex,
  hexOf,
  hexOfNumber,
  listOf,
  membersOf,
  numberOf,
  textOf,
} from './quantities.ts'
import { holderOf } from './taken-nonce.ts'

/** Transactions under way at once, also those in blocks that are not final yet. */
const inFlightMax = 64

/** Transactions of ours that wait for a block: nodes promise room for so many of an account. */
const pooledMax = 16

export interface EvmNeeds {
  readonly ledger: EvmLedgerName
  /** Tried in turn; never shown. */
  readonly endpoints: readonly string[]
  /** `eip155:<chain id>` */
  readonly network: string
  readonly contract: string
  readonly finality: Finality
  /** Wei per gas in all, as decimal text; undefined for what is usual. */
  readonly feeMax: string | undefined
  readonly signer: Signer
  readonly clock: Clock
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
}

/** A contract of ours on a network of the EVM, as the account sees it that owns the contract. */
export class EvmLedger implements Ledger {
  readonly network: string
  readonly account: string
  readonly distributionWallet: string
  readonly batchWaitUs: number
  readonly inFlightMax = inFlightMax
  /** Its address. */
  readonly contract: Hex
  readonly #needs: EvmNeeds
  readonly #chainId: number
  readonly #feeMax: bigint
  readonly #node: EvmNode
  readonly #contract: ContractAccount
  readonly #assets: ContractAssets
  readonly #logs: ContractLogs
  readonly #watch: BlockWatch
  /** The last sequence that a node took: the next one leaves no gap. */
  #sentUpTo = 0
  /** Up to this sequence there is room in the pools of nodes. */
  #roomUpTo = 0

  /** Asks nobody. */
  constructor(needs: EvmNeeds) {
    const { network, signer, ledger, feeMax } = needs
    this.#needs = needs
    this.network = network
    this.account = addressOf(signer)
    this.distributionWallet = this.account
    this.batchWaitUs = needs.batchWaitUs
    this.#chainId = Number(network.replace('eip155:', ''))
    this.#feeMax = feeMax === undefined ? feeRules[ledger].feeMax : BigInt(feeMax)
    this.#node = new EvmNode(needs)
    // In small letters it has no checksum, which could be wrong.
    const contract = needs.contract.toLowerCase() as Hex
    this.contract = contract
    this.#assets = new ContractAssets(this.#node, contract)
    this.#contract = new ContractAccount({
      ledger,
      node: this.#node,
      contract,
      assets: this.#assets,
      account: this.account,
      feeMax: this.#feeMax,
    })
    this.#logs = new ContractLogs(this.#node, contract)
    this.#watch = new BlockWatch(this.#node)
  }

  get heights(): Heights | undefined {
    return this.#node.heights
  }

  /** The contract knows no code of an asset: it is as it is. */
  mappingOf(assetCode: string): string {
    return assetCode
  }

  async prepare(deed: Deed): Promise<Preparation> {
    const data = await callOf(deed)
    if (typeof data !== 'string') return { refused: data.problem }
    const terms = await this.#contract.termsOf(data)
    return 'refused' in terms ? terms : { terms: termsText(terms) }
  }

  async sign(deed: Deed, sequence: number, terms: Terms): Promise<SignedTransaction> {
    const data = await callOf(deed)
    if (typeof data !== 'string') throw new RangeError(data.problem)
    const to = this.contract
    const unsigned = { chainId: this.#chainId, sequence, to, data, terms: termsOf(terms) }
    return await signedTransaction(unsigned, this.#needs.signer)
  }

  async betterTerms(waiting: WaitingTransaction): Promise<Terms | undefined> {
    const { ledger, clock } = this.#needs
    if (clock.nowUs() - waiting.signedAtUs < feeRules[ledger].bumpAfterUs) return undefined
    const terms = termsOf(waiting.terms)
    const bid = higherBid(terms, await this.#contract.market(), this.#feeMax)
    return bid && termsText({ gas: terms.gas, ...bid })
  }

  async nextSequence(): Promise<number> {
    const counts = ['latest', 'pending'].map((block) => this.#countCall(block))
    const { answers } = await this.#node.askFresh(counts)
    this.#sentUpTo = 0
    return Math.max(...answers.map((answer) => numberOf(resultOf(answer)))) + 1
  }

  async submit(blob: string): Promise<Submission> {
    const transaction = await readTransaction(blob)
    const problem = this.#problemOf(transaction)
    if (transaction === undefined || problem !== undefined) {
      return { is: 'refused', reason: problem ?? 'it is not a transaction' }
    }
    const { sequence } = transaction
    const isNext = sequence === this.#sentUpTo + 1 && sequence <= this.#roomUpTo
    if (!isNext && (await this.#isEarly(sequence))) return { is: 'early' }
    const send = { method: 'eth_sendRawTransaction', params: [blob] }
    const { answers } = await this.#node.ask([send])
    const [answer] = answers
    if (answer && 'error' in answer) return await this.#unsent(transaction)
    this.#sentUpTo = sequence
    return { is: 'accepted' }
  }

  async sight(hash: string): Promise<Sighting> {
    const { answers } = await this.#node.ask(
      [
        { method: 'eth_getTransactionReceipt', params: [hash] },
        { method: 'eth_getTransactionByHash', params: [hash] },
      ],
      // What is there is there, whoever says so.
      ({ answers: said, isFresh }) => isFresh || said.some((one) => resultOf(one) !== null),
    )
    const [receipt, transaction] = answers.map((answer) => resultOf(answer))
    if (receipt !== null) {
      requireSame(hash, membersOf(receipt)['transactionHash'])
      return await this.#included(membersOf(receipt), transaction)
    }
    return { is: transaction === null ? 'unknown' : 'pending' }
  }

  async find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
    return await this.#logs.find(intentIds)
  }

  async changed(signal: AbortSignal): Promise<void> {
    await this.#watch.next(signal)
  }

  async close(): Promise<void> {
    this.#node.close()
  }

  #countCall(block: string) {
    return { method: 'eth_getTransactionCount', params: [this.account, block] }
  }

  /** What is wrong with a transaction that no node is to see. */
  #problemOf(transaction: ReadTransaction | undefined): string | undefined {
    if (!transaction) return 'it is not a transaction'
    const { chainId, from, to } = transaction
    if (chainId !== this.#chainId) return `it is for the network eip155:${chainId}`
    if (from !== this.account) return `it is of the account ${from}`
    const isOurs = to.toLowerCase() === this.contract
    return isOurs ? undefined : `it is for ${to}`
  }

  /** Whether one with a lower sequence has to come first, or too many wait for a block. */
  async #isEarly(sequence: number): Promise<boolean> {
    const counts = ['latest', 'pending'].map((block) => this.#countCall(block))
    const { answers } = await this.#node.ask(counts)
    const [mined = 0, pooled = 0] = answers.map((answer) => numberOf(resultOf(answer)))
    this.#roomUpTo = mined + pooledMax
    return sequence - 1 > Math.max(mined, pooled) || sequence > this.#roomUpTo
  }

  /** What it means that a node did not take a transaction: never what it says, but what is there. */
  async #unsent(transaction: ReadTransaction): Promise<Submission> {
    const { hash, sequence, terms } = transaction
    this.#sentUpTo = 0
    // Up to a block that is final already: what has a place there keeps it.
    const { final } = await this.#node.askFresh([])
    const { answers } = await this.#node.askFresh([
      { method: 'eth_getTransactionReceipt', params: [hash] },
      { method: 'eth_getTransactionByHash', params: [hash] },
      this.#countCall(hexOfNumber(Math.max(0, final))),
      this.#countCall('pending'),
      { method: 'eth_getBalance', params: [this.account, 'latest'] },
    ])
    const [receipt, known, settled, pooled, balance] = answers
    if (resultOf(receipt) !== null || resultOf(known) !== null) return { is: 'accepted' }
    const nonce = sequence - 1
    if (numberOf(resultOf(settled)) > nonce) {
      const place = { account: this.account, nonce, takenBy: Math.max(0, final) }
      const isThere = (await holderOf(this.#node, place)) === hash
      return { is: isThere ? 'accepted' : 'superseded' }
    }
    // Another one has its place, which may still lose it, or one before it is missing.
    if (numberOf(resultOf(pooled)) !== nonce) return { is: 'early' }
    this.#contract.requireMoney(bigOf(resultOf(balance)), terms)
    throw new LedgerUnreachable('the node does not take the transaction for what it pays')
  }

  async #included(
    receipt: Readonly<Record<string, unknown>>,
    transaction: unknown,
  ): Promise<Sighting> {
    const height = numberOf(receipt['blockNumber'])
    const call = { method: 'eth_getBlockByNumber', params: [receipt['blockNumber'], false] }
    const { answers, final } = await this.#node.ask([call])
    const canonical = resultOf(answers[0])
    if (canonical === null) return { is: 'pending' }
    const { hash, timeUs } = blockOf(canonical)
    // A block that another one has taken the place of says nothing.
    if (hash !== textOf(receipt['blockHash'])) return { is: 'pending' }
    const data = hexOf(membersOf(transaction)['input'])
    const tokenId = await this.#tokenBy(data, receipt)
    const inclusion: Inclusion = {
      height,
      timeUs,
      header: JSON.stringify({ network: this.network, height, hash }),
      blockHash: hash.slice(2),
      path: { index: 0, size: 1, hashes: [] },
      signatures: [],
      ...(tokenId !== undefined && { tokenId }),
    }
    const isFinal = height <= final
    if (numberOf(receipt['status']) === 1 || !isFinal) {
      return { is: 'included', isFinal, inclusion }
    }
    return await this.#reverted(data, inclusion)
  }

  /** What has come to be by a transaction, if anything has. */
  async #tokenBy(
    data: Hex,
    { status, logs }: Readonly<Record<string, unknown>>,
  ): Promise<string | undefined> {
    const asset = (await saidBy(data))?.asset
    const said = listOf(logs)
    if (!asset || numberOf(status) !== 1) return mintedBy(said, this.contract)
    return await this.#assets.madeBy(asset, said)
  }

  /** A second token of a vault or of a stream is none: it is done where the first one is ours. */
  async #reverted(data: Hex, inclusion: Inclusion): Promise<Sighting> {
    const owned = await this.#contract.ownToken(data)
    if (owned !== undefined) {
      return { is: 'included', isFinal: true, inclusion: { ...inclusion, tokenId: owned } }
    }
    return { is: 'refused', reason: await this.#contract.reasonOf(data, inclusion.height) }
  }
}
