import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { takeUpload } from '../../src/files/content/take-upload.ts'
import { type ArchivedFile, archiveOf } from '../../src/files/content/write-archive.ts'
import { KeptContents } from '../support/kept-contents.ts'

const mebibyte = 1024 * 1024
const limits = { bytesMax: 512 * mebibyte, unpackedBytesMax: 512 * mebibyte }

/** Bytes of contents by their names, which stand for CIDs here. */
type Contents = ReadonlyMap<string, Buffer>

const some: Contents = new Map([
  ['a.txt', Buffer.from('some text')],
  ['folder/é 😀.bin', Buffer.alloc(3 * mebibyte, 'x')],
  ['folder/empty', Buffer.alloc(0)],
])

describe('an archive that is written', () => {
  test('has the files again, and with them the CID of the folder', async () => {
    using kept = new KeptContents()
    const first = await unpacked(kept, await written(some))
    const second = await archiveOf(first.files, (cid) => one(kept.bytesOf(cid)))

    expect(
      Object.fromEntries(first.files.map(({ name, cid }) => [name, kept.bytesOf(cid)])),
    ).toEqual(Object.fromEntries(some))
    expect(await unpacked(kept, await collected(second.bytes()))).toEqual(first)
  })

  test.each([1, 700, 800, 10_000])('has the size that was said, with %i files', async (count) => {
    const names = Array.from({ length: count }, (_, at) => `folder/with a longer name/${at}`)
    const contents = new Map(names.map((name) => [name, Buffer.from(name)]))
    const archive = await archiveOf(filesOf(contents), readOf(contents))
    const bytes = await collected(archive.bytes())

    expect(bytes.length).toBe(archive.size)
    using kept = new KeptContents()
    expect((await unpacked(kept, bytes)).files).toHaveLength(count)
  })

  test('has the same bytes in every time zone', async () => {
    const hashes = new Set<string>()
    for (const TZ of [
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Pacific/Kiritimati',
      'Pacific/Niue',
    ]) {
      hashes.add(hashInZone(TZ))
    }

    expect([...hashes]).toEqual([
      createHash('sha256')
        .update(await written(some))
        .digest('hex'),
    ])
  })

  test('is an archive for others', async () => {
    using kept = new KeptContents()
    const path = kept.file('written.zip')
    writeFileSync(path, await written(some))

    expect(execFileSync('unzip', ['-t', path], { encoding: 'utf8' })).toMatch(/No errors detected/)
    expect(execFileSync('python3', ['-m', 'zipfile', '-t', path], { encoding: 'utf8' })).toMatch(
      /Done/,
    )
  })

  test('can be had from any byte to any other', async () => {
    const contents = new Map([...some].map(([name, bytes]) => [name, bytes.subarray(0, 1_000)]))
    const archive = await archiveOf(filesOf(contents), readOf(contents))
    const whole = await collected(archive.bytes())
    const cases = fc.asyncProperty(
      fc.nat(archive.size),
      fc.nat(archive.size),
      async (start, length) => {
        const part = await collected(archive.bytes({ start, length }))

        expect(part.equals(whole.subarray(start, start + length))).toBe(true)
      },
    )
    await fc.assert(cases, { numRuns: 100 })
  })

  test('reads nothing before its bytes are asked for, and one content at a time', async () => {
    const reading = new Set<string>()
    const most: number[] = []
    const read = async function* (cid: string): AsyncGenerator<Uint8Array> {
      reading.add(cid)
      most.push(reading.size)
      yield some.get(cid) ?? Buffer.alloc(0)
      reading.delete(cid)
    }
    const archive = await archiveOf(filesOf(some), read)

    expect(most).toEqual([])
    await collected(archive.bytes())
    expect(most).toEqual([1, 1, 1])
  })

  test('leaves a content that is being read when nobody wants more of it', async () => {
    const left = Promise.withResolvers<void>()
    const read = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(64 * 1024)
      } finally {
        left.resolve()
      }
    }
    const archive = await archiveOf([{ name: 'a', cid: 'a', size: 1024 * mebibyte }], read)
    for await (const _ of archive.bytes()) break

    await left.promise
  })

  test.each([
    ['a content that fails', failing, /the disk is gone/],
    [
      'a content with other bytes than it should have',
      () => one(Buffer.alloc(3)),
      /number of bytes/,
    ],
  ])('fails with %s', async (_, read, reason) => {
    const archive = await archiveOf([{ name: 'a', cid: 'a', size: 9 }], read)

    await expect(collected(archive.bytes())).rejects.toThrow(reason)
  })
})

async function* one(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('abc')
  throw new Error('the disk is gone')
}

function filesOf(contents: Contents): ArchivedFile[] {
  return [...contents].map(([name, bytes]) => ({ name, cid: name, size: bytes.length }))
}

function readOf(contents: Contents): (cid: string) => AsyncIterable<Uint8Array> {
  return (cid) => one(contents.get(cid) ?? Buffer.alloc(0))
}

async function written(contents: Contents): Promise<Buffer> {
  return await collected((await archiveOf(filesOf(contents), readOf(contents))).bytes())
}

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(bytes))
}

async function unpacked(kept: KeptContents, bytes: Buffer) {
  const path = kept.file('upload')
  writeFileSync(path, bytes)
  return await takeUpload({ path, form: { is: 'archive' }, limits }, kept)
}

/** SHA-256 of the archive, as a process in that zone makes it. */
function hashInZone(TZ: string): string {
  const script = `
    import { createHash } from 'node:crypto'
    import { archiveOf } from './src/files/content/write-archive.ts'
    const some = [['a.txt', Buffer.from('some text')],
      ['folder/é 😀.bin', Buffer.alloc(3 * 1024 * 1024, 'x')], ['folder/empty', Buffer.alloc(0)]]
    const files = some.map(([name, bytes]) => ({ name, cid: name, size: bytes.length }))
    const read = async function* (cid) { yield new Map(some).get(cid) }
    const hash = createHash('sha256')
    for await (const chunk of (await archiveOf(files, read)).bytes()) hash.update(chunk)
    process.stdout.write(hash.digest('hex'))
  `
  const words = ['--input-type=module', '-e', script]
  return execFileSync(process.execPath, words, { env: { ...process.env, TZ }, encoding: 'utf8' })
}
