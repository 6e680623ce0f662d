import type { Chunk } from './stretch-tree.ts'

/** The hash, the time as a double, and a count of 32 bits, little-endian. */
const [hashBytes, chunkBytes] = [32, 44]

/** The chunks of a seal, as they are kept. */
export function encodeChunks(chunks: readonly Chunk[]): Buffer {
  const bytes = Buffer.alloc(chunks.length * chunkBytes)
  for (const [index, { root, firstUs, skip }] of chunks.entries()) {
    const at = index * chunkBytes
    root.copy(bytes, at)
    bytes.writeDoubleLE(firstUs, at + hashBytes)
    bytes.writeUInt32LE(skip, at + hashBytes + 8)
  }
  return bytes
}

/** @throws RangeError for bytes that `encodeChunks` has not made */
export function decodeChunks(kept: Uint8Array): readonly Chunk[] {
  const bytes = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength)
  if (bytes.length % chunkBytes !== 0) {
    throw new RangeError(`${bytes.length} bytes are no chunks of ${chunkBytes}`)
  }
  return Array.from({ length: bytes.length / chunkBytes }, (_, index) => {
    const at = index * chunkBytes
    return {
      root: Buffer.from(bytes.subarray(at, at + hashBytes)),
      firstUs: bytes.readDoubleLE(at + hashBytes),
      skip: bytes.readUInt32LE(at + hashBytes + 8),
    }
  })
}
