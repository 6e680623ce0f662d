import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import type { TakenUpload, UploadLimits } from '../../src/files/content/content.ts'
import { folderCid } from '../../src/files/content/folder-cid.ts'
import { takeUpload } from '../../src/files/content/take-upload.ts'
import { KeptContents } from '../support/kept-contents.ts'
import {
  descriptorFlag,
  numbers,
  secondName,
  sizes64,
  type ZipEntry,
  zipArchive,
} from '../support/zip-archive.ts'

const mebibyte = 1024 * 1024
const limits = { bytesMax: 512 * mebibyte, unpackedBytesMax: 64 * mebibyte }

/** What every tool gets to pack: folders, bytes that compress and that do not, and nothing at all. */
const packed: Readonly<Record<string, Buffer>> = {
  'a.txt': Buffer.from('some text\n'.repeat(1_000)),
  empty: Buffer.alloc(0),
  'folder/in it/b.bin': Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * at) % 251)),
  'folder/é.csv': Buffer.from('time,value\n'),
}

const python = `
import sys, zipfile, os
how = sys.argv[2]
class Pipe:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
out = open(sys.argv[1], 'wb')
method = zipfile.ZIP_STORED if how == 'stored' else zipfile.ZIP_DEFLATED
archive = zipfile.ZipFile(Pipe(out) if how == 'piped' else out, 'w', method)
if how == 'folders': archive.mkdir('folder')
for root, _, names in os.walk('.'):
    for name in names:
        path = os.path.join(root, name)[2:]
        with archive.open(path, 'w', force_zip64=(how == 'zip64')) as entry: entry.write(open(path, 'rb').read())
archive.comment = b'made by a test'
archive.close()
out.close()
`

const tools: readonly (readonly [tool: string, command: string, words: readonly string[]])[] = [
  ['zip', 'zip', ['-q', '-r', '../upload', '.']],
  ['zip, stored', 'zip', ['-q', '-0', '-r', '../upload', '.']],
  ['zip, without folders', 'zip', ['-q', '-D', '-r', '../upload', '.']],
  ['zip, as if to a pipe', 'sh', ['-c', 'zip -q -r - . | cat > ../upload']],
  ['zip, with ZIP64', 'zip', ['-q', '-fz', '-r', '../upload', '.']],
  ['jar', 'jar', ['cfM', '../upload', '.']],
  ...['stored', 'deflated', 'piped', 'zip64', 'folders'].map(
    (how) => [`python, ${how}`, 'python3', ['-c', python, '../upload', how]] as const,
  ),
]

describe('an archive that the disk has no room for', () => {
  test('is not refused for what it is', async () => {
    using kept = new KeptContents()
    const archive = zipArchive([{ name: 'a', content: 'hello world' }])

    await expect(takeBytes(kept, archive, { ...limits, roomBytes: 10 })).rejects.toMatchObject({
      code: 'disk_full',
    })
    expect(kept.leftInScratch()).toEqual([])
    expect(await takeBytes(kept, archive, { ...limits, roomBytes: 11 })).toMatchObject({ size: 11 })
  })
})

