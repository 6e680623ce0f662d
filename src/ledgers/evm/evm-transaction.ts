import { ECDH } from 'node:crypto'
import type { TransactionSerializableEIP1559, TransactionSerializedEIP1559 } from 'viem'
import {
  getAddress,
  keccak256,
  parseTransaction,
  recoverAddress,
  serializeTransaction,
} from 'viem/utils'
import { LedgerUnreachable, type SignedTransaction } from '../ledger.ts'
import type { Signer } from '../signer.ts'
import type { Bid } from './fees.ts'
import { bigOf, type Hex, hexOf, membersOf, numberOf, textOf } from './quantities.ts'

/** Terms that one of these transactions is signed under. */
export interface EvmTerms extends Bid {
  /** Gas at most. */
  readonly gas: bigint
}

export function termsText({ gas, maxFee, tip }: EvmTerms): string {
  return JSON.stringify({ gas: `${gas}`, maxFee: `${maxFee}`, tip: `${tip}` })
}

/** @throws SyntaxError or TypeError when it is no text of `termsText` */
export function termsOf(text: string): EvmTerms {
  const { gas, maxFee, tip } = JSON.parse(text) as Readonly<Record<keyof EvmTerms, string>>
  return { gas: BigInt(gas), maxFee: BigInt(maxFee), tip: BigInt(tip) }
}

/** What is signed, but for who signs it. */
export interface Unsigned {
  readonly chainId: number
  /** Counted from 1; the nonce is one less. */
  readonly sequence: number
  /** Undefined for a contract that is to be made. */
  readonly to: Hex | undefined
  readonly data: Hex
  readonly terms: EvmTerms
}

/** Signs a transaction of EIP-1559. Its text is its bytes: the hash is Keccak-256 of them. */
export async function signedTransaction(
  { chainId, sequence, to, data, terms }: Unsigned,
  signer: Signer,
): Promise<SignedTransaction> {
  const transaction: TransactionSerializableEIP1559 = {
    type: 'eip1559',
    chainId,
    nonce: sequence - 1,
    ...(to !== undefined && { to }),
    data,
    gas: terms.gas,
    maxFeePerGas: terms.maxFee,
    maxPriorityFeePerGas: terms.tip,
  }
  const digest = keccak256(serializeTransaction(transaction))
  const { signature, recovery = 0 } = await signer.sign(Buffer.from(digest.slice(2), 'hex'))
  const hex = Buffer.from(signature).toString('hex')
  const blob = serializeTransaction(transaction, {
    r: `0x${hex.slice(0, 64)}`,
    s: `0x${hex.slice(64)}`,
    yParity: recovery,
  })
  return { hash: keccak256(blob), sequence, blob, text: blob, terms: termsText(terms) }
}

/** A signed transaction as it is read again. */
export interface ReadTransaction extends Omit<Unsigned, 'to'> {
  readonly hash: string
  readonly to: string
  readonly from: string
}

/** The transaction that a blob is; undefined where it is none. */
export async function readTransaction(blob: string): Promise<ReadTransaction | undefined> {
  try {
    const serialized = hexOf(blob) as TransactionSerializedEIP1559
    const { r = '0x', s = '0x', yParity = 0, v: _, ...said } = parseTransaction(serialized)
    const digest = keccak256(serializeTransaction(said))
    const from = await recoverAddress({ hash: digest, signature: { r, s, yParity } })
    const { chainId, nonce = 0, to, data = '0x', gas = 0n } = said
    const { maxFeePerGas: maxFee = 0n, maxPriorityFeePerGas: tip = 0n } = said
    const hash = keccak256(serialized)
    const terms = { gas, maxFee, tip }
    return { hash, chainId, sequence: nonce + 1, to: to ?? '', data, terms, from }
  } catch {
    return undefined
  }
}

/**
 * The bytes of a transaction of EIP-1559 that a node tells of in members.
 *
 * @throws LedgerUnreachable where they are not those of its hash
 */
export function blobOfMembers(value: unknown): SignedTransaction {
  const said = membersOf(value)
  const terms: EvmTerms = {
    gas: bigOf(said['gas']),
    maxFee: bigOf(said['maxFeePerGas']),
    tip: bigOf(said['maxPriorityFeePerGas']),
  }
  const nonce = numberOf(said['nonce'])
  const blob = serializeTransaction(
    {
      type: 'eip1559',
      chainId: numberOf(said['chainId']),
      nonce,
      to: hexOf(said['to']),
      data: hexOf(said['input']),
      gas: terms.gas,
      maxFeePerGas: terms.maxFee,
      maxPriorityFeePerGas: terms.tip,
    },
    {
      r: padded(said['r']),
      s: padded(said['s']),
      yParity: numberOf(said['yParity'] ?? said['v']),
    },
  )
  const hash = keccak256(blob)
  if (hash !== textOf(said['hash'])) {
    throw new LedgerUnreachable('the node tells of a transaction that is not that of its hash')
  }
  return { hash, sequence: nonce + 1, blob, text: blob, terms: termsText(terms) }
}

/** Nodes leave out zeros in front. */
function padded(value: unknown): Hex {
  return `0x${bigOf(value).toString(16).padStart(64, '0')}`
}

/** The account of a key: the end of Keccak-256 of its uncompressed point. */
export function addressOf({ publicKey }: Pick<Signer, 'publicKey'>): string {
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed')
  const hash = keccak256((point as Buffer).subarray(1))
  return getAddress(`0x${hash.slice(-40)}`)
}
