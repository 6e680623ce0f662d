import { encode } from 'xrpl'
import { fieldsOf, type Metadata } from './apply.ts'
import { issuanceIdOf } from './assets.ts'
import { type Chain, type ChainLedger, isoOf, type Validated } from './chain.ts'

/** A node as it answers: of a chain, up to the ledger that it knows, without those that it has forgotten. */
export interface View {
  readonly chain: Chain
  /** What it says that it is of; undefined where nobody has told it. */
  readonly networkId: number | undefined
  /** The newest ledger that it knows; undefined while it keeps up. */
  readonly stopsAt: number | undefined
  readonly isForgotten: (index: number) => boolean
  /** By how much transactions cost more than the reference. */
  readonly loadFactor: number
  /** What it says that each asset is called; undefined while it says what is true. */
  readonly issuanceId: string | undefined
}

type Request = Readonly<Record<string, unknown>>

type Answer = Readonly<Record<string, unknown>>

/** An error with a name of the protocol (https://xrpl.org/docs/references/http-websocket-apis/api-conventions/error-formatting). */
export class NodeError extends Error {
  override readonly name = 'NodeError'
}

/** Entries of one page, whatever is asked for: small, so that tests need several. */
const pageMax = 7

/** Members of answers are those of https://xrpl.org/docs/references/http-websocket-apis/public-api-methods, page by page, with `api_version` 2. */
export const commands: Readonly<Record<string, (view: View, request: Request) => Answer>> = {
  ping: () => ({}),
  subscribe: (view) => ledgerMessage(view),
  unsubscribe: () => ({}),
  server_info: (view) => ({ info: infoOf(view) }),
  fee: ({ chain }) => ({
    current_ledger_size: `${chain.waiting.length}`,
    ledger_current_index: chain.newest.index + 1,
    drops: {
      base_fee: `${chain.rules.baseFee}`,
      median_fee: '5000',
      minimum_fee: `${chain.rules.baseFee}`,
      open_ledger_fee: `${chain.openFee}`,
    },
  }),
  ledger_current: (view) => ({ ledger_current_index: newestOf(view).index + 1 }),
  ledger: (view, { ledger_index: asked }) => {
    const { index, hash, closeTime } = ledgerOf(view, asked)
    const ledger = { ledger_index: index, ledger_hash: hash, close_time: closeTime, closed: true }
    return {
      ledger: { ...ledger, close_time_iso: isoOf(closeTime) },
      ledger_hash: hash,
      ledger_index: index,
      validated: true,
    }
  },
  account_info: (view, { account, ledger_index: asked }) => {
    const isOpen = asked === 'current' || asked === undefined
    const { index, accounts } = isOpen ? newestOf(view) : ledgerOf(view, asked)
    const known = isOpen && view.stopsAt === undefined ? view.chain.current() : accounts
    const found = known.get(String(account))
    // account_info, "Possible Errors": actNotFound.
    if (!found) throw new NodeError('actNotFound')
    const of = isOpen ? { ledger_current_index: index + 1 } : { ledger_index: index }
    return { account_data: fieldsOf(found), ...of, validated: !isOpen }
  },
  tx: (view, { transaction }) => {
    const hash = String(transaction)
    const ledger = knownLedgers(view).find((one) => entryIn(one, hash) !== undefined)
    const entry = ledger && entryIn(ledger, hash)
    if (ledger && entry) return validatedAnswer(view, ledger, entry)
    const { chain, stopsAt } = view
    const waits = chain.waiting.find((one) => one.hash === hash) ?? chain.dropped.get(hash)
    // tx, "Not Found Response".
    if (!waits || stopsAt !== undefined) throw new NodeError('txnNotFound')
    return { hash, tx_json: waits.said, validated: false }
  },
  account_tx: accountTransactions,
  submit: ({ chain, stopsAt }, { tx_blob: text }) => {
    const code = stopsAt === undefined ? chain.submit(String(text)) : 'telFAILED_PROCESSING'
    // submit, "Possible Errors": invalidTransaction.
    if (code === undefined) throw new NodeError('invalidTransaction')
    return { engine_result: code, tx_blob: text, accepted: !/^te[mf]/.test(code) }
  },
}

/** What those hear that have subscribed to ledgers. */
export function ledgerMessage(view: View): Answer {
  const { index, hash, closeTime, transactions } = newestOf(view)
  const { baseFee, reserveBase, reserveEach } = view.chain.rules
  return {
    fee_base: Number(baseFee),
    ledger_hash: hash,
    ledger_index: index,
    ledger_time: closeTime,
    reserve_base: Number(reserveBase),
    reserve_inc: Number(reserveEach),
    txn_count: transactions.length,
    validated_ledgers: completeOf(view),
  }
}

