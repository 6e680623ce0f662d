import { decodeAccountID, hashes } from 'xrpl'
import { type Assets, assetChanges, isOfAsset } from './assets.ts'
import type { ReadBlob, Rules } from './checks.ts'

export interface Account extends Assets {
  readonly address: string
  /** Drops. */
  readonly balance: bigint
  readonly sequence: number
  /** Tokens that it has made, and the sequence that the first of them has. */
  readonly minted: number
  readonly firstToken: number
  /** Tokens by the page that they are on. */
  readonly pages: readonly (readonly Token[])[]
}

interface Token {
  readonly NFTokenID: string
  readonly URI: string
}

export interface Metadata {
  readonly AffectedNodes: readonly object[]
  readonly TransactionIndex: number
  readonly TransactionResult: string
}

interface Place {
  /** What it is to end with; for `tesSUCCESS`, if nothing is in its way. */
  readonly code: string
  readonly index: number
  /** Its place in the ledger. */
  readonly at: number
  readonly rules: Rules
}

interface Applied {
  readonly accounts: ReadonlyMap<string, Account>
  readonly meta: Metadata
}

/** Tokens of a page (https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/nftokenpage). */
const pageMax = 32

/**
 * What becomes of accounts by a transaction, and what its metadata say
 * (https://xrpl.org/docs/references/protocol/transactions/metadata). One that fails takes its fee and its sequence, and nothing else
 * (https://xrpl.org/docs/references/protocol/transactions/transaction-results/tec-codes).
 */
export function applied(
  accounts: ReadonlyMap<string, Account>,
  blob: ReadBlob,
  place: Place,
): Applied {
  const before = accounts.get(blob.account) as Account
  const paid = { ...before, balance: before.balance - blob.fee, sequence: before.sequence + 1 }
  const effects = place.code === 'tesSUCCESS' ? effectsOf(accounts, paid, blob, place) : undefined
  const code = typeof effects === 'string' ? effects : place.code
  const done: Effects = typeof effects === 'object' ? effects : { sender: paid, nodes: [] }
  const { sender, receiver, nodes } = done
  const after = new Map(accounts).set(blob.account, sender)
  if (receiver) after.set(receiver.address, receiver)
  return {
    accounts: after,
    meta: {
      AffectedNodes: [changed(before, sender), ...nodes],
      TransactionIndex: place.at,
      TransactionResult: code,
    },
  }
}

interface Effects {
  readonly sender: Account
  readonly receiver?: Account
  readonly nodes: readonly object[]
}

/** Or the code of why there are none. */
function effectsOf(
  accounts: ReadonlyMap<string, Account>,
  paid: Account,
  { said }: ReadBlob,
  { index, rules }: Place,
): Effects | string {
  if (said['TransactionType'] === 'NFTokenMint') return minted(paid, said, rules)
  if (isOfAsset(said)) return ofAsset(accounts, paid, said, rules)
  if (said['TransactionType'] !== 'Payment') return { sender: paid, nodes: [] }
  const drops = BigInt(String(said['Amount']))
  // tec codes, tecUNFUNDED_PAYMENT: the sender "is trying to send more XRP than it holds, not counting the reserve".
  if (paid.balance - drops < rules.reserveBase) return 'tecUNFUNDED_PAYMENT'
  const address = String(said['Destination'])
  const existing = accounts.get(address)
  // Accounts begin with the index of the ledger that makes them (https://xrpl.org/docs/concepts/accounts/deleting-accounts).
  const made = newAccount(address, index)
  const receiver = { ...(existing ?? made), balance: (existing?.balance ?? 0n) + drops }
  const node = existing ? changed(existing, receiver) : created(receiver)
  return { sender: { ...paid, balance: paid.balance - drops }, receiver, nodes: [node] }
}

export function newAccount(address: string, sequence: number): Account {
  const nothing = { minted: 0, firstToken: 0, pages: [], issued: [], held: new Map() }
  return { address, balance: 0n, sequence, ...nothing }
}

