import { compressSync, uncompressSync } from 'snappy'

/**
 * The block format of Snappy, as Prometheus sends it: a length, and literals and copies that have to make as many bytes.
 * The library makes room for that length before it reads on, so a length is looked at here first.
 */

/** Bytes that may come out of one payload: 10,000 samples with 1,600 bytes of labels each. */
const uncompressedMax = 16 * 1024 * 1024

/** Most bytes that one byte can stand for: a copy of 64 bytes is written with three (format_description.txt, 2.2). */
const ratioMax = 64 / 3

/** A length has up to 32 bits. */
const lengthBytesMax = 5

/** The content of a block, or what is wrong with it. */
export function uncompressed(bytes: Uint8Array): Buffer | string {
  const length = lengthIn(bytes)
  if (length === undefined)
    return 'not in the block format of Snappy: it does not begin with a length'
  if (length > uncompressedMax) {
    return `decompressed it has ${length} bytes, and may have ${uncompressedMax}`
  }
  if (length > bytes.length * ratioMax) {
    return `not valid Snappy: ${bytes.length} bytes cannot be ${length} bytes`
  }
  try {
    return uncompressSync(bytes, uncompressOptions)
  } catch {
    return 'not valid Snappy: it is cut off, or not what its length says'
  }
}

/** A content as a block. */
export function compressed(content: Uint8Array): Uint8Array {
  return compressSync(content, { copyOutputData: true })
}

/** The library hands its own memory out otherwise, which a collector learns of late. */
const uncompressOptions = { asBuffer: true, copyOutputData: true }

function lengthIn(bytes: Uint8Array): number | undefined {
  let length = 0
  for (let index = 0; index < lengthBytesMax; index++) {
    const byte = bytes[index]
    if (byte === undefined) return undefined
    length += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return length < 2 ** 32 ? length : undefined
  }
  return undefined
}