function infoOf(view: View): Answer {
  const { index, hash, closeTime } = newestOf(view)
  const { baseFee, reserveBase, reserveEach } = view.chain.rules
  return {
    build_version: '2.6.0',
    complete_ledgers: completeOf(view),
    load_factor: view.loadFactor,
    server_state: 'full',
    time: isoOf(closeTime),
    validated_ledger: {
      age: 1,
      base_fee_xrp: Number(baseFee) / 1e6,
      hash,
      reserve_base_xrp: Number(reserveBase) / 1e6,
      reserve_inc_xrp: Number(reserveEach) / 1e6,
      seq: index,
    },
    ...(view.networkId !== undefined && { network_id: view.networkId }),
  }
}

/** Pages of them, with a marker to the next (https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/account-methods/account_tx). */
function accountTransactions(view: View, request: Request): Answer {
  const { account, binary, forward, marker } = request
  const known = knownLedgers(view)
  const whole = wholeEnd(known)
  const first = Math.max(Number(request['ledger_index_min'] ?? -1), whole[0]?.index ?? 0)
  const max = Number(request['ledger_index_max'] ?? -1)
  const last = Math.min(max === -1 ? Number.POSITIVE_INFINITY : max, whole.at(-1)?.index ?? 0)
  // account_tx, "Possible Errors": lgrIdxMalformed where the range is none that the node has.
  if (first > last) throw new NodeError('lgrIdxMalformed')
  const entries = whole
    .filter(({ index }) => index >= first && index <= last)
    .flatMap((ledger) => ledger.transactions.map((entry) => ({ ledger, entry })))
    .filter(({ entry }) => isAbout(entry.meta, String(account)))
  if (forward !== true) entries.reverse()
  const from = marker === undefined ? 0 : (marker as { readonly seq: number }).seq
  const upTo = Math.min(from + Math.min(Number(request['limit'] ?? 200), pageMax), entries.length)
  return {
    account,
    ledger_index_min: first,
    ledger_index_max: last,
    validated: true,
    transactions: entries.slice(from, upTo).map(({ ledger, entry }) =>
      binary === true
        ? {
            tx_blob: entry.blob.text,
            meta_blob: encode(entry.meta as never),
            ledger_index: ledger.index,
            validated: true,
          }
        : validatedAnswer(view, ledger, entry),
    ),
    ...(upTo < entries.length && { marker: { ledger: last, seq: upTo } }),
  }
}

function validatedAnswer(view: View, ledger: ChainLedger, { blob, meta }: Validated): Answer {
  const isIssuance = blob.said['TransactionType'] === 'MPTokenIssuanceCreate'
  // tx and account_tx: "mpt_issuance_id", where an issuance has succeeded, and not in binary.
  const isIssued = isIssuance && meta.TransactionResult === 'tesSUCCESS'
  const id = view.issuanceId ?? issuanceIdOf(blob.account, blob.sequence)
  const issued = isIssued ? { mpt_issuance_id: id } : {}
  return {
    close_time_iso: isoOf(ledger.closeTime),
    hash: blob.hash,
    ledger_hash: ledger.hash,
    ledger_index: ledger.index,
    meta: { ...meta, ...issued },
    tx_json: { ...blob.said, date: ledger.closeTime, ledger_index: ledger.index },
    validated: true,
  }
}

function isAbout({ AffectedNodes }: Metadata, account: string): boolean {
  return AffectedNodes.some((node) => JSON.stringify(node).includes(`"${account}"`))
}

function entryIn({ transactions }: ChainLedger, hash: string): Validated | undefined {
  return transactions.find(({ blob }) => blob.hash === hash)
}

function newestOf({ chain, stopsAt }: View): ChainLedger {
  return (stopsAt === undefined ? undefined : chain.ledgerAt(stopsAt)) ?? chain.newest
}

function ledgerOf(view: View, asked: unknown): ChainLedger {
  if (asked === 'validated' || asked === 'closed' || asked === undefined) return newestOf(view)
  const found = knownLedgers(view).find(({ index }) => index === Number(asked))
  // ledger, "Possible Errors": lgrNotFound.
  if (!found) throw new NodeError('lgrNotFound')
  return found
}

function knownLedgers(view: View): readonly ChainLedger[] {
  const { index } = newestOf(view)
  return view.chain.ledgers.filter((one) => one.index <= index && !view.isForgotten(one.index))
}

/** Ledgers up to the newest without a gap: the range that nodes search. */
function wholeEnd(known: readonly ChainLedger[]): readonly ChainLedger[] {
  const gap = known.findLastIndex(
    ({ index }, at) => index !== (known[at + 1]?.index ?? index + 1) - 1,
  )
  return known.slice(gap + 1)
}

/** `1000-1004,1007` (https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/server-info-methods/server_info). */
function completeOf(view: View): string {
  const known = knownLedgers(view).map(({ index }) => index)
  const starts = known.filter((index, at) => known[at - 1] !== index - 1)
  const ends = known.filter((index, at) => known[at + 1] !== index + 1)
  const parts = starts.map((start, at) =>
    start === ends[at] ? `${start}` : `${start}-${ends[at]}`,
  )
  return parts.length === 0 ? 'empty' : parts.join(',')
}
