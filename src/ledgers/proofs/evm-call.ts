import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'

/** What a transaction says that calls the contract of anchors. */
export interface EvmCall {
  readonly chainId: number
  /** Hex. */
  readonly root: string
  /** Decimal; undefined where it makes no token of a vault. */
  readonly tokenId: string | undefined
}

/** What of the contract commits to a root, and at which of its arguments: `src/ledgers/evm/contract/StreamvaultAnchors.sol`. */
const functions = [
  { signature: 'anchor(bytes32,bytes16)', rootAt: 0 },
  { signature: 'mint(uint128,bytes32,bytes32,bytes16)', rootAt: 2 },
].map(({ signature, rootAt }) => ({
  selector: keccakOf(Buffer.from(signature)).slice(0, 8),
  words: signature.split(',').length,
  rootAt,
  isMint: signature.startsWith('mint'),
}))

/** The type of transactions with a tip of their own (https://eips.ethereum.org/EIPS/eip-1559). */
const type1559 = 2

/** Its members: chain, nonce, tip, fee, gas, receiver, value, data, accesses, and three of the signature. */
const members1559 = 12

/** Keccak-256, hex. */
export function keccakOf(bytes: Uint8Array): string {
  return Buffer.from(keccak256(bytes)).toString('hex')
}

/**
 * Reads a signed transaction of EIP-1559 as far as proofs need it.
 *
 * @throws RangeError when it is none, or calls nothing that commits to a root
 */
export function readEvmCall(bytes: Buffer): EvmCall {
  if (bytes[0] !== type1559) throw new RangeError('no transaction of EIP-1559')
  const { payload, isList, end } = itemAt(bytes, 1)
  if (!isList || end !== bytes.length) throw new RangeError('no list of its members')
  const members = itemsOf(payload)
  const [chain, , , , , , , data] = members
  if (!chain || !data || chain.isList || data.isList || members.length !== members1559) {
    throw new RangeError('not the members of a transaction')
  }
  return { chainId: numberOf(chain.payload), ...argumentsOf(data.payload.toString('hex')) }
}

/** @param data hex */
function argumentsOf(data: string): Omit<EvmCall, 'chainId'> {
  const called = functions.find(({ selector }) => data.startsWith(selector))
  if (!called || data.length !== 8 + called.words * 64) {
    throw new RangeError('no call that commits to a root')
  }
  const wordAt = (at: number) => data.slice(8 + at * 64, 8 + (at + 1) * 64)
  const tokenId = called.isMint ? `${BigInt(`0x${wordAt(0)}`)}` : undefined
  return { root: wordAt(called.rootAt), tokenId }
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
