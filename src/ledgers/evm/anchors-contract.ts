import {
  decodeErrorResult,
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  toEventSelector,
} from 'viem/utils'
import type { Deed, DeedKind, IssuedAsset } from '../ledger.ts'
import { parseCid, rawCidBySha256 } from '../proofs/content-id.ts'
import { bigOf, type Hex, listOf, membersOf } from './quantities.ts'

/** What is used of `contract/StreamvaultAnchors.sol`. */
const anchorsAbi = parseAbi([
  'function anchor(bytes32 root, bytes16 intent)',
  'function mint(uint128 vault, bytes32 digest, bytes32 root, bytes16 intent)',
  'function issue(uint128 stream, string code, uint8 precision, uint256 supply, bytes32 root, bytes16 intent)',
  'function tokenHash() view returns (bytes32)',
  'function owner() view returns (address)',
  'function firstBlock() view returns (uint256)',
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function tokenURI(uint256 token) view returns (string)',
])

/** Errors that the contract reverts with, and those of the language. */
const revertsAbi = parseAbi([
  'error AlreadyMinted(uint128 vault)',
  'error AlreadyIssued(uint128 stream)',
  'error OwnableUnauthorizedAccount(address account)',
  'error Error(string reason)',
  'error Panic(uint256 code)',
])

/** What an asset takes on networks where it does not come to be at once. */
const otherKinds: readonly DeedKind[] = ['issuance', 'authorization', 'payment']

/** Characters of bytes that nobody understands: a selector and two words. */
const shownChars = 2 + 8 + 128

/** Characters of a reason: whoever is told why something FAILED reads all of it. */
const reasonCharsMax = 300

/** The first topic of each log with an intent. */
export const anchoredTopic = toEventSelector('event Anchored(bytes16 indexed intent, bytes32 root)')

/** The first topic of the event of ERC-721 with which a token comes to be, and goes from one to the next. */
const transferTopic = toEventSelector(
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
)

/** What is said to the contract for a deed. */
export interface Said {
  readonly kind: 'nft' | 'token' | 'root'
  /** Hex, as deeds have it. */
  readonly root: string
  readonly intentId: string
  /** Where it is a token. */
  readonly token?: { readonly id: bigint; readonly uri: string }
  /** Where it is an asset. */
  readonly asset?: IssuedAsset
}

/** The call of the contract that a deed is, or why there is none: a sentence. */
export async function callOf(deed: Deed): Promise<Hex | { readonly problem: string }> {
  const root: Hex = `0x${deed.root}`
  const intent = uuidHex(deed.intentId)
  if (deed.kind === 'nft') return await mintOf(deed, root, intent)
  if (deed.kind === 'token') return issueOf(deed, root, intent)
  if (otherKinds.includes(deed.kind)) return { problem: `an asset takes no ${deed.kind} here` }
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'anchor', args: [root, intent] })
}

async function mintOf(
  deed: Deed,
  root: Hex,
  intent: Hex,
): Promise<Hex | { readonly problem: string }> {
  const { resourceId = deed.intentId, uri = '' } = deed
  const cid = await parseCid(uri.replace(/^ipfs:\/\//, ''))
  if ('problem' in cid || cid.codec !== 'raw') {
    return { problem: 'the URI of a token must be ipfs:// with the CID of one raw block' }
  }
  const args = [numberOfUuid(resourceId), `0x${cid.sha256}`, root, intent] as const
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'mint', args })
}

function issueOf({ asset }: Deed, root: Hex, intent: Hex): Hex | { readonly problem: string } {
  if (!asset) return { problem: 'nothing is said of the asset' }
  const { streamId, code, precision, amount } = asset
  const args = [numberOfUuid(streamId), code, precision, BigInt(amount), root, intent] as const
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'issue', args })
}

