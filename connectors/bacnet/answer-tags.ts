/** How long the content of each application tag may be (ANSI/ASHRAE 135, clause 20.2), as the library reads it. */
const contentBytes: readonly (readonly [least: number, most: number])[] = [
  [0, 0], // Null
  [0, 0], // Boolean: the value is in the tag
  [1, 6], // Unsigned
  [1, 6], // Signed
  [4, 4], // Real
  [8, 8], // Double
  [0, 1_024], // Octet string
  [1, 4_096], // Character string
  [1, 64], // Bit string
  [1, 6], // Enumerated
  [4, 4], // Date
  [4, 4], // Time
  [4, 4], // Object identifier
]

const opening = 6
const closing = 7

interface Tag {
  readonly number: number
  readonly isContext: boolean
  /** Length of the content, or `opening`, or `closing`. */
  readonly length: number
  readonly kind: 'content' | 'opening' | 'closing'
  /** Length of the tag itself. */
  readonly bytes: number
}

/**
 * Whether the tags of an answer are what they say. The library believes them: it makes room for as many bytes as a tag
 * promises, and takes a number of the wrong length for 0.
 *
 * @param valueTag the one that values are in: 3 for ReadProperty, 4 for ReadPropertyMultiple
 */
export function isWellFormed(bytes: Buffer, valueTag: number): boolean {
  const opened: number[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = tagAt(bytes, at)
    if (tag === undefined) return false
    const inside = opened.at(-1)
    const isInValue = inside === valueTag || inside === 5
    if (tag.kind === 'closing') {
      if (opened.pop() !== tag.number) return false
    } else if (tag.isContext === isInValue) return false
    else if (tag.kind === 'opening') opened.push(tag.number)
    at += tag.bytes + tag.length
  }
  return at === bytes.length && opened.length === 0
}

function tagAt(bytes: Buffer, at: number): Tag | undefined {
  const first = bytes.readUInt8(at)
  const number = first >> 4
  const isContext = (first & 0b1000) !== 0
  const low = first & 0b111
  if (isContext && (low === opening || low === closing)) {
    const kind = low === opening ? 'opening' : 'closing'
    return { number, isContext, length: 0, kind, bytes: 1 }
  }
  if (isContext) {
    // An identifier of an object has four bytes, that of a property and an index have up to four.
    const isRight = number === 0 ? low === 4 : number <= 3 && low >= 1 && low <= 4
    return isRight ? { number, isContext, length: low, kind: 'content', bytes: 1 } : undefined
  }
  const [least, most] = contentBytes[number] ?? [1, 0]
  // The length of a boolean is its value.
  if (number === 1) {
    return low <= 1 ? { number, isContext, length: 0, kind: 'content', bytes: 1 } : undefined
  }
  const { length, size } = low === 5 ? longLength(bytes, at + 1) : { length: low, size: 0 }
  const isRight = low <= 5 && length >= least && length <= most
  return isRight ? { number, isContext, length, kind: 'content', bytes: 1 + size } : undefined
}

/**
 * Reads a length of five bytes and more (clause 20.2.1.3.1). One of more than 65,535 is of no value
 * that is read.
 */
function longLength(bytes: Buffer, at: number) {
  const length = bytes[at] ?? 255
  if (length < 254) return { length, size: 1 }
  const isInside = length === 254 && at + 3 <= bytes.length
  return { length: isInside ? bytes.readUInt16BE(at + 1) : Number.POSITIVE_INFINITY, size: 3 }
}
