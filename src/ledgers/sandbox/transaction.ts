import { type KeyObject, sign, verify } from 'node:crypto'
import type { Deed, FoundTransaction, Leaf, Terms } from '../ledger.ts'
import { MerkleTree } from '../merkle/merkle-tree.ts'
import {
  isObject,
  leavesMax,
  membersOf,
  parseText,
  sandboxNetwork,
  sha256Of,
  type TransactionText,
  textOf,
} from '../proofs/transaction-text.ts'
import type { SigningKey } from './keys.ts'

/** Characters of a transaction with all its CIDs: `leavesMax` of them have less than half of it. */
const blobCharsMax = 1024 * 1024

/** Nothing is paid here, and nothing expires. */
export const noTerms: Terms = ''

/** A transaction as it is sent and kept. */
export interface SignedText {
  readonly text: string
  /** JSON of all CIDs with their intents: pairs, in order. */
  readonly annex: string
  /** The account's, over the text: base64. */
  readonly signature: string
}

/** A transaction that is what it says. */
export interface SandboxTransaction extends SignedText {
  readonly hash: string
  readonly said: TransactionText
  readonly leaves: readonly Leaf[]
}

/** Who signs, and for which chain. */
export interface Account {
  readonly id: string
  readonly chain: string
  readonly verifier: KeyObject
}

export function signedText(
  deed: Deed,
  sequence: number,
  chain: string,
  account: SigningKey,
): SignedText {
  const { intentId: intent, kind, root, leaves, uri, asset } = deed
  const annex = JSON.stringify(leaves.map((leaf) => [leaf.intentId, leaf.cid]))
  const text = textOf({
    network: sandboxNetwork,
    chain,
    account: account.id,
    sequence,
    intent,
    kind,
    root,
    leaves: leaves.length,
    annex: sha256Of(annex),
    ...(uri !== undefined && { uri }),
    ...(asset && { asset }),
  })
  const signature = sign(null, Buffer.from(text), account.private).toString('base64')
  return { text, annex, signature }
}

export function blobOf({ text, annex, signature }: SignedText): string {
  return JSON.stringify({ text, annex, signature })
}

/** The transaction that a blob is, or why it is none of this account. */
export function parseBlob(blob: string, account: Account): SandboxTransaction | string {
  if (blob.length > blobCharsMax) return `it is longer than ${blobCharsMax} characters`
  const signed = membersOf(blob)
  if (!signed || !isSignedText(signed) || blobOf(signed) !== blob) return 'it is not a transaction'
  return checkedTransaction(signed, account)
}

export function isSignedText(value: unknown): value is SignedText {
  return (
    isObject(value) &&
    typeof value['text'] === 'string' &&
    typeof value['annex'] === 'string' &&
    typeof value['signature'] === 'string'
  )
}

/** The transaction, or what is wrong with it. */
export function checkedTransaction(
  signed: SignedText,
  account: Account,
): SandboxTransaction | string {
  const { text, annex, signature } = signed
  const said = parseText(text)
  if (!said) return 'its text is not that of a transaction'
  if (said.chain !== account.chain) return `it is for the chain ${said.chain}`
  if (said.account !== account.id) return `it is of the account ${said.account}`
  if (!isSignature(text, signature, account.verifier)) return 'its signature is wrong'
  if (sha256Of(annex) !== said.annex) return 'its CIDs are not those that it was signed for'
  const leaves = leavesOf(annex)
  if (!leaves || leaves.length !== said.leaves) return 'its list of CIDs is damaged'
  if (MerkleTree.over(leaves.map(({ cid }) => cid)).root !== said.root) {
    return 'its root is not that of its CIDs'
  }
  return { text, annex, signature, said, leaves, hash: sha256Of(text) }
}

/** Whether a signature in base64 is of these bytes, in the one way that it is written. */
export function isSignature(text: string, signature: string, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64')
  if (bytes.toString('base64') !== signature) return false
  return verify(null, Buffer.from(text), key, bytes)
}

/** The CIDs of a transaction; undefined where the text is no list of them. */
export function leavesOf(annex: string): readonly Leaf[] | undefined {
  let pairs: unknown
  try {
    pairs = JSON.parse(annex)
  } catch {
    return undefined
  }
  if (!Array.isArray(pairs) || pairs.length > leavesMax || JSON.stringify(pairs) !== annex) {
    return undefined
  }
  const leaves = pairs.map((pair: unknown) => leafOf(pair))
  return leaves.every((leaf) => leaf !== undefined) ? leaves : undefined
}

function leafOf(pair: unknown): Leaf | undefined {
  if (!Array.isArray(pair) || pair.length !== 2) return undefined
  const [intentId, cid] = pair as readonly unknown[]
  if (typeof intentId !== 'string' || typeof cid !== 'string' || cid === '') return undefined
  return { intentId, cid }
}

/** A transaction as the port has it. */
export function foundTransaction(transaction: SandboxTransaction): FoundTransaction {
  const { hash, said, text, leaves } = transaction
  const { intent: intentId, kind, root, sequence, uri, asset } = said
  const deed: Deed = {
    intentId,
    kind,
    root,
    leaves,
    ...(uri !== undefined && { uri }),
    ...(asset && { asset }),
  }
  return { hash, sequence, blob: blobOf(transaction), text, terms: noTerms, deed }
}
