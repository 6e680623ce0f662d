import { hashes, Wallet } from 'xrpl'
import { type Account, applied, type Metadata, newAccount } from './apply.ts'
import { type ReadBlob, type Rules, readBlob, resultOf } from './checks.ts'

/** Seconds between 1970 and the epoch of the XRP Ledger (https://xrpl.org/docs/references/protocol/data-types/basic-data-types#specifying-time). */
const rippleEpoch = 946_684_800

const totalCoins = 100_000_000_000_000_000n

/** A transaction in a ledger. */
export interface Validated {
  readonly blob: ReadBlob
  readonly meta: Metadata
}

export interface ChainLedger {
  readonly index: number
  readonly hash: string
  /** Seconds of the epoch of the XRP Ledger. */
  readonly closeTime: number
  readonly transactions: readonly Validated[]
  /** As they are after it. */
  readonly accounts: ReadonlyMap<string, Account>
}

/** Transactions of one account that wait for room (https://xrpl.org/docs/concepts/transactions/transaction-queue#queue-restrictions). */
const queuedOfAccountMax = 10

/**
 * A chain of ledgers that are closed by hand, or by a timer, and an open one. What is closed is validated: there is nobody
 * to agree with.
 */
export class Chain implements Disposable {
  /** It has all the money in the beginning, as of a network that is made new (https://xrpl.org/docs/concepts/accounts/account-types#special-addresses). */
  readonly genesis = Wallet.fromSeed('snoPBrXtMeMyMHUVTgbuqAfg1SUTb', {
    algorithm: 'secp256k1' as never,
  })
  readonly ledgers: ChainLedger[] = []
  readonly rules: Rules
  /** Drops that get a transaction into the open ledger: those that pay less, and the reference cost, wait in the queue. */
  openFee = 10n
  /** Codes that transactions end with, by hash. */
  readonly failures = new Map<string, string>()
  #open: ReadBlob[] = []
  #queue: ReadBlob[] = []
  /** What never got in: nodes remember it for a while. */
  readonly dropped = new Map<string, ReadBlob>()
  #timer: NodeJS.Timeout | undefined
  readonly #listeners = new Set<() => void>()

  /** @param first index of the first ledger that it has */
  constructor(networkId: number, first = 1_000) {
    this.rules = { networkId, baseFee: 10n, reserveBase: 1_000_000n, reserveEach: 200_000n }
    const address = this.genesis.classicAddress
    const account = { ...newAccount(address, 1), balance: totalCoins }
    this.#append(first, [], new Map([[address, account]]))
  }

  get newest(): ChainLedger {
    return this.ledgers.at(-1) as ChainLedger
  }

