import { createHash } from 'node:crypto'
import { membersOf } from './transaction-text.ts'

/** What a transaction of the XRP Ledger with a memo of ours says. */
export interface XrplSaid {
  /** Undefined on networks that do not name themselves. */
  readonly networkId: number | undefined
  /** Hex. */
  readonly root: string
  /** Hex of what the id of the token that it makes has in it; undefined where it makes none. */
  readonly token: { readonly account: string; readonly issuance?: string } | undefined
}

/** In front of what the hash is of (https://xrpl.org/docs/references/protocol/data-types/basic-data-types#hash-prefixes): `TXN` and a zero. */
const hashPrefix = Buffer.from('54584E00', 'hex')

const typePrefix = 'streamvault/'

/** NFTokenMint and MPTokenIssuanceCreate, of which the second makes what is called after its sequence and account (https://github.com/XRPLF/rippled/blob/develop/include/xrpl/protocol/detail/transactions.macro). */
const mintType = 25
const issuanceType = 54

/** Types of fields by their codes, with the bytes of each (https://xrpl.org/docs/references/protocol/binary-format#type-list). */
const bytesOfType = new Map([
  [1, 2],
  [2, 4],
  [3, 8],
  [4, 16],
  [5, 32],
  [16, 1],
  [17, 20],
  [21, 24],
])
const amountType = 6
const variableTypes: readonly number[] = [7, 8]
const objectType = 14
const arrayType = 15

/** The first half of SHA-512, upper case as the network writes it. */
export function xrplHashOf(bytes: Uint8Array): string {
  const hash = createHash('sha512').update(hashPrefix).update(bytes).digest()
  return hash.subarray(0, 32).toString('hex').toUpperCase()
}

/**
 * Reads a signed transaction as far as proofs need it.
 *
 * @throws RangeError when it is none, or has no memo of ours
 */
export function readXrplMemo(bytes: Buffer): XrplSaid {
  const top = new Map<string, Buffer>()
  const memos: Memo[] = []
  let before = -1
  for (let at = 0; at < bytes.length; ) {
    const field = fieldAt(bytes, at)
    const order = field.type * 256 + field.code
    if (order <= before) throw new RangeError('its fields are not in order')
    before = order
    at = field.end
    if (field.type === arrayType && field.code === 9) at = readMemos(bytes, field.end, memos)
    else if (isNested(field)) throw new RangeError('it has what no transaction of ours has')
    top.set(`${field.type}.${field.code}`, field.value)
  }
  const [type, network, sequence, account] = ['1.2', '2.1', '2.4', '8.1'].map((name) => {
    return top.get(name)?.toString('hex')
  })
  if (!type || !account) throw new RangeError('it says neither its type nor whose it is')
  return {
    networkId: network === undefined ? undefined : Number(`0x${network}`),
    root: rootIn(memos),
    token: tokenOf(Number(`0x${type}`), account, sequence),
  }
}

function tokenOf(type: number, account: string, sequence = ''): XrplSaid['token'] {
  if (type === issuanceType) return { account, issuance: `${sequence}${account}` }
  return type === mintType ? { account } : undefined
}

interface Memo {
  readonly type: string
  readonly data: string
}

/** @throws RangeError when there is not one of ours, and one alone */
function rootIn(memos: readonly Memo[]): string {
  const [memo, ...others] = memos.filter(({ type }) => type.startsWith(typePrefix))
  const root = memo && membersOf(memo.data)?.['root']
  if (typeof root !== 'string' || others.length > 0) throw new RangeError('it has no memo of ours')
  return root
}

/** @returns where the list ends */
function readMemos(bytes: Buffer, start: number, memos: Memo[]): number {
  for (let at = start; ; ) {
    const field = fieldAt(bytes, at)
    at = field.end
    if (field.type === arrayType && field.code === 1) return at
    if (field.type !== objectType || field.code !== 10) throw new RangeError('that is not a memo')
    const texts = new Map<number, string>()
    for (;;) {
      const member = fieldAt(bytes, at)
      at = member.end
      if (member.type === objectType && member.code === 1) break
      if (isNested(member)) throw new RangeError('that is not a memo')
      texts.set(member.code, member.value.toString())
    }
    memos.push({ type: texts.get(12) ?? '', data: texts.get(13) ?? '' })
  }
}

interface Field {
  readonly type: number
  readonly code: number
  /** Empty where it is made of others. */
  readonly value: Buffer
  /** Where the next one begins, or the first one of which it is made. */
  readonly end: number
}

function isNested({ type }: Field): boolean {
  return type === objectType || type === arrayType
}

/** A field behind its name (https://xrpl.org/docs/references/protocol/binary-format#field-ids). @throws RangeError when there is none */
function fieldAt(bytes: Buffer, start: number): Field {
  const first = bytes.readUInt8(start)
  let at = start + 1
  const type = first >> 4 || bytes.readUInt8(at++)
  const code = first & 15 || bytes.readUInt8(at++)
  const [length, from] = lengthAt(bytes, at, type)
  const end = from + length
  if (end > bytes.length) throw new RangeError('a field has no end')
  return { type, code, value: bytes.subarray(from, end), end }
}

/** How many bytes a value has, and where it begins. */
function lengthAt(bytes: Buffer, at: number, type: number): readonly [number, number] {
  if (type === objectType || type === arrayType) return [0, at]
  if (type === amountType) return [amountBytes(bytes.readUInt8(at)), at]
  if (variableTypes.includes(type)) return variableLengthAt(bytes, at)
  const length = bytesOfType.get(type)
  if (length === undefined) throw new RangeError('it has what no transaction of ours has')
  return [length, at]
}

/** Drops, tokens of others, or tokens of several purposes (https://xrpl.org/docs/references/protocol/binary-format#amount-fields). */
function amountBytes(first: number): number {
  if ((first & 0x80) !== 0) return 48
  return (first & 0x20) === 0 ? 8 : 33
}

/** https://xrpl.org/docs/references/protocol/binary-format#length-prefixing */
function variableLengthAt(bytes: Buffer, at: number): readonly [number, number] {
  const first = bytes.readUInt8(at)
  if (first <= 192) return [first, at + 1]
  if (first <= 240) return [193 + (first - 193) * 256 + bytes.readUInt8(at + 1), at + 2]
  const low = bytes.readUInt16BE(at + 1)
  return [12_481 + (first - 241) * 65_536 + low, at + 3]
}
