import { createHash } from 'node:crypto'
import type { Deed, IssuedAsset } from '../ledger.ts'

/** Characters of what a transaction says. */
export const textCharsMax = 4_096

/** CIDs that a transaction commits to. */
export const leavesMax = 4_096

export const sandboxNetwork = 'sandbox'

/** What a transaction of the sandbox says. Its SHA-256 is the hash that the transaction is known by. */
export interface TransactionText {
  readonly network: typeof sandboxNetwork
  /** Which chain it is for, so that no other one takes it. */
  readonly chain: string
  /** The key that it is signed with. */
  readonly account: string
  readonly sequence: number
  readonly intent: string
  readonly kind: Deed['kind']
  /** Hex, of the tree over the CIDs. */
  readonly root: string
  /** How many CIDs. */
  readonly leaves: number
  /** SHA-256 of the list of all CIDs with their intents, which is beside the text and not in proofs. */
  readonly annex: string
  readonly uri?: string
  /** What is issued, where something is. */
  readonly asset?: AssetText
}

type AssetText = Omit<IssuedAsset, 'tokenId'>

/** One line of JSON, with its members in this order. */
export function textOf(said: TransactionText): string {
  const { network, chain, account, sequence, intent, kind, root, leaves, annex } = said
  const { uri, asset } = said
  return JSON.stringify({
    network,
    chain,
    account,
    sequence,
    intent,
    kind,
    root,
    leaves,
    annex,
    ...(uri !== undefined && { uri }),
    ...(asset && { asset: assetTextOf(asset) }),
  })
}

function assetTextOf({ streamId, code, amount, precision }: AssetText): AssetText {
  return { streamId, code, amount, precision }
}

/** Undefined where it is not what `textOf` would have written. */
export function parseText(text: string): TransactionText | undefined {
  if (text.length > textCharsMax) return undefined
  const said = membersOf(text)
  if (!said || !isTransaction(said)) return undefined
  return textOf(said) === text ? said : undefined
}

/** What the sandbox takes; an asset is one of them there. */
export const sandboxKinds: readonly unknown[] = [
  'nft',
  'record',
  'root',
  'token',
] satisfies readonly Deed['kind'][]

function isTransaction(said: Readonly<Record<string, unknown>>): said is Members<TransactionText> {
  const { uri = '' } = said
  return (
    said['network'] === sandboxNetwork &&
    isText(said['chain']) &&
    isText(said['account']) &&
    isCount(said['sequence']) &&
    isText(said['intent']) &&
    sandboxKinds.includes(said['kind']) &&
    isHash(said['root']) &&
    isCount(said['leaves']) &&
    said['leaves'] <= leavesMax &&
    isHash(said['annex']) &&
    typeof uri === 'string' &&
    (said['kind'] === 'token' ? isAsset(said['asset']) : said['asset'] === undefined)
  )
}

function isAsset(value: unknown): value is AssetText {
  if (!isObject(value)) return false
  const { streamId, code, amount, precision } = value
  return (
    isText(streamId) &&
    isText(code) &&
    typeof amount === 'string' &&
    /^[1-9][0-9]{0,18}$/.test(amount) &&
    Number.isSafeInteger(precision) &&
    (precision as number) >= 0
  )
}

type Members<Value> = Value & Readonly<Record<string, unknown>>

/** The members of an object of JSON; undefined where a text is none. */
export function membersOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** SHA-256 in hex, in the one way that it is written. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** A whole number from 1 on. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** SHA-256 of a text as UTF-8, in hex. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** Whether something comes to be by a transaction that the sandbox has a name for: a token, or an asset. */
export function isMaking({ kind }: TransactionText): boolean {
  return kind === 'nft' || kind === 'token'
}

/** What the sandbox calls a token, or an asset: it follows from the transaction that makes it. */
export function tokenIdOf({ chain, account, intent }: TransactionText): string {
  return sha256Of(JSON.stringify(['token', chain, account, intent]))
}
