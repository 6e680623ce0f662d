import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'

/** What a transaction says that calls the contract of anchors. */
export interface EvmCall {
  readonly chainId: number
  /** Hex. */
  readonly root: string
  /** Whether it may make what a proof calls by this id: the token of a vault, or of an asset. */
  readonly mayMake: (tokenId: string) => boolean
}

/** What a function makes, by the first of its arguments. */
type Makes = (firstWord: string) => EvmCall['mayMake']

const nothing: Makes = () => () => false

/** The token of a vault has its uuid as a number. */
const token: Makes = (word) => {
  const made = `${BigInt(`0x${word}`)}`
  return (tokenId) => tokenId === made
}

/** An address follows from the code of the contract, which is not in the transaction. */
const asset: Makes = () => (tokenId) => /^0x[0-9a-fA-F]{40}$/.test(tokenId)

/** What of the contract commits to a root, and at which of its arguments: `src/ledgers/evm/contract/StreamvaultAnchors.sol`. */
const functions = [
  { signature: 'anchor(bytes32,bytes16)', rootAt: 0, makes: nothing },
  { signature: 'mint(uint128,bytes32,bytes32,bytes16)', rootAt: 2, makes: token },
  { signature: 'issue(uint128,string,uint8,uint256,bytes32,bytes16)', rootAt: 4, makes: asset },
].map(({ signature, ...rest }) => ({
  selector: keccakOf(Buffer.from(signature)).slice(0, 8),
  words: signature.split(',').length,
  isLonger: signature.includes('string'),
  ...rest,
}))

/** The type of transactions with a tip of their own (https://eips.ethereum.org/EIPS/eip-1559). */
const type1559 = 2

/** Its members: chain, nonce, tip, fee, gas, receiver, value, data, accesses, and three of the signature. */
const members1559 = 12

/** Those of one with a price alone: nonce, price, gas, receiver, value, data, and three of the signature. */
const membersLegacy = 9

/** In a signature that is for one chain: twice its id, this, and one bit (https://eips.ethereum.org/EIPS/eip-155). */
const chainOffset = 35

/** Keccak-256, hex. */
export function keccakOf(bytes: Uint8Array): string {
  return Buffer.from(keccak256(bytes)).toString('hex')
}

/**
 * Reads a signed transaction as far as proofs need it: one of EIP-1559, or one with a price alone that is for one chain.
 *
 * @throws RangeError when it is none, or calls nothing that commits to a root
 */
export function readEvmCall(bytes: Buffer): EvmCall {
  const isLegacy = bytes[0] !== type1559
  const { payload, isList, end } = itemAt(bytes, isLegacy ? 0 : 1)
  if (!isList || end !== bytes.length) throw new RangeError('no list of its members')
  const members = itemsOf(payload)
  const [chain, data] = isLegacy ? [members[6], members[5]] : [members[0], members[7]]
  const isWhole = members.length === (isLegacy ? membersLegacy : members1559)
  if (!chain || !data || chain.isList || data.isList || !isWhole) {
    throw new RangeError('not the members of a transaction')
  }
  const named = numberOf(chain.payload)
  const chainId = isLegacy ? Math.floor((named - chainOffset) / 2) : named
  return { chainId, ...argumentsOf(data.payload.toString('hex')) }
}

/** @param data hex */
function argumentsOf(data: string): Omit<EvmCall, 'chainId'> {
  const called = functions.find(({ selector }) => data.startsWith(selector))
  const words = (data.length - 8) / 64
  if (!called || (called.isLonger ? words < called.words : words !== called.words)) {
    throw new RangeError('no call that commits to a root')
  }
  const wordAt = (at: number) => data.slice(8 + at * 64, 8 + (at + 1) * 64)
  return { root: wordAt(called.rootAt), mayMake: called.makes(wordAt(0)) }
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

/** @throws RangeError when it is larger than a number can be exact */
function numberOf(bytes: Buffer): number {
  const number = bytes.length === 0 ? 0 : Number(`0x${bytes.toString('hex')}`)
  if (!Number.isSafeInteger(number)) throw new RangeError('a number is too large')
  return number
}
