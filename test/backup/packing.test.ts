import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Packing, unpack } from '../../src/operating/backup/packing.ts'

const runs = 60

/** Contents that hardly shrink, that shrink to nothing, and empty ones: each is a frame of its own. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.nat(70_000).map((length) => new Uint8Array(length).fill(length)),
  fc.nat(200_000).map((length) => Uint8Array.from({ length }, (_, index) => (index * index) >> 3)),
)

test('what was packed in any portions comes out the same, in whatever pieces it is read, and slowly', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { maxLength: 6 }),
      fc.integer({ min: 1, max: 100_000 }),
      async (contents, pieceBytes) => {
        const packing = new Packing('a.zst')
        const packed = Buffer.concat(await all(packing.pack(contents, () => undefined)))
        const unpacked = unpack(piecesOf(packed, pieceBytes), packing.file())

        expect(Buffer.concat(await all(unpacked)).equals(Buffer.concat(contents))).toBe(true)
      },
    ),
    { numRuns: runs },
  )
})

async function* piecesOf(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for await (const piece of pieces) {
    found.push(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return found
}
