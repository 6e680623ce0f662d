import { ECDH } from 'node:crypto'
import type { TransactionSerializable } from 'viem'
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
  const paid = { gas: `${gas}`, maxFee: `${maxFee}` }
  return JSON.stringify(tip === undefined ? paid : { ...paid, tip: `${tip}` })
}

/** @throws SyntaxError or TypeError when it is no text of `termsText` */
export function termsOf(text: string): EvmTerms {
  const { gas, maxFee, tip } = JSON.parse(text) as {
    readonly gas: string
    readonly maxFee: string
    readonly tip?: string
  }
  const paid = { gas: BigInt(gas), maxFee: BigInt(maxFee) }
  return tip === undefined ? paid : { ...paid, tip: BigInt(tip) }
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

/** Signs a transaction. Its text is its bytes: the hash is Keccak-256 of them. */
export async function signedTransaction(
  unsigned: Unsigned,
  signer: Signer,
): Promise<SignedTransaction> {
  const digest = keccak256(serializeTransaction(transactionOf(unsigned)))
  const { signature, recovery = 0 } = await signer.sign(Buffer.from(digest.slice(2), 'hex'))
  const hex = Buffer.from(signature).toString('hex')
  return signedWith(unsigned, `0x${hex.slice(0, 64)}`, `0x${hex.slice(64)}`, recovery)
}

/** One of EIP-1559, or of before it, where it says one price (EIP-155). */
function transactionOf({ chainId, sequence, to, data, terms }: Unsigned): TransactionSerializable {
  const { gas, maxFee, tip } = terms
  const said = { chainId, nonce: sequence - 1, ...(to !== undefined && { to }), data, gas }
  return tip === undefined
    ? { ...said, type: 'legacy', gasPrice: maxFee }
    : { ...said, type: 'eip1559', maxFeePerGas: maxFee, maxPriorityFeePerGas: tip }
}

function signedWith(unsigned: Unsigned, r: Hex, s: Hex, parity: number): SignedTransaction {
  const signature = { r, s, yParity: parity, v: BigInt(27 + parity) }
  const blob = serializeTransaction(transactionOf(unsigned), signature)
  const { sequence, terms } = unsigned
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
    const serialized = hexOf(blob)
    const { r = '0x', s = '0x', yParity = 0, v: _, ...said } = parseTransaction(serialized)
    const digest = keccak256(serializeTransaction(said))
    const from = await recoverAddress({ hash: digest, signature: { r, s, yParity } })
    const { chainId = 0, nonce = 0, to, data = '0x', gas = 0n } = said
    const hash = keccak256(serialized)
    const terms = { gas, ...bidIn(said) }
    return { hash, chainId, sequence: nonce + 1, to: to ?? '', data, terms, from }
  } catch {
    return undefined
  }
}

/** @throws RangeError for a kind of transaction that none of ours is */
function bidIn(said: TransactionSerializable): Bid {
  if (said.type === 'legacy') return { maxFee: said.gasPrice ?? 0n }
  if (said.type !== 'eip1559') throw new RangeError(`${said.type} is not one of ours`)
  return { maxFee: said.maxFeePerGas ?? 0n, tip: said.maxPriorityFeePerGas ?? 0n }
}

/**
 * The bytes of a transaction that a node tells of in members.
 *
 * @throws LedgerUnreachable where they are not those of its hash
 */
export function blobOfMembers(value: unknown): SignedTransaction {
  const said = membersOf(value)
  const isLegacy = numberOf(said['type'] ?? '0x0') === 0
  const bid = isLegacy
    ? { maxFee: bigOf(said['gasPrice']) }
    : { maxFee: bigOf(said['maxFeePerGas']), tip: bigOf(said['maxPriorityFeePerGas']) }
  // What is from before EIP-1559 has both in one figure (EIP-155): twice the chain, and 35 or 36.
  const parity = bigOf(isLegacy ? said['v'] : (said['yParity'] ?? said['v']))
  const unsigned: Unsigned = {
    chainId: isLegacy ? Number((parity - 35n) / 2n) : numberOf(said['chainId']),
    sequence: numberOf(said['nonce']) + 1,
    to: hexOf(said['to']),
    data: hexOf(said['input']),
    terms: { gas: bigOf(said['gas']), ...bid },
  }
  const [r, s] = [padded(said['r']), padded(said['s'])]
  const signed = signedWith(unsigned, r, s, Number(isLegacy ? (parity + 1n) % 2n : parity))
  if (signed.hash !== textOf(said['hash'])) {
    throw new LedgerUnreachable('the node reports a transaction that is not that of its hash')
  }
  return signed
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
