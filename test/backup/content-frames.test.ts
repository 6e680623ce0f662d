import { mkdirSync, writeFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  contentFrames,
  contentLines,
  contentsOf,
  type KnownContent,
  type PackedContent,
} from '../../src/operating/backup/content-frames.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const runs = 40

/** Contents of which several share a piece, that fill some, and that have nothing in them. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.integer({ min: 1, max: 700_000 }).map((length) => new Uint8Array(length).fill(length)),
)

interface Written {
  readonly known: readonly KnownContent[]
  readonly packed: Buffer
  readonly files: readonly Buffer[]
}

/** Contents as a backup has them, and what they were made of; those without bytes have no file. */
function packed(folder: TemporaryFolder, all: readonly (Uint8Array | undefined)[]): Written {
  const known = all.map((content, at) => {
    const cid = `b${'a'.repeat(57)}${'abcdefgh'[at] ?? ''}`
    if (content) writeFileSync(folder.file(cid), content)
    return { cid, size: content?.length ?? 7, sha256: 'f0'.repeat(32) }
  })
  const pieces = contentFrames(
    known,
    (cid) => folder.file(cid),
    () => undefined,
  )
  return {
    known,
    packed: Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece))),
    files: all.map((content) => Buffer.from(content ?? [])),
  }
}

async function* cutUp(all: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < all.length; at += pieceBytes) yield all.subarray(at, at + pieceBytes)
}

async function unpacked(pieces: AsyncIterable<Uint8Array>) {
  const found: { readonly line: PackedContent; readonly content: Buffer }[] = []
  for await (const { content, ...line } of contentsOf(pieces)) {
    found.push({ line, content: Buffer.concat(await Array.fromAsync(content)) })
  }
  return found
}

test('contents come out as they were, in whatever pieces they are read', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(bytes, { nil: undefined, freq: 6 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 300_000 }),
      async (all, pieceBytes) => {
        using folder = new TemporaryFolder()
        const written = packed(folder, all)

        const found = await unpacked(cutUp(written.packed, pieceBytes))

        const lines = written.known.map((one, at) => ({ ...one, bytes: all[at]?.length ?? null }))
        expect(found.map(({ line }) => line)).toEqual(lines)
        for (const [at, { content }] of found.entries()) {
          expect(content.equals(written.files[at] ?? Buffer.alloc(0))).toBe(true)
        }
      },
    ),
    { numRuns: runs },
  )
})

test('a content that cannot be read is named', () => {
  using folder = new TemporaryFolder()
  const cid = `b${'a'.repeat(58)}`
  mkdirSync(folder.file(cid))
  const pieces = contentFrames(
    [{ cid, size: 3, sha256: '00' }],
    (name) => folder.file(name),
    () => undefined,
  )
  expect(() => [...pieces]).toThrow(`content ${cid} cannot be read: EISDIR`)
})

test('what nobody reads of a content is left out before the next one', async () => {
  using folder = new TemporaryFolder()
  const all = [new Uint8Array(500_000).fill(1), new Uint8Array([2, 3])]
  const { packed: whole } = packed(folder, all)
  const found: number[] = []
  for await (const { content, size } of contentsOf(cutUp(whole, 1_000))) {
    for await (const piece of content) {
      found.push(size, piece[0] ?? 0)
      break
    }
  }
  expect(found).toEqual([500_000, 1, 2, 2])
})

test('the list of contents that are elsewhere has their lines', async () => {
  const known = [{ cid: `b${'a'.repeat(58)}`, size: 3, sha256: '00' }]
  const lines = Buffer.concat([...contentLines(known)])
  const found = await unpacked(cutUp(lines, 10))
  expect(found).toEqual([{ line: { ...known[0], bytes: null }, content: Buffer.alloc(0) }])
})

const sound = { cid: `b${'a'.repeat(58)}`, size: 3, sha256: '00', bytes: 3 }

test.each([
  ['ends within a line', JSON.stringify(sound)],
  ['ends within a content', `${JSON.stringify(sound)}\nab`],
  ['has a line that is none', 'not json\n'],
  ['has a line of nothing', 'null\n'],
  ['leads to a file outside', `${JSON.stringify({ ...sound, cid: '../../evil' })}\nabc`],
  ['has a negative size', `${JSON.stringify({ ...sound, bytes: -1 })}\n`],
  ['has a size that is no number', `${JSON.stringify({ ...sound, bytes: '3' })}\nabc`],
])('a file of contents that %s is refused', async (_, text) => {
  const reading = unpacked(cutUp(Buffer.from(text), 100))
  await expect(reading).rejects.toThrow('not as they were written')
})

test('a line is not read on and on', async () => {
  let pieces = 0
  const endless = async function* () {
    for (; pieces < 1_000; pieces++) yield Buffer.from('x'.repeat(100))
  }
  await expect(unpacked(endless())).rejects.toThrow('not as they were written')
  expect(pieces).toBeLessThan(20)
})
