import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'

/** What a transaction says that calls the contract of anchors. */
export interface EvmCall {
  readonly chainId: number
  /** Hex. */
  readonly root: string
  /** The number of the token of a vault, decimal; undefined where none is made. */
  readonly tokenId: string | undefined
  /** Whether an asset comes to be: where it is, the call does not say. */
  readonly isIssue: boolean
}

/** What of the contract commits to a root, and at which of its arguments: `src/ledgers/evm/contract/StreamvaultAnchors.sol`. */
const functions = [
  { signature: 'anchor(bytes32,bytes16)', rootAt: 0 },
  { signature: 'mint(uint128,bytes32,bytes32,bytes16)', rootAt: 2 },
  { signature: 'issue(uint128,string,uint8,uint256,bytes32,bytes16)', rootAt: 4 },
].map(({ signature, rootAt }) => ({
  selector: keccakOf(Buffer.from(signature)).slice(0, 8),
  words: signature.split(',').length,
  rootAt,
  isMint: signature.startsWith('mint'),
  // Texts follow behind.
  isIssue: signature.startsWith('issue'),
}))

/** The type of transactions with a tip of their own (https://eips.ethereum.org/EIPS/eip-1559). */
const type1559 = 2

/** Its members: chain, nonce, tip, fee, gas, receiver, value, data, accesses, and three of the signature. */
const shape1559 = { members: 12, dataAt: 7 }

/** Members of one without: nonce, price, gas, receiver, value, data, and three of the signature, of which the first says the chain. */
const shapeLegacy = { members: 9, dataAt: 5, signatureAt: 6 }

/** What the first member of a signature is of the first chain, twice the number apart (https://eips.ethereum.org/EIPS/eip-155). */
const chainStart = 35

/** Keccak-256, hex. */
export function keccakOf(bytes: Uint8Array): string {
  return Buffer.from(keccak256(bytes)).toString('hex')
}

/**
 * Reads a signed transaction, of EIP-1559 or from before that, as far as proofs need it.
 *
 * @throws RangeError when it is none, or calls nothing that commits to a root
 */
export function readEvmCall(bytes: Buffer): EvmCall {
  const isTyped = bytes[0] === type1559
  const { payload, isList, end } = itemAt(bytes, isTyped ? 1 : 0)
  if (!isList || end !== bytes.length) throw new RangeError('no list of its members')
  const members = itemsOf(payload)
  const shape = isTyped ? shape1559 : shapeLegacy
  const data = members[shape.dataAt]
  if (!data || data.isList || members.length !== shape.members) {
    throw new RangeError('not the members of a transaction')
  }
  const chainId = isTyped
    ? numberIn(members[0])
    : chainOf(numberIn(members[shapeLegacy.signatureAt]))
  return { chainId, ...argumentsOf(data.payload.toString('hex')) }
}

/** @throws RangeError when it says no chain: then it is one for all of them */
function chainOf(first: number): number {
  if (first < chainStart) throw new RangeError('it is for no chain')
  return Math.floor((first - chainStart) / 2)
}

/** @param data hex */
function argumentsOf(data: string): Omit<EvmCall, 'chainId'> {
  const called = functions.find(({ selector }) => data.startsWith(selector))
  const length = 8 + (called?.words ?? 0) * 64
  if (!called || (called.isIssue ? data.length <= length : data.length !== length)) {
    throw new RangeError('no call that commits to a root')
  }
  const wordAt = (at: number) => data.slice(8 + at * 64, 8 + (at + 1) * 64)
  const { rootAt, isMint, isIssue } = called
  const tokenId = isMint ? `${BigInt(`0x${wordAt(0)}`)}` : undefined
  return { root: wordAt(rootAt), tokenId, isIssue }
}

/** An item of RLP (https://ethereum.org/developers/docs/data-structures-and-encoding/rlp/). */
interface Item {
  readonly isList: boolean
  readonly payload: Buffer
  /** Where the next one begins. */
  readonly end: number
}

function itemsOf(bytes: Buffer): readonly Item[] {
  const items: Item[] = []
  for (let at = 0; at < bytes.length; ) {
    const item = itemAt(bytes, at)
    items.push(item)
    at = item.end
  }
  return items
}

/** @throws RangeError when there is none, or it is longer than what there is */
function itemAt(bytes: Buffer, at: number): Item {
  const first = bytes.readUInt8(at)
  if (first < 0x80) return { isList: false, payload: bytes.subarray(at, at + 1), end: at + 1 }
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  const lengthBytes = Math.max(0, short - 55)
  const start = at + 1 + lengthBytes
  const length = lengthBytes === 0 ? short : numberOf(bytes.subarray(at + 1, start))
  const end = start + length
  if (end > bytes.length) throw new RangeError('an item has no end')
  return { isList, payload: bytes.subarray(start, end), end }
}

/** @throws RangeError when it is none */
function numberIn(item: Item | undefined): number {
  if (!item || item.isList) throw new RangeError('it is not a number')
  return numberOf(item.payload)
}

/** @throws RangeError when it is larger than a number can be exact */
function numberOf(bytes: Buffer): number {
  const number = bytes.length === 0 ? 0 : Number(`0x${bytes.toString('hex')}`)
  if (!Number.isSafeInteger(number)) throw new RangeError('a number is too large')
  return number
}
