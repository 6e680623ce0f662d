import { type KeyObject, sign } from 'node:crypto'
import { MerkleTree } from '../merkle/merkle-tree.ts'
import { type BlockHeader, headerOf, noBlock, parseHeader } from '../proofs/block-header.ts'
import { membersOf, sha256Of } from '../proofs/transaction-text.ts'
import type { SigningKey } from './keys.ts'
import {
  type Account,
  checkedTransaction,
  isSignature,
  isSignedText,
  type SandboxTransaction,
  type SignedText,
} from './transaction.ts'

/** Transactions of a block, and the characters of all together: one is in memory as a whole. */
export const blockTransactionsMax = 2_000
export const blockCharsMax = 16 * 1024 * 1024

/** Bytes of a line of the chain: JSON writes some characters with more than one. */
export const lineBytesMax = 4 * blockCharsMax

/** Where a chain ends. */
export interface Tip {
  /** 0 before the first block. */
  readonly height: number
  /** SHA-256 of the last header, hex. */
  readonly hash: string
  readonly timeUs: number
  /** The lowest that no transaction has. */
  readonly nextSequence: number
}

export const emptyTip: Tip = { height: 0, hash: noBlock, timeUs: 0, nextSequence: 1 }

/** Who writes a chain. */
export interface ChainKeys {
  /** The id of the key that signs blocks: it names the chain, too. */
  readonly chain: string
  readonly blocks: KeyObject
  readonly account: Account
}

export interface Block {
  readonly said: BlockHeader
  readonly header: string
  readonly hash: string
  /** Over the header: base64. */
  readonly signature: string
  readonly transactions: readonly SandboxTransaction[]
}

/** A block of a chain that is not what was written. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'
  readonly height: number

  constructor(height: number, reason: string) {
    super(`block ${height} of the sandbox ledger is broken: ${reason}`)
    this.height = height
  }
}

/** The block that comes next. Its time is later than that of the one before, whatever the clock says. */
export function nextBlock(
  tip: Tip,
  transactions: readonly SandboxTransaction[],
  nowUs: number,
  key: SigningKey,
): Block {
  const said: BlockHeader = {
    chain: key.id,
    height: tip.height + 1,
    previous: tip.hash,
    timeUs: Math.max(nowUs, tip.timeUs + 1),
    transactions: transactions.length,
    root: treeOf(transactions).root,
  }
  const header = headerOf(said)
  const signature = sign(null, Buffer.from(header), key.private).toString('base64')
  return { said, header, hash: sha256Of(header), signature, transactions }
}

export function tipAfter({ said, hash, transactions }: Block, before: Tip): Tip {
  const { height, timeUs } = said
  return { height, hash, timeUs, nextSequence: before.nextSequence + transactions.length }
}

/** The tree whose root is in the header. */
export function treeOf(transactions: readonly SandboxTransaction[]): MerkleTree {
  return MerkleTree.over(transactions.map(({ hash }) => hash))
}

/** A block as the file has it, without the end of the line. */
export function lineOf({ header, signature, transactions }: Block): string {
  return lineWith(header, signature, transactions)
}

function lineWith(header: string, signature: string, signed: readonly SignedText[]): string {
  const transactions = signed.map(({ text, annex, signature: own }) => {
    return { text, annex, signature: own }
  })
  return JSON.stringify({ header, signature, transactions })
}

/**
 * The block that a line is.
 *
 * @throws BrokenChain when it is not exactly one that comes after `tip`
 */
export function checkedBlock(line: string, tip: Tip, keys: ChainKeys): Block {
  const height = tip.height + 1
  const broken = (reason: string) => new BrokenChain(height, reason)
  const { header, signature, transactions: signed } = membersOf(line) ?? {}
  if (typeof header !== 'string' || typeof signature !== 'string' || !Array.isArray(signed)) {
    throw broken('its line is not that of a block')
  }
  if (!signed.every(isSignedText) || lineWith(header, signature, signed) !== line) {
    throw broken('its line is not as it was written')
  }
  const said = parseHeader(header)
  if (!said) throw broken('its header is not that of a block')
  const problem = problemOf(said, tip, keys)
  if (problem !== undefined) throw broken(problem)
  if (!isSignature(header, signature, keys.blocks)) throw broken('its signature is wrong')
  if (signed.length !== said.transactions) {
    throw broken(`it has ${signed.length} transactions, and says ${said.transactions}`)
  }
  const transactions = signed.map((one, at) => {
    const transaction = checkedTransaction(one, keys.account)
    if (typeof transaction === 'string') throw broken(`transaction ${at + 1}: ${transaction}`)
    const expected = tip.nextSequence + at
    if (transaction.said.sequence === expected) return transaction
    throw broken(
      `transaction ${at + 1} has the sequence ${transaction.said.sequence}, not ${expected}`,
    )
  })
  if (treeOf(transactions).root !== said.root) throw broken('its root is not of its transactions')
  return { said, header, hash: sha256Of(header), signature, transactions }
}

function problemOf(said: BlockHeader, tip: Tip, { chain }: ChainKeys): string | undefined {
  if (said.chain !== chain) return `it is of the chain ${said.chain}, and the key is ${chain}`
  if (said.height !== tip.height + 1) return `it says that it is block ${said.height}`
  if (said.previous !== tip.hash) return 'it does not follow the block before it'
  if (said.timeUs <= tip.timeUs) return 'it is not later than the block before it'
  return undefined
}