/** What a call of the contract says; undefined where it is another one. */
export async function saidBy(data: Hex): Promise<Said | undefined> {
  let call: ReturnType<typeof decodeFunctionData<typeof anchorsAbi>>
  try {
    call = decodeFunctionData({ abi: anchorsAbi, data })
  } catch {
    return undefined
  }
  if (call.functionName === 'anchor') {
    const [root, intent] = call.args
    return { kind: 'root', root: root.slice(2), intentId: uuidOf(intent) }
  }
  if (call.functionName === 'issue') {
    const [stream, code, precision, supply, root, intent] = call.args
    const asset = { streamId: uuidOfNumber(stream), code, amount: `${supply}`, precision }
    return { kind: 'token', root: root.slice(2), intentId: uuidOf(intent), asset }
  }
  if (call.functionName !== 'mint') return undefined
  const [id, digest, root, intent] = call.args
  const uri = `ipfs://${await rawCidBySha256(digest.slice(2))}`
  return { kind: 'nft', root: root.slice(2), intentId: uuidOf(intent), token: { id, uri } }
}

export function ownerCall(): Hex {
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'owner' })
}

export function firstBlockCall(): Hex {
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'firstBlock' })
}

/** Asks for what the addresses of assets depend on; a contract from before there were any reverts. */
export function tokenHashCall(): Hex {
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'tokenHash' })
}

export function ownerOfCall(token: bigint): Hex {
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'ownerOf', args: [token] })
}

export function tokenUriCall(token: bigint): Hex {
  return encodeFunctionData({ abi: anchorsAbi, functionName: 'tokenURI', args: [token] })
}

/** What a call of the contract answers; undefined where that is none of it. */
export function answered(
  functionName: 'owner' | 'ownerOf' | 'tokenURI' | 'firstBlock' | 'tokenHash',
  data: Hex,
): string | bigint | undefined {
  try {
    return decodeFunctionResult({ abi: anchorsAbi, functionName, data })
  } catch {
    return undefined
  }
}

/** Why the contract reverts, by what it reverts with: a sentence. */
export function reasonOf(data: Hex): string {
  const refuses = 'the contract refuses it'
  if (data === '0x') return `${refuses} without a reason`
  try {
    const { errorName, args } = decodeErrorResult({ abi: revertsAbi, data })
    if (errorName === 'AlreadyMinted') return `${refuses}: it has a token ${args[0]} already`
    if (errorName === 'AlreadyIssued') {
      return `${refuses}: it has an asset of the stream ${uuidOfNumber(args[0])} already`
    }
    return `${refuses}: ${errorName} ${args.join(' ')}`.trimEnd().slice(0, reasonCharsMax)
  } catch {
    return `${refuses}: ${data.slice(0, shownChars)}`
  }
}

/** The token that came to be by a transaction, as logs of a receipt say it; decimal. */
export function mintedBy(logs: readonly unknown[], contract: string): string | undefined {
  for (const log of logs) {
    const { address, topics } = membersOf(log)
    if (String(address).toLowerCase() !== contract.toLowerCase()) continue
    const [event, from, , token] = listOf(topics)
    if (event === transferTopic && /^0x0+$/.test(String(from))) return `${bigOf(token)}`
  }
  return undefined
}

/** Contracts that have made a first token of theirs in a transaction, as logs of a receipt say it; in small letters. */
export function issuersIn(logs: readonly unknown[]): readonly string[] {
  return logs.flatMap((log) => {
    const { address, topics } = membersOf(log)
    const [event, from] = listOf(topics)
    const isFirst = event === transferTopic && /^0x0+$/.test(String(from))
    return isFirst ? [String(address).toLowerCase()] : []
  })
}

/** An intent as a topic of a log: on the left, as bytes are. */
export function intentTopic(intentId: string): Hex {
  return `0x${uuidHex(intentId).slice(2).padEnd(64, '0')}`
}

export function intentOfTopic(topic: string): string {
  return uuidOf(topic.slice(0, 34))
}

/** A uuid as a number of 128 bits. @throws RangeError when it is none */
export function numberOfUuid(id: string): bigint {
  return BigInt(uuidHex(id))
}

function uuidOfNumber(number: bigint): string {
  return uuidOf(`0x${number.toString(16).padStart(32, '0')}`)
}

/** @throws RangeError when it is no uuid */
function uuidHex(id: string): Hex {
  const hex = id.replaceAll('-', '')
  if (!/^[0-9a-f]{32}$/.test(hex)) throw new RangeError(`${id} is not a uuid`)
  return `0x${hex}`
}

function uuidOf(hex: string): string {
  return hex.slice(2).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