describe('what is in an archive', () => {
  test.each(tools)('of %s is kept', async (_, command, words) => {
    using kept = new KeptContents()
    for (const [name, bytes] of Object.entries(packed)) {
      const path = join(kept.file('packed'), name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    }
    execFileSync(command, words, { cwd: kept.file('packed') })
    const path = found(kept)

    const taken = await takeUpload({ path, form: { is: 'archive' }, limits }, kept)

    expect(keptFiles(taken, kept)).toEqual(packed)
    expect(taken.size).toBe(Object.values(packed).reduce((sum, bytes) => sum + bytes.length, 0))
    expect(taken.cid).toBe(await folderCid(taken.files))
    expect(kept.leftInScratch()).toEqual([])
  })

  test('is said with type, CID and hash of each file, in the order of the names', async () => {
    using kept = new KeptContents()
    const { files } = await take(kept, [
      { name: 'b.json', content: '{}' },
      { name: 'a/c.txt', content: 'hello world' },
      { name: 'a/' },
    ])

    expect(files).toEqual([
      {
        name: 'a/c.txt',
        cid: 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
        size: 11,
        sha256: createHash('sha256').update('hello world').digest('hex'),
        mediaType: 'text/plain',
      },
      expect.objectContaining({ name: 'b.json', size: 2, mediaType: 'application/json' }),
    ])
  })

  const soundEntries: readonly (readonly [what: string, entry: ZipEntry])[] = [
    ['what systems leave behind', { name: '__MACOSX/.DS_Store', content: 'x' }],
    ['no flag for its name', { name: 'é', flags: 0 }],
    [
      'a second name',
      { name: Buffer.from([0x82]), flags: 0, extra: secondName(Buffer.from([0x82]), 'é') },
    ],
    ['a second name for another', { name: 'a', extra: secondName('b', 'c') }],
    ['a mark of bytes before its name', { name: '\uFEFFa' }],
    ['a long name', { name: `${'a'.repeat(255)}/${'b'.repeat(255)}/${'c'.repeat(255)}` }],
    ['many folders', { name: `${'a/'.repeat(31)}b` }],
    ['a colon', { name: 'at 12:30/a' }],
    ['nothing that is compressed', { name: 'a', method: 8, packed: Buffer.alloc(0) }],
    ['no mode', { name: 'a', attributes: 0 }],
    ['a mode of DOS', { name: 'a', attributes: 0x20, madeBy: 0 }],
    ['a comment', { name: 'a', comment: 'é' }],
    ['another archive', { name: 'a.zip', content: zipArchive([{ name: 'a', content: 'x' }]) }],
    [
      'sizes that follow',
      { ...deflated('abc'), flags: descriptorFlag, local: leftOut, behind: following(5) },
    ],
    [
      'sizes that follow without a mark',
      {
        ...deflated('abc'),
        flags: descriptorFlag,
        local: leftOut,
        behind: following(5).subarray(4),
      },
    ],
    [
      'sizes of 64 bits',
      {
        name: 'a',
        content: 'abc',
        bytes: 0xffffffff,
        packedBytes: 0xffffffff,
        extra: sizes64(3, 3),
      },
    ],
    ['up to 1 MiB of nothing', deflated(Buffer.alloc(mebibyte - 10))],
  ]
  test.each(soundEntries)('is taken with %s', async (_, entry) => {
    using kept = new KeptContents()

    const { files } = await take(kept, [entry, { name: 'plain.txt', content: 'plain' }])

    expect(files).toHaveLength(2)
    expect(kept.cids()).toHaveLength(2)
  })

  test('is taken with ZIP64 where it need not be, and with a comment', async () => {
    using kept = new KeptContents()
    const bytes = zipArchive([{ name: 'a' }], { isZip64: true, comment: 'a comment' })

    expect((await takeBytes(kept, bytes)).files).toHaveLength(1)
  })

  test('is no path of the disk', async () => {
    using kept = new KeptContents()
    await take(kept, [{ name: 'a/b', content: 'x' }])

    expect(kept.cids()).toEqual([expect.stringMatching(/^baf/)])
  })

  test('is handed over in portions, and what is the same once', async () => {
    using kept = new KeptContents()
    const entries = Array.from({ length: 1_000 }, (_, at) => {
      return { name: `${at}`, content: `${at % 700}` }
    })
    const { files } = await take(kept, entries)

    expect(files).toHaveLength(1_000)
    expect(kept.cids()).toHaveLength(700)
    expect(kept.portions.length).toBeGreaterThan(3)
    expect(kept.portions.reduce((sum, { files: some }) => sum + some, 0)).toBe(700)
    for (const { inScratch } of kept.portions) expect(inScratch).toBeLessThanOrEqual(257)
  })

  test('is handed over before it takes much of the disk', async () => {
    using kept = new KeptContents()
    const entries = Array.from({ length: 8 }, (_, at) => {
      return { name: `${at}`, content: Buffer.alloc(20 * mebibyte, at) }
    })
    await takeBytes(kept, zipArchive(entries), { ...limits, unpackedBytesMax: 200 * mebibyte })

    expect(kept.portions.map(({ files }) => files)).toEqual([4, 4])
  })

  test('is not kept from the file on that is broken, and no scratch is left', async () => {
    using kept = new KeptContents()
    const bytes = zipArchive([
      { name: 'a', content: 'abc' },
      { name: 'b', content: 'abc', crc: 1 },
    ])

    await expect(takeBytes(kept, bytes)).rejects.toMatchObject({ code: 'file_rejected' })
    expect(kept.leftInScratch()).toEqual([])
    expect(kept.cids()).toEqual([])
  })

  test('is not to blame for a disk that cannot be read', async () => {
    using kept = new KeptContents()
    // A folder can be opened, and not read.
    const taking = takeUpload({ path: kept.scratch, form: { is: 'archive' }, limits }, kept)

    await expect(taking).rejects.toMatchObject({ code: 'EISDIR' })
    expect(kept.leftInScratch()).toEqual([])
  })

  test('is taken or refused, whatever byte of it is another', async () => {
    const sound = zipArchive([
      { name: 'a/b.txt', content: 'some text\n'.repeat(20), method: 8 },
      { name: 'c', content: 'abc', extra: sizes64(3, 3), comment: 'x' },
      { name: 'd', content: 'abc', flags: descriptorFlag, local: leftOut, behind: following(3) },
    ])
    const change = fc.record({ at: fc.nat(sound.length - 1), to: fc.nat(255) })
    const end = fc.oneof({ weight: 4, arbitrary: fc.constant(sound.length) }, fc.nat(sound.length))
    const cases = fc.asyncProperty(fc.array(change, { maxLength: 3 }), end, async (changes, to) => {
      using kept = new KeptContents()
      const bytes = Buffer.from(sound)
      for (const { at, to: byte } of changes) bytes[at] = byte
      const taken = await takeBytes(kept, bytes.subarray(0, to)).catch((error: unknown) => error)

      if (taken instanceof Error) {
        expect(taken).toBeInstanceOf(DomainError)
        expect(taken).toMatchObject({ code: 'file_rejected' })
      }
      expect(kept.leftInScratch()).toEqual([])
    })
    await fc.assert(cases, { numRuns: 400 })
  })
})

const leftOut = { crc: 0, bytes: 0, packedBytes: 0 }

function deflated(content: string | Buffer): ZipEntry {
  return { name: 'a', content, method: 8 }
}

/** Checksum and sizes behind the bytes of an entry. */
function following(packedBytes: number): Buffer {
  return numbers([0x08074b50, 4], [crc32('abc'), 4], [packedBytes, 4], [3, 4])
}

async function take(kept: KeptContents, entries: readonly ZipEntry[]): Promise<TakenUpload> {
  return await takeBytes(kept, zipArchive(entries))
}

async function takeBytes(
  kept: KeptContents,
  bytes: Buffer,
  within: UploadLimits = limits,
): Promise<TakenUpload> {
  const path = kept.file('upload')
  writeFileSync(path, bytes)
  return await takeUpload({ path, form: { is: 'archive' }, limits: within }, kept)
}

/** Tools add an ending to the name of an archive that has none. */
function found(kept: KeptContents): string {
  const path = kept.file('upload')
  try {
    readFileSync(path)
    return path
  } catch {
    return `${path}.zip`
  }
}

function keptFiles(taken: TakenUpload, kept: KeptContents): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(taken.files.map(({ name, cid }) => [name, kept.bytesOf(cid)]))
}
