import { getNFTokenID, type TransactionMetadata } from 'xrpl'
import type { KeyRole } from '../keys/ledger-key.ts'
import {
  type Deed,
  type FoundTransaction,
  type Heights,
  type Ledger,
  LedgerUnreachable,
  type Preparation,
  type Sighting,
  type SignedTransaction,
  type Submission,
  type Terms,
} from '../ledger.ts'
import { requireSame } from '../nodes/asked-hash.ts'
import { timeUsOf } from '../nodes/block-time.ts'
import { BlockWatch } from '../nodes/block-watch.ts'
import { mappingOf } from '../sandbox/mapping.ts'
import type { Signer } from '../signer.ts'
import { AccountHistory } from './account-history.ts'
import { accountCall, accountIn, requireMoney } from './account-state.ts'
import { codeOf, countOf, dropsOf, type Members, membersOf, readBy, textOf } from './answers.ts'
import { issuanceIdIn } from './asset-transactions.ts'
import { isDone, meaningOf } from './engine-results.ts'
import { foundIn, resultOf, XrplNodes } from './xrpl-nodes.ts'
import {
  addressOf,
  problemOfDeed,
  type ReadTransaction,
  readTransaction,
  signedTransaction,
  termsOf,
  termsText,
} from './xrpl-transaction.ts'

/** Transactions of an account that a node lets wait for room in a ledger (https://xrpl.org/docs/concepts/transactions/transaction-queue#queue-restrictions). */
const inFlightMax = 10

/**
 * Ledgers that a transaction may get into after it was signed: two minutes. It may be made longer, and never shorter: this is how far
 * back history is looked at for what was signed before.
 */
const ledgersAhead = 30

/** Between two questions for a new ledger, at most: they come every three to five seconds. */
const watchMsMax = 1_000

/** Drops of one transaction, where the operator names no cap: 10 are usual. */
const feeMaxUsual = 100_000n

export interface XrplNeeds {
  /** Tried in turn; never shown. */
  readonly endpoints: readonly string[]
  /** `xrpl:<network id>` */
  readonly network: string
  /** Drops of one transaction, as decimal text; undefined for what is usual. */
  readonly feeMax: string | undefined
  readonly issuer: Signer
  readonly distributor: Signer
  /** Whose account it is seen as. */
  readonly role: KeyRole
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
}

/** Deeds that leave something on the ledger which the account has to keep a reserve for (https://xrpl.org/docs/concepts/accounts/reserves#owner-reserves). */
const makingKinds: readonly Deed['kind'][] = ['nft', 'issuance', 'authorization']

/** A network of the XRP Ledger, as one of our two accounts sees it. What is validated there is final. */
export class XrplLedger implements Ledger {
  readonly network: string
  readonly account: string
  readonly distributionWallet: string
  readonly batchWaitUs: number
  readonly inFlightMax = inFlightMax
  readonly mappingOf = mappingOf
  readonly #needs: XrplNeeds
  readonly #networkId: number
  readonly #feeMax: bigint
  readonly #nodes: XrplNodes
  readonly #history: AccountHistory
  readonly #watch: BlockWatch

  /** Asks nobody. */
  constructor(needs: XrplNeeds) {
    const { network, role, distributor, feeMax } = needs
    this.#needs = needs
    this.network = network
    this.account = addressOf(needs[role])
    this.distributionWallet = addressOf(distributor)
    this.batchWaitUs = needs.batchWaitUs
    this.#networkId = Number(network.replace('xrpl:', ''))
    this.#feeMax = feeMax === undefined ? feeMaxUsual : BigInt(feeMax)
    this.#nodes = new XrplNodes(needs)
    this.#history = new AccountHistory(this.#nodes, this.account)
    this.#watch = new BlockWatch(this.#nodes, watchMsMax)
  }

  get heights(): Heights | undefined {
    return this.#nodes.heights
  }

  async prepare(deed: Deed): Promise<Preparation> {
    const refused = problemOfDeed(deed)
    if (refused !== undefined) return { refused }
    const calls = [accountCall(this.account, 'validated'), { command: 'fee' }]
    const { answers, ...state } = await this.#nodes.askFresh(calls)
    const account = accountIn(answers[0], this.account)
    const { open_ledger_fee: open } = membersOf(resultOf(answers[1])['drops'])
    const openFee = dropsOf(open)
    const fee = openFee > state.loadFee ? openFee : state.loadFee
    if (fee > this.#feeMax) {
      throw new LedgerUnreachable(`it costs ${fee} drops now, and may cost ${this.#feeMax}`)
    }
    const isMaking = makingKinds.includes(deed.kind)
    requireMoney(this.account, account, state, { fee, transactions: inFlightMax, isMaking })
    return { terms: termsText({ fee, last: state.validated + ledgersAhead }) }
  }

