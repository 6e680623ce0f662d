import { randomBytes } from 'node:crypto'
import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { takeUpload } from '../../src/files/content/take-upload.ts'
import { unpack } from '../../src/files/content/unpack.ts'
import { KeptContents } from '../support/kept-contents.ts'
import {
  directoryRecord,
  utf8Flag,
  type ZipEnd,
  zipArchive,
  zipEnd,
} from '../support/zip-archive.ts'

const mebibyte = 1024 * 1024
const limits = { bytesMax: 4_096 * mebibyte, unpackedBytesMax: 8_192 * mebibyte }

/** Entries of a flood, and how many are written at once. */
const floodEntries = 5_000_000
const atOnce = 10_000

describe('an archive', () => {
  test.each([
    ['as it is', {}, /more than 10000 entries/],
    ['while its end says 10,000', { entries: 10_000 }, /same name/],
    ['while its end says one', { entries: 1 }, /directory does not end/],
  ])('of 5 million empty entries is refused, %s, with little memory', async (_, end, reason) => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    writeFlood(path, end)
    const before = peakBytes()

    await expect(takeUpload({ path, form: { is: 'archive' }, limits }, kept)).rejects.toThrow(
      reason,
    )

    expect(peakBytes() - before).toBeLessThan(50 * mebibyte)
  })

  test('is refused as soon as an entry inflates to more than it says, with little memory', async () => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    const zeros = deflateRawSync(Buffer.alloc(256 * mebibyte))
    writeFileSync(path, zipArchive([{ name: 'a', method: 8, packed: zeros, bytes: 1_000 }]))
    const before = peakBytes()

    await expect(takeUpload({ path, form: { is: 'archive' }, limits }, kept)).rejects.toThrow(
      /larger/,
    )

    expect(peakBytes() - before).toBeLessThan(50 * mebibyte)
    expect(kept.leftInScratch()).toEqual([])
  })

  test('is refused before much of what an entry hides is on the disk', async () => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    const noise = randomBytes(2 * mebibyte)
    const packed = deflateRawSync(Buffer.concat([noise, Buffer.alloc(128 * mebibyte)]))
    writeFileSync(path, zipArchive([{ name: 'a', method: 8, packed, bytes: mebibyte }]))
    const options = { unpackedBytesMax: limits.unpackedBytesMax, folder: kept.scratch }

    await expect(Array.fromAsync(unpack(path, options))).rejects.toThrow(/larger than it says/)

    expect(statSync(`${kept.scratch}/0`).size).toBeLessThan(4 * mebibyte)
  })

  test('with much behind each name is read with little memory', async () => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    const comment = 'x'.repeat(60_000)
    writeFileSync(
      path,
      zipArchive(Array.from({ length: 3_000 }, (_, at) => ({ name: `${at}`, comment }))),
    )
    const before = peakBytes()

    await takeUpload({ path, form: { is: 'archive' }, limits }, kept)

    expect(peakBytes() - before).toBeLessThan(120 * mebibyte)
  })

  test('that nests others is kept as it is, and they stay packed', async () => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    const zeros = deflateRawSync(Buffer.alloc(16 * mebibyte))
    const bomb = zipArchive([{ name: '0.dll', method: 8, packed: zeros, bytes: 16 * mebibyte }])
    const library = zipArchive(
      Array.from({ length: 16 }, (_, at) => ({
        name: `library ${at}.zip`,
        content: bomb,
        method: 8,
      })),
    )
    writeFileSync(path, library)

    const { files, size } = await takeUpload({ path, form: { is: 'archive' }, limits }, kept)

    expect(files).toHaveLength(16)
    expect(size).toBe(16 * bomb.length)
  })

  test('of the most entries is unpacked without many files at once', async () => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    const entries = Array.from({ length: 10_000 }, (_, at) => {
      return { name: `folder ${at % 100}/${at}.csv`, content: `time,value\n${at},1\n`, method: 8 }
    })
    writeFileSync(path, zipArchive(entries))

    const { files } = await takeUpload({ path, form: { is: 'archive' }, limits }, kept)

    expect(files).toHaveLength(10_000)
    expect(kept.cids()).toHaveLength(10_000)
    for (const { inScratch } of kept.portions) expect(inScratch).toBeLessThanOrEqual(257)
  })
})

/** Records of one empty entry, five million times: each has the same name, and is at the same place. */
function writeFlood(path: string, end: ZipEnd): void {
  const entry = { name: 'a' }
  const header = zipArchive([entry]).subarray(0, 31)
  const fields = { name: 'a', flags: utf8Flag, method: 0, crc: 0, packedBytes: 0, bytes: 0 }
  const record = directoryRecord({ ...fields, extra: Buffer.alloc(0) }, entry, 0)
  const records = Buffer.concat(Array.from({ length: atOnce }, () => record))
  const file = openSync(path, 'w')
  writeSync(file, header)
  for (let written = 0; written < floodEntries; written += atOnce) writeSync(file, records)
  const bytes = floodEntries * record.length
  writeSync(file, zipEnd(floodEntries, bytes, header.length, { ...end, isZip64: true }))
  closeSync(file)
}

/** Most memory that this process has had so far. */
function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1_024
}