  /** In the open ledger, and after it. */
  get waiting(): readonly ReadBlob[] {
    return [...this.#open, ...this.#queue]
  }

  ledgerAt(index: number): ChainLedger | undefined {
    return this.ledgers[index - (this.ledgers[0]?.index ?? 0)]
  }

  /** Accounts as the open ledger has them. */
  current(): ReadonlyMap<string, Account> {
    let accounts = this.newest.accounts
    for (const blob of this.#open) accounts = applied(accounts, blob, this.#placeOf(blob)).accounts
    return accounts
  }

  /** Transactions that are validated, in order. */
  validated(): readonly Validated[] {
    return this.ledgers.flatMap(({ transactions }) => transactions)
  }

  /** What a node answers to it (`engine_result`); undefined when it is no transaction. */
  submit(text: string): string | undefined {
    const blob = readBlob(text)
    if (!blob) return undefined
    const { account, sequence, fee } = blob
    const index = this.newest.index + 1
    const queued = this.#queue.filter((one) => one.account === account)
    const accounts = this.current()
    const upTo = (accounts.get(account)?.sequence ?? 0) + queued.length
    const code = resultOf(blob, { accounts, index, rules: this.rules, queued: queued.length })
    if (code !== 'tesSUCCESS') return code
    const isQueued = queued.some((one) => one.hash === blob.hash)
    // A node does not queue twice; another one in its place has to pay 25 % more (the same page).
    if (isQueued) return 'telCAN_NOT_QUEUE_FEE'
    if (fee >= this.openFee && queued.length === 0) {
      this.#open.push(blob)
      return applied(accounts, blob, this.#placeOf(blob)).meta.TransactionResult
    }
    if (queued.length >= queuedOfAccountMax) return 'telCAN_NOT_QUEUE_FULL'
    if (sequence !== upTo) return 'terPRE_SEQ'
    this.#queue.push(blob)
    return 'terQUEUED'
  }

  /** Closes the open ledger, and moves into the next one what has waited for it and pays enough by now. */
  close(): ChainLedger {
    const index = this.newest.index + 1
    let accounts = this.newest.accounts
    const transactions: Validated[] = []
    for (const blob of this.#open) {
      const place = { ...this.#placeOf(blob), index, at: transactions.length }
      const result = applied(accounts, blob, place)
      accounts = result.accounts
      transactions.push({ blob, meta: result.meta })
    }
    this.#open = []
    this.#append(index, transactions, accounts)
    const waiting = this.#queue
    this.#queue = []
    for (const blob of waiting) if (!this.#isTaken(blob)) this.dropped.set(blob.hash, blob)
    for (const listener of this.#listeners) listener()
    return this.newest
  }

  closeMany(count: number): void {
    for (let closed = 0; closed < count; closed++) this.close()
  }

  /** Closes a ledger from time to time while something waits: what is signed is not over because a test is slow. */
  closeEvery(ms: number): void {
    this.hold()
    this.#timer = setInterval(() => {
      if (this.waiting.length > 0) this.close()
    }, ms)
  }

  /** Closes no ledgers until it is told to. */
  hold(): void {
    clearInterval(this.#timer)
  }

  /** What is in no ledger is lost, as by a restart of all that know it. */
  forgetWaiting(): void {
    this.#open = []
    this.#queue = []
  }

  /** As `forgetWaiting`, but nodes remember that there was something. */
  dropWaiting(): void {
    for (const blob of this.waiting) this.dropped.set(blob.hash, blob)
    this.forgetWaiting()
  }

  /** Pays an account from the first one, in a ledger of its own. */
  fund(address: string, drops: bigint): void {
    const { classicAddress: account } = this.genesis
    const sequence = this.current().get(account)?.sequence ?? 0
    const { tx_blob: blob } = this.genesis.sign({
      TransactionType: 'Payment',
      Account: account,
      Destination: address,
      Amount: `${drops}`,
      Fee: `${this.openFee}`,
      Sequence: sequence,
      ...(this.rules.networkId > 1_024 && { NetworkID: this.rules.networkId }),
    })
    const code = this.submit(blob)
    if (code !== 'tesSUCCESS') throw new Error(`it is ${code}`)
    this.close()
  }

  onClose(listener: () => void): void {
    this.#listeners.add(listener)
  }

  [Symbol.dispose](): void {
    this.hold()
  }

  #placeOf({ hash }: ReadBlob) {
    const code = this.failures.get(hash) ?? 'tesSUCCESS'
    return { code, index: this.newest.index + 1, at: 0, rules: this.rules }
  }

  #isTaken(blob: ReadBlob): boolean {
    const code = this.submit(blob.text)
    return code === 'tesSUCCESS' || code === 'terQUEUED' || code?.startsWith('tec') === true
  }

  #append(
    index: number,
    transactions: readonly Validated[],
    accounts: ReadonlyMap<string, Account>,
  ): void {
    const parent = this.ledgers.at(-1)
    const now = Math.floor(Date.now() / 1_000) - rippleEpoch
    // Close times grow (https://xrpl.org/docs/concepts/ledgers/ledger-close-times).
    const closeTime = Math.max(now, (parent?.closeTime ?? 0) + 1)
    const none = '0'.repeat(64)
    const hash = hashes.hashLedgerHeader({
      ledger_index: index,
      total_coins: `${totalCoins}`,
      parent_hash: parent?.hash ?? none,
      transaction_hash: transactions.at(-1)?.blob.hash ?? none,
      account_hash: none,
      parent_close_time: parent?.closeTime ?? 0,
      close_time: closeTime,
      close_time_resolution: 10,
      close_flags: 0,
    } as never)
    this.ledgers.push({ index, hash, closeTime, transactions, accounts })
  }
}

/** Seconds of the epoch of the XRP Ledger, as answers write them. */
export function isoOf(closeTime: number): string {
  return new Date((closeTime + rippleEpoch) * 1_000).toISOString().replace('.000Z', 'Z')
}