  async sign(deed: Deed, sequence: number, terms: Terms): Promise<SignedTransaction> {
    const problem = problemOfDeed(deed)
    if (problem !== undefined) throw new RangeError(problem)
    const { account, distributionWallet: distributor } = this
    const signer = this.#needs[this.#needs.role]
    const signing = { account, distributor, networkId: this.#networkId, signer }
    return await signedTransaction(signing, deed, sequence, termsOf(terms))
  }

  /** None: what is too cheap to get in is over soon, and then signed anew for what it costs. */
  async betterTerms(): Promise<undefined> {
    return undefined
  }

  async nextSequence(): Promise<number> {
    const { answers, validated } = await this.#nodes.askFresh([
      accountCall(this.account, 'current'),
    ])
    const { sequence, ledger } = accountIn(answers[0], this.account)
    if (ledger > validated) return sequence
    throw new LedgerUnreachable('the node is behind what it has reported before')
  }

  async submit(blob: string): Promise<Submission> {
    const transaction = readTransaction(blob)
    const problem = this.#problemOf(transaction)
    if (transaction === undefined || problem !== undefined) {
      return { is: 'refused', reason: problem ?? 'it is not a transaction' }
    }
    const { answers } = await this.#nodes.ask([{ command: 'submit', params: { tx_blob: blob } }])
    const code = codeOf(resultOf(answers[0])['engine_result'])
    const meaning = meaningOf(code)
    if (meaning === 'taken') return { is: 'accepted' }
    if (meaning === 'malformed') return { is: 'refused', reason: `the network refuses it: ${code}` }
    return await this.#untaken(transaction, { code, isEarly: meaning === 'early' })
  }

  async sight(hash: string): Promise<Sighting> {
    const call = { command: 'tx', params: { transaction: hash } }
    const { answers, validated } = await this.#nodes.ask(
      [call],
      // What is there is there, whoever says so.
      ({ answers: said, isFresh }) => isFresh || isValidated(said[0]),
    )
    const found = foundIn(answers[0], 'txnNotFound')
    if (!found) return { is: 'unknown' }
    requireSame(hash, found['hash'])
    if (found['validated'] === true) return this.#included(found)
    const last = membersOf(found['tx_json'])['LastLedgerSequence']
    // Nodes remember for a while what never got in.
    return { is: typeof last === 'number' && last < validated ? 'unknown' : 'pending' }
  }

  async find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
    return await this.#history.find(intentIds)
  }

  async changed(signal: AbortSignal): Promise<void> {
    await this.#watch.next(signal)
  }

  async close(): Promise<void> {
    this.#nodes.close()
  }

  /** What is wrong with a transaction that no node is to see. */
  #problemOf(transaction: ReadTransaction | undefined): string | undefined {
    if (!transaction) return 'it is not a transaction'
    const { account, networkId } = transaction
    if (account !== this.account) return `it is of the account ${account}`
    const isOther = networkId !== undefined && networkId !== this.#networkId
    return isOther ? `it is for the network xrpl:${networkId}` : undefined
  }

  /** What it means that a node did not take a transaction: never what it says, but what is there. */
  async #untaken(
    transaction: ReadTransaction,
    { code, isEarly }: { readonly code: string; readonly isEarly: boolean },
  ): Promise<Submission> {
    const { hash, sequence, terms } = transaction
    const { answers } = await this.#nodes.askFresh([
      accountCall(this.account, 'validated'),
      { command: 'tx', params: { transaction: hash } },
    ])
    const { sequence: next, ledger } = accountIn(answers[0], this.account)
    const known = foundIn(answers[1], 'txnNotFound')
    if (known?.['validated'] === true) return { is: 'accepted' }
    if (next > sequence || ledger > terms.last) {
      const first = terms.last - ledgersAhead + 1
      const last = Math.min(ledger, terms.last)
      const isAbsent = await this.#history.isAbsent(hash, first, last)
      return { is: isAbsent ? 'superseded' : 'accepted' }
    }
    if (known) return { is: 'accepted' }
    // Another one has its place, which may still lose it; or one before it is missing.
    if (isEarly || code === 'tefPAST_SEQ') return { is: 'early' }
    throw new LedgerUnreachable(`the node does not take the transaction: ${code}`)
  }

  /** A code of what failed is final: it took the fee, and the sequence. */
  #included(found: Members): Sighting {
    const meta = membersOf(found['meta']) as unknown as TransactionMetadata
    const code = codeOf(meta.TransactionResult)
    const transaction = membersOf(found['tx_json'])
    // Money may come: it is signed anew then.
    if (code === 'tecINSUFFICIENT_RESERVE') return { is: 'superseded' }
    if (!isDone(code, transaction['TransactionType'])) {
      return { is: 'refused', reason: `the network refuses it: ${code}` }
    }
    const height = countOf(found['ledger_index'])
    const hash = textOf(found['ledger_hash'])
    const tokenId = readBy(() => tokenIdIn(transaction, meta))
    return {
      is: 'included',
      isFinal: true,
      inclusion: {
        height,
        timeUs: timeUsOf(Date.parse(textOf(found['close_time_iso'])) * 1_000),
        header: JSON.stringify({ network: this.network, height, hash }),
        blockHash: hash.toLowerCase(),
        path: { index: 0, size: 1, hashes: [] },
        signatures: [],
        ...(tokenId !== undefined && { tokenId }),
      },
    }
  }
}

function isValidated(answer: Parameters<typeof resultOf>[0]): boolean {
  return foundIn(answer, 'txnNotFound')?.['validated'] === true
}

/** What the network calls what was made: a token, or an asset. */
function tokenIdIn(transaction: Members, meta: TransactionMetadata): string | undefined {
  const { TransactionType: type } = transaction
  if (type === 'MPTokenIssuanceCreate') return issuanceIdIn(transaction, meta)
  return type === 'NFTokenMint' ? getNFTokenID(meta) : undefined
}