function ofAsset(
  accounts: ReadonlyMap<string, Account>,
  paid: Account,
  said: ReadBlob['said'],
  { reserveBase, reserveEach }: Rules,
): Effects | string {
  const changes = assetChanges(accounts, paid, said)
  if (typeof changes === 'string') return changes
  const sender = { ...paid, ...changes.sender }
  const reserve = reserveBase + BigInt(ownedBy(sender)) * reserveEach
  const isMore = ownedBy(sender) > ownedBy(paid) && ownedBy(sender) > changes.unreserved
  // MPTokenIssuanceCreate.cpp and MPTokenAuthorize.cpp compare the balance before the fee.
  const before = paid.balance + BigInt(String(said['Fee']))
  if (isMore && before < reserve) return 'tecINSUFFICIENT_RESERVE'
  const destination = accounts.get(String(said['Destination']))
  const receiver = destination && changes.receiver && { ...destination, ...changes.receiver }
  return { sender, ...(receiver && { receiver }), nodes: changes.nodes }
}

function minted(
  paid: Account,
  said: ReadBlob['said'],
  { reserveBase, reserveEach }: Rules,
): Effects | string {
  const firstToken = paid.minted === 0 ? paid.sequence - 1 : paid.firstToken
  const token: Token = {
    NFTokenID: tokenIdOf(paid.address, said, firstToken + paid.minted),
    URI: String(said['URI']),
  }
  const last = paid.pages.at(-1)
  const isNew = last === undefined || last.length >= pageMax
  const pages = isNew ? [...paid.pages, [token]] : [...paid.pages.slice(0, -1), [...last, token]]
  // tec codes, tecINSUFFICIENT_RESERVE: "The transaction would increase the reserve requirement higher than the sending account's balance."
  const reserve = reserveBase + BigInt(ownedBy({ ...paid, pages })) * reserveEach
  if (isNew && paid.balance < reserve) return 'tecINSUFFICIENT_RESERVE'
  const sender = { ...paid, minted: paid.minted + 1, firstToken, pages }
  const index = pageIndexOf(paid.address, pages.length)
  const node = { LedgerEntryType: 'NFTokenPage', LedgerIndex: index }
  const NFTokens = tokensOf(pages.at(-1) ?? [])
  const change = isNew
    ? { CreatedNode: { ...node, NewFields: { NFTokens } } }
    : {
        ModifiedNode: {
          ...node,
          FinalFields: { Flags: 0, NFTokens },
          PreviousFields: { NFTokens: tokensOf(last) },
        },
      }
  return { sender, nodes: [change] }
}

function tokensOf(page: readonly Token[]): readonly object[] {
  return page.map((token) => ({ NFToken: token }))
}

/** Some page of the account: the 96 bits at the end are those of the last token on it. */
function pageIndexOf(address: string, number: number): string {
  const id = Buffer.from(decodeAccountID(address)).toString('hex').toUpperCase()
  return id + number.toString(16).toUpperCase().padStart(24, '0')
}

/** https://xrpl.org/docs/references/protocol/data-types/nftoken#nftokenid */
function tokenIdOf(address: string, said: ReadBlob['said'], sequence: number): string {
  const id = Buffer.alloc(32)
  id.writeUInt16BE(Number(said['Flags'] ?? 0) & 0xff_ff, 0)
  id.writeUInt16BE(Number(said['TransferFee'] ?? 0), 2)
  Buffer.from(decodeAccountID(address)).copy(id, 4)
  const scramble = Number((384_160_001n * BigInt(sequence) + 2_459n) % 2n ** 32n)
  id.writeUInt32BE((Number(said['NFTokenTaxon'] ?? 0) ^ scramble) >>> 0, 24)
  id.writeUInt32BE(sequence, 28)
  return id.toString('hex').toUpperCase()
}

function changed(before: Account, after: Account): object {
  return {
    ModifiedNode: {
      LedgerEntryType: 'AccountRoot',
      LedgerIndex: hashes.hashAccountRoot(after.address),
      FinalFields: fieldsOf(after),
      PreviousFields: {
        ...(before.balance !== after.balance && { Balance: `${before.balance}` }),
        ...(before.sequence !== after.sequence && { Sequence: before.sequence }),
      },
    },
  }
}

function created(account: Account): object {
  return {
    CreatedNode: {
      LedgerEntryType: 'AccountRoot',
      LedgerIndex: hashes.hashAccountRoot(account.address),
      NewFields: fieldsOf(account),
    },
  }
}

/** The object of an account as nodes show it. */
export function fieldsOf(account: Account) {
  const { address, balance, sequence } = account
  return {
    Account: address,
    Balance: `${balance}`,
    Flags: 0,
    OwnerCount: ownedBy(account),
    Sequence: sequence,
  }
}

/** Things that it keeps a reserve for (https://xrpl.org/docs/concepts/accounts/reserves#owner-reserves). */
function ownedBy({ pages, issued, held }: Account): number {
  return pages.length + issued.length + held.size
}
