import { problem, truncated } from './decode-binary.ts'

/**
 * How an item of MessagePack goes on after its first byte: bytes of a number that says how long the rest is, bytes
 * beside that, and how many items it holds for each one that the number counts.
 */
interface Layout {
  readonly lengthBytes: number
  readonly moreBytes: number
  /** How many items it holds for each one that the number counts; 0: the number counts bytes. */
  readonly itemsEach: number
}

function layout(lengthBytes: number, moreBytes = 0, itemsEach = 0): Layout {
  return { lengthBytes, moreBytes, itemsEach }
}

/** From 0xc0 on; nothing where no item begins like this. */
const layouts: readonly (Layout | undefined)[] = [
  layout(0), // nil
  undefined,
  layout(0), // false
  layout(0), // true
  layout(1), // bin 8, 16 and 32
  layout(2),
  layout(4),
  layout(1, 1), // ext 8, 16 and 32: the type stands beside the length
  layout(2, 1),
  layout(4, 1),
  layout(0, 4), // float 32 and 64
  layout(0, 8),
  layout(0, 1), // uint 8 to 64
  layout(0, 2),
  layout(0, 4),
  layout(0, 8),
  layout(0, 1), // int 8 to 64
  layout(0, 2),
  layout(0, 4),
  layout(0, 8),
  layout(0, 2), // fixext 1 to 16, with their type
  layout(0, 3),
  layout(0, 5),
  layout(0, 9),
  layout(0, 17),
  layout(1), // str 8, 16 and 32
  layout(2),
  layout(4),
  layout(2, 0, 1), // array 16 and 32
  layout(4, 0, 1),
  layout(2, 0, 2), // map 16 and 32
  layout(4, 0, 2),
]

/**
 * The byte after the item that begins there. It goes by lengths alone, so it passes over what no reading can have.
 *
 * @throws UnreadableItem for what is cut off, and for a byte that begins no item
 */
export function endOfMsgpackItem(bytes: Uint8Array, start: number): number {
  let at = start
  for (let left = 1; left > 0; left--) {
    const head = bytes[at]
    if (head === undefined) throw truncated()
    if (head < 0x80 || head >= 0xe0) at++
    else if (head < 0x90) {
      left += 2 * (head & 0x0f)
      at++
    } else if (head < 0xa0) {
      left += head & 0x0f
      at++
    } else if (head < 0xc0) at += 1 + (head & 0x1f)
    else {
      const known = layouts[head - 0xc0]
      if (known === undefined) throw problem('0xc1 begins nothing', { position: at })
      const { lengthBytes, moreBytes, itemsEach } = known
      const from = at + 1
      const length = bytes
        .subarray(from, from + lengthBytes)
        .reduce((sum, byte) => sum * 256 + byte, 0)
      at = from + lengthBytes + moreBytes + (itemsEach === 0 ? length : 0)
      left += itemsEach * length
    }
    if (at > bytes.length) throw truncated()
  }
  return at
}
