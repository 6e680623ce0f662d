import { decode, type TransactionMetadata } from 'xrpl'
import { LruMap } from '../../core/lru-map.ts'
import { type FoundTransaction, LedgerUnreachable } from '../ledger.ts'
import { countOf, listOf, type Members, membersOf, readBy, textOf } from './answers.ts'
import { isDone } from './engine-results.ts'
import { isWhole, resultOf, type XrplNodes } from './xrpl-nodes.ts'
import { readTransaction, termsText } from './xrpl-transaction.ts'

/** Transactions of one answer: nodes give that many to clients that are none of their operator's. */
const pageMax = 200

/** Pages without a transaction, one after the other, that are looked at: the next may have some. */
const emptyPagesMax = 100

/** Intents of which it is remembered up to where they were looked for. */
const rememberedMax = 10_000

/** What is validated of one transaction. */
interface Entry {
  readonly blob: string
  readonly meta: TransactionMetadata
  /** The ledger that it is in. */
  readonly ledger: number
}

/** The validated transactions of an account, as far as they are all there. */
export class AccountHistory {
  readonly #nodes: XrplNodes
  readonly #account: string
  /** By intent, the validated ledger up to which there is nothing of it. */
  readonly #absentUpTo = new LruMap<string, number>(rememberedMax)

  constructor(nodes: XrplNodes, account: string) {
    this.#nodes = nodes
    this.#account = account
  }

  /** Looks from the first ledger that knows the account. @throws LedgerUnreachable also where the nodes do not have all of that */
  async find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
    const wanted = new Set(intentIds)
    const found = new Map<string, FoundTransaction>()
    if (wanted.size === 0) return found
    const { validated } = await this.#nodes.askFresh([])
    const absent = intentIds.map((id) => this.#absentUpTo.get(id) ?? 0)
    const from = Math.min(...absent) + 1
    if (from > validated) return found
    let isFirst = from === 1
    for await (const entry of this.#between(isFirst ? undefined : from, validated)) {
      if (isFirst) await this.#requireBeginning(entry, validated)
      isFirst = false
      const one = this.#ours(entry)
      if (one && wanted.has(one.deed.intentId) && !found.has(one.deed.intentId)) {
        found.set(one.deed.intentId, one)
      }
    }
    if (isFirst) throw unknownBeginning()
    for (const id of intentIds) if (!found.has(id)) this.#absentUpTo.set(id, validated)
    return found
  }

  /**
   * Whether a transaction of the account is in no ledger from one to another.
   *
   * @throws LedgerUnreachable where the nodes do not have all of these
   */
  async isAbsent(hash: string, first: number, last: number): Promise<boolean> {
    for await (const { blob } of this.#between(first, last)) {
      if (readTransaction(blob)?.hash === hash) return false
    }
    return true
  }

  /** In order, from the first that the node has where no ledger is named. */
  async *#between(first: number | undefined, last: number): AsyncGenerator<Entry> {
    let marker: unknown
    let empty = 0
    do {
      const params = {
        account: this.#account,
        ledger_index_min: first ?? -1,
        ledger_index_max: last,
        binary: true,
        forward: true,
        limit: pageMax,
        ...(marker !== undefined && { marker }),
      }
      const { answers, complete } = await this.#nodes.askFresh([{ command: 'account_tx', params }])
      const page = resultOf(answers[0])
      const searched = countOf(page['ledger_index_min'])
      const start = first ?? searched
      // Both: a node may forget ledgers between the two answers.
      if (searched > start || countOf(page['ledger_index_max']) < last) throw gap()
      if (first !== undefined && !isWhole(complete, start, last)) throw gap()
      const transactions = listOf(page['transactions'])
      empty = transactions.length === 0 ? empty + 1 : 0
      if (empty > emptyPagesMax) throw endless()
      for (const one of transactions) yield entryOf(membersOf(one))
      const next = page['marker']
      if (next !== undefined && JSON.stringify(next) === JSON.stringify(marker)) throw endless()
      marker = next
    } while (marker !== undefined)
  }

  /** The first transaction of an account is the one that has made it: what comes after it is all there is. */
  async #requireBeginning({ meta, ledger }: Entry, validated: number): Promise<void> {
    const isMade = (listOf(meta.AffectedNodes) as TransactionMetadata['AffectedNodes']).some(
      (node) =>
        'CreatedNode' in node &&
        node.CreatedNode.LedgerEntryType === 'AccountRoot' &&
        membersOf(node.CreatedNode.NewFields)['Account'] === this.#account,
    )
    if (!isMade) throw unknownBeginning()
    const { complete } = await this.#nodes.askFresh([])
    if (!isWhole(complete, ledger, validated)) throw gap()
  }

  #ours({ blob, meta }: Entry): FoundTransaction | undefined {
    const read = readTransaction(blob)
    // Others send to our account what they want.
    if (!read?.deed || read.account !== this.#account) return undefined
    const { hash, sequence, text, terms, deed, type } = read
    if (!isDone(meta.TransactionResult, type)) return undefined
    return { hash, sequence, blob, text, terms: termsText(terms), deed }
  }
}

function entryOf(said: Members): Entry {
  // Servers for history alone write it as those of before.
  const bytes = textOf(said['meta_blob'] ?? said['meta'])
  const meta = readBy(() => decode(bytes)) as unknown as TransactionMetadata
  return { blob: textOf(said['tx_blob']), meta, ledger: countOf(said['ledger_index']) }
}

function endless(): LedgerUnreachable {
  return new LedgerUnreachable('the history that the node gives has no end')
}

function gap(): LedgerUnreachable {
  return new LedgerUnreachable('the node does not have all ledgers that it is asked for')
}

function unknownBeginning(): LedgerUnreachable {
  return new LedgerUnreachable('the node does not have all ledgers since the account was made')
}
