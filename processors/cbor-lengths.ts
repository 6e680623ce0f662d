import { problem, truncated, UnreadableItem } from './decode-binary.ts'

/** Items within items that are followed: each is remembered until it ends. */
const depthMax = 100_000

/** Major types (RFC 8949, section 3.1). */
const majorType = { bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const

/** Additional information that says that the length is unknown; with major type 7 it is the end of such. */
const unknownLength = 31
const breakByte = 0xff

/** An item that holds others. */
interface Holder {
  /** Items that are still to come. Infinity: up to a break. */
  left: number
  readonly isMap: boolean
  /** Items that have come where their number is unknown. */
  count: number
}

/**
 * The byte after the item that begins there. It goes by lengths alone, so it passes over what no reading can have.
 *
 * @throws UnreadableItem for what is cut off or no CBOR, and for 100,000 levels
 */
export function endOfCborItem(bytes: Uint8Array, start: number): number {
  const holders: Holder[] = [{ left: 1, isMap: false, count: 0 }]
  let at = start
  let isTagged = false
  for (;;) {
    const holder = holders.at(-1) as Holder
    if (bytes[at] === breakByte) {
      const isEnd = holder.left === Number.POSITIVE_INFINITY && !isTagged
      if (!isEnd || (holder.isMap && holder.count % 2 === 1)) throw noItem(at)
      at++
      holders.pop()
    } else {
      const head = headAt(bytes, at)
      at = head.end
      isTagged = head.type === majorType.tag
      if (isTagged) continue
      holder.left--
      holder.count++
      if (head.isUnknown || head.type === majorType.array || head.type === majorType.map) {
        holders.push(holderOf(head))
        if (holders.length > depthMax) throw problem('nested too deep to be passed over')
      } else if (head.type === majorType.bytes || head.type === majorType.text) at += head.value
      if (at > bytes.length) throw truncated()
    }
    while (holders.at(-1)?.left === 0) holders.pop()
    if (holders.length === 0) return at
  }
}

interface Head {
  readonly type: number
  readonly value: number
  readonly isUnknown: boolean
  /** The byte after it. */
  readonly end: number
}

/** The first bytes of an item: what it is, and how long, or how many it holds. */
function headAt(bytes: Uint8Array, at: number): Head {
  const first = bytes[at]
  if (first === undefined) throw truncated()
  const type = first >> 5
  const info = first & 0x1f
  if (info < 24) return { type, value: info, isUnknown: false, end: at + 1 }
  if (info === unknownLength) {
    if (type < majorType.bytes || type > majorType.map) throw noItem(at)
    return { type, value: 0, isUnknown: true, end: at + 1 }
  }
  if (info > 27) throw noItem(at)
  const length = 1 << (info - 24)
  const end = at + 1 + length
  if (end > bytes.length) throw truncated()
  const value = bytes.subarray(at + 1, end).reduce((sum, byte) => sum * 256 + byte, 0)
  return { type, value, isUnknown: false, end }
}

function holderOf({ type, value, isUnknown }: Head): Holder {
  const isMap = type === majorType.map
  const items = isMap ? value * 2 : value
  return { left: isUnknown ? Number.POSITIVE_INFINITY : items, isMap, count: 0 }
}

function noItem(position: number): UnreadableItem {
  return problem('not valid CBOR', { position })
}
