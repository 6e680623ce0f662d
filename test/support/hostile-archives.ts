import { crc32, deflateRawSync } from 'node:zlib'
import {
  descriptorFlag,
  encryptedFlag,
  extraField,
  numbers,
  secondName,
  sizes64,
  type ZipEntry,
  zipArchive,
} from './zip-archive.ts'

/** An archive that must not be unpacked, and what has to be said about it. */
export interface HostileArchive {
  readonly what: string
  readonly reason: RegExp
  readonly bytes: () => Buffer
}

const plain: ZipEntry = { name: 'plain.txt', content: 'plain' }
const mebibyte = 1024 * 1024
const one = 0x10000

/** Archives with one bad entry after a good one. */
const badEntries: readonly (readonly [what: string, entry: ZipEntry, reason: RegExp])[] = [
  // Places.
  ['a way out', { name: '../evil.txt' }, /leads out/],
  ['a way out in the middle', { name: 'a/../../evil.txt' }, /leads out/],
  ['a way out at the end', { name: 'a/..' }, /leads out/],
  ['a way out as a folder', { name: '../' }, /leads out/],
  ['a way out in its second name', secondNamed('a', Buffer.from('../b')), /leads out/],
  ['a way out with backslashes', { name: '..\\evil.txt' }, /backslash/],
  ['a backslash for a slash', { name: 'a\\b.txt' }, /backslash/],
  ['an absolute path', { name: '/etc/passwd' }, /absolute/],
  ['a path to another machine', { name: '//host/share' }, /absolute/],
  ['a drive', { name: 'C:/evil.txt' }, /drive/],
  ['a drive without a slash', { name: 'c:evil.txt' }, /drive/],
  ['a dot for a folder', { name: './a.txt' }, /empty or a dot/],
  ['a dot in the middle', { name: 'a/./b' }, /empty or a dot/],
  ['two slashes', { name: 'a//b' }, /empty or a dot/],
  ['no name', { name: '' }, /no name/],
  ['nothing but a slash', { name: '/' }, /absolute/],
  ['NUL in its name', { name: 'a.txt\0.png' }, /control/],
  ['the end of a line in its name', { name: 'a\nb' }, /control/],
  ['a control of C1 in its name', { name: 'a\u0085b' }, /control/],
  ['bytes that are no UTF-8', { name: Buffer.from([0x61, 0xff, 0xfe]) }, /not UTF-8/],
  ['half a character', { name: Buffer.from([0xc3]) }, /not UTF-8/],
  ['an overlong slash', { name: Buffer.from([0x61, 0xc0, 0xaf, 0x62]) }, /not UTF-8/],
  ['a name of another character set', { name: Buffer.from([0x81, 0x2e]), flags: 0 }, /not UTF-8/],
  ['a second name that is no UTF-8', secondNamed('a', Buffer.from([0xff])), /not UTF-8/],
  ['two names', { name: 'a', extra: secondName('a', 'b') }, /two names/],
  ['a long path', { name: 'a/'.repeat(20) + 'b'.repeat(250) + '/c'.repeat(400) }, /1024 bytes/],
  ['a long part', { name: 'é'.repeat(128) }, /255 bytes/],
  ['many folders', { name: `${'a/'.repeat(32)}b` }, /deeper than 32/],
  // Names that are taken.
  ['the same name', { name: 'plain.txt' }, /same name/],
  ['the same name in capitals', { name: 'PLAIN.TXT' }, /same name/],
  ['a file as its folder', { name: 'plain.txt/a' }, /name of its folder/],
  ['a file as its folder, in capitals', { name: 'Plain.txt/a' }, /name of its folder/],
  ['a folder with the name of a file', { name: 'plain.txt/' }, /name of its folder/],
  // Kinds.
  [
    'a link',
    { name: 'a', content: '/etc/passwd', attributes: 0o120777 * one },
    /link or a special/,
  ],
  [
    'a link made by DOS',
    { name: 'a', attributes: 0o120777 * one, madeBy: 20 },
    /link or a special/,
  ],
  ['a link of Windows', { name: 'a', attributes: 0x400, madeBy: 20 }, /link or a special/],
  ['a device', { name: 'a', attributes: 0o020666 * one }, /link or a special/],
  ['a pipe', { name: 'a', attributes: 0o010666 * one }, /link or a special/],
  ['a socket', { name: 'a', attributes: 0o140666 * one }, /link or a special/],
  ['a folder without a slash', { name: 'a', attributes: 0o040755 * one }, /link or a special/],
  ['a folder of DOS without a slash', { name: 'a', attributes: 0x10 }, /without a slash/],
  ['a folder that is a link', { name: 'a/', attributes: 0o120777 * one }, /link or a special/],
  ['a folder with bytes', { name: 'a/', content: 'x', attributes: 0 }, /bytes of its own/],
  // What cannot be read.
  ['encryption', { name: 'a', flags: encryptedFlag, packed: Buffer.alloc(12) }, /is encrypted/],
  ['strong encryption', { name: 'a', flags: encryptedFlag | 0x40 }, /encryption/],
  ['hidden names', { name: 'a', flags: 0x2000 }, /encrypted/],
  ['a patch', { name: 'a', flags: 0x20 }, /patch/],
  ['another compression', { name: 'a', content: 'x', method: 12 }, /method 12/],
  ['compressed bytes that are none', { ...deflated('x'), packed: Buffer.alloc(9, 0xff) }, /broken/],
  ['compressed bytes that end early', cutShort(), /broken/],
  ['bytes behind the compressed ones', trailed(), /bytes behind/],
  // Lies.
  ['a wrong checksum', { name: 'a', content: 'abc', crc: 1 }, /checksum is wrong/],
  ['a wrong checksum of compressed bytes', { ...deflated('abc'), crc: 1 }, /checksum is wrong/],
  [
    'fewer bytes than it has',
    { ...deflated('x'.repeat(9_000)), bytes: 100 },
    /larger than it says/,
  ],
  [
    'no bytes, and many',
    { ...deflated(Buffer.alloc(50 * mebibyte)), bytes: 0 },
    /larger than it says/,
  ],
  ['more bytes than it has', { ...deflated('abc'), bytes: 1_000 }, /smaller than it says/],
  ['two sizes for stored bytes', { name: 'a', content: 'abc', bytes: 2 }, /mismatch/],
  [
    'more bytes than there are',
    { name: 'a', packedBytes: 9_999, bytes: 9_999 },
    /'a': file data overflows/,
  ],
  ['another name in front', { name: 'a', local: { name: 'b' } }, /differ in the name/],
  ['another method in front', { ...deflated('abc'), local: { method: 0 } }, /differ in the comp/],
  [
    'another size in front',
    { name: 'a', content: 'abc', local: { bytes: 2 } },
    /differ in the size/,
  ],
  ['another packed size in front', { name: 'a', local: { packedBytes: 2 } }, /the packed size/],
  ['another checksum in front', { name: 'a', local: { crc: 2 } }, /differ in the checksum/],
  [
    'encryption in front',
    { name: 'a', local: { flags: encryptedFlag } },
    /differ in the encryption/,
  ],
  ['another size, though it follows', followed({ bytes: 9 }), /differ in the size/],
  ['another size of 64 bits in front', sized64(4, 3), /differ in the size/],
  [
    'a size of 64 bits that is left out',
    { name: 'a', bytes: 0xffffffff, packedBytes: 0xffffffff },
    /more than 67108864 bytes/,
  ],
  [
    'sizes beyond all numbers',
    { ...far(), local: { bytes: 0, packedBytes: 0 } },
    /more than 67108864 bytes/,
  ],
  ['a further field that is cut', { name: 'a', extra: numbers([1, 2], [99, 2]) }, /sound zip/],
  // The like of a file that is not unpacked in one go.
  [
    'much, and bytes behind it',
    { ...large(), packed: largePacked(Buffer.from('more')) },
    /bytes behind/,
  ],
  [
    'much, and many bytes behind it',
    { ...large(), packed: largePacked(Buffer.alloc(mebibyte)) },
    /bytes behind/,
  ],
  [
    'much, of which the end is missing',
    { ...large(), packed: largePacked().subarray(0, -9) },
    /broken/,
  ],
  ['much with a wrong checksum', { ...large(), crc: 1 }, /checksum is wrong/],
  ['much, and more than it says', { ...large(), bytes: mebibyte }, /larger than it says/],
  ['much, and less than it says', { ...large(), bytes: 4 * mebibyte }, /smaller than it says/],
  ['much, stored with a wrong checksum', { ...large(), method: 0, crc: 1 }, /checksum is wrong/],
  // Bombs.
  ['a thousand times its size', deflated(Buffer.alloc(20 * mebibyte)), /100 times its size/],
  ['an offset where nothing is', { name: 'a', at: 7 }, /'a': invalid local/],
  ['an offset beyond the end', { name: 'a', at: 0x7fffffff }, /'a': it ends too early/],
  ['the offset of another entry', { name: 'a', at: 0 }, /differ in the name/],
]

/** Archives that are wrong as a whole. */
const badArchives: readonly (readonly [what: string, bytes: () => Buffer, reason: RegExp])[] = [
  ['nothing', () => Buffer.alloc(0), /sound zip/],
  ['a text', () => Buffer.from('no archive'.repeat(10)), /sound zip/],
  ['only an end', () => zipArchive([]), /has no files/],
  ['only folders', () => zipArchive([{ name: 'a/' }, { name: 'a/b/' }]), /has no files/],
  ['no end', () => zipArchive([plain]).subarray(0, -22), /sound zip/],
  ['half an end', () => zipArchive([plain]).subarray(0, -5), /sound zip/],
  ['no beginning', () => zipArchive([plain]).subarray(10), /sound zip/],
  ['bytes behind its end', () => zipArchive([plain], { behind: Buffer.from('x') }), /sound zip/],
  [
    'bytes in front',
    () => zipArchive([plain], { before: Buffer.from('#!/bin/sh\n') }),
    /bytes before/,
  ],
  ['offsets that leave out bytes in front', shifted, /sound zip/],
  [
    'fewer entries than it has',
    () => zipArchive([plain, { name: 'b' }], { entries: 1 }),
    /end where/,
  ],
  ['more entries than it has', () => zipArchive([plain], { entries: 2 }), /sound zip/],
  [
    'too many entries',
    () => zipArchive(Array.from({ length: 10_001 }, (_, at) => ({ name: `${at}` }))),
    /more than 10000 entries/,
  ],
  [
    'many entries by its word',
    () => zipArchive([plain], { entries: 20_000 }),
    /more than 10000 entries/,
  ],
  [
    'a longer directory than it has',
    () => zipArchive([plain], { directoryBytes: 99 }),
    /end where/,
  ],
  ['bytes between directory and end', looseEnd, /end where/],
  ['a part of several', () => zipArchive([plain], { disk: 1 }), /sound zip/],
  ['another archive in its comment', nested, /sound zip/],
  [
    'another directory in ZIP64',
    () => zipArchive([plain], { isZip64: true, directoryBytes: 3 }),
    /end where/,
  ],
  [
    'more entries in ZIP64',
    () => zipArchive([plain, { name: 'b' }], { isZip64: true, entries: 1 }),
    /end where/,
  ],
  ['an end of ZIP64 that is nowhere', lostEnd, /sound zip/],
  ['entries that overlap, each with the next', quotedOverlap, /'b': it overlaps another entry/],
  ['entries that are one', sharedEntry, /'b': it overlaps another entry/],
  ['an entry that goes on into the directory', intoDirectory, /'a': it overlaps the directory/],
  ['many small bombs', manyBombs, /100 times its size/],
  ['a sum of sizes beyond its limit', sumOfSizes, /unpacks to more than 67108864 bytes/],
  [
    'two forms of one name',
    () => zipArchive([{ name: 'caf\u00e9' }, { name: 'cafe\u0301' }]),
    /same name/,
  ],
  [
    'capitals beyond ASCII',
    () => zipArchive([{ name: 'stra\u00dfe' }, { name: 'STRASSE' }]),
    /same name/,
  ],
  [
    'a file as a later folder',
    () => zipArchive([{ name: 'a/b' }, { name: 'A' }]),
    /folder has the same/,
  ],
  [
    'one folder in two spellings',
    () => zipArchive([{ name: 'a/b' }, { name: 'A/c' }]),
    /spells its folder/,
  ],
]

export const hostileArchives: readonly HostileArchive[] = [
  ...badEntries.map(([what, entry, reason]) => ({
    what,
    reason,
    bytes: () => zipArchive([plain, entry]),
  })),
  ...badArchives.map(([what, bytes, reason]) => ({ what, bytes, reason })),
]

/** Bytes that do not become fewer. */
function largeContent(): Buffer {
  const bytes = Buffer.alloc(2 * mebibyte)
  let state = 1
  for (let at = 0; at < bytes.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes.writeUInt32LE(state, at)
  }
  return bytes
}

function large(): ZipEntry {
  return deflated(largeContent())
}

function largePacked(...behind: readonly Buffer[]): Buffer {
  return Buffer.concat([deflateRawSync(largeContent()), ...behind])
}

function secondNamed(name: string, second: Buffer): ZipEntry {
  return { name, flags: 0, extra: secondName(name, second) }
}

function deflated(content: string | Buffer): ZipEntry {
  return { name: 'a', content, method: 8 }
}

function cutShort(): ZipEntry {
  const content = Buffer.from('some text that is not all the same')
  return { ...deflated(content), packed: deflateRawSync(content).subarray(0, -4) }
}

function trailed(): ZipEntry {
  const packed = Buffer.concat([deflateRawSync('abc'), Buffer.from('more')])
  return { ...deflated('abc'), packed }
}

/** An entry whose sizes follow its bytes, with others in front of them. */
function followed(local: { readonly bytes: number }): ZipEntry {
  const behind = numbers([0x08074b50, 4], [crc32('abc'), 4], [3, 4], [3, 4])
  return { name: 'a', content: 'abc', flags: descriptorFlag, behind, local }
}

/** An entry with sizes of 64 bits in front. */
function sized64(bytes: number, packedBytes: number): ZipEntry {
  const extra = sizes64(bytes, packedBytes)
  return { name: 'a', content: 'abc', local: { bytes: 0xffffffff, packedBytes: 0xffffffff, extra } }
}

function far(): ZipEntry {
  const data = Buffer.alloc(16, 0xff)
  return { name: 'a', bytes: 0xffffffff, packedBytes: 0xffffffff, extra: extraField(1, data) }
}

function shifted(): Buffer {
  return Buffer.concat([Buffer.from('#!/bin/sh\n'), zipArchive([plain])])
}

function looseEnd(): Buffer {
  const sound = zipArchive([plain])
  return Buffer.concat([sound.subarray(0, -22), Buffer.from('loose'), sound.subarray(-22)])
}

/** A comment that is an archive of its own, which readers from the end find first. */
function nested(): Buffer {
  return zipArchive([plain], { comment: zipArchive([{ name: 'evil', content: 'evil' }]) })
}

function lostEnd(): Buffer {
  const bytes = zipArchive([plain], { isZip64: true })
  bytes.writeBigUInt64LE(5n, bytes.length - 22 - 20 + 8)
  return bytes
}

/** David Fifield's zip bomb: the bytes of an entry begin with the header of the next, quoted as stored. */
function quotedOverlap(): Buffer {
  const kernel = deflateRawSync(Buffer.alloc(1_000))
  const last = zipArchive([{ name: 'b', content: Buffer.alloc(1_000), method: 8 }])
  const header = last.subarray(0, 31)
  const quote = Buffer.concat([numbers([0, 1], [31, 2], [0xffff - 31, 2]), header])
  const content = Buffer.concat([header, Buffer.alloc(1_000)])
  const packed = Buffer.concat([quote, kernel])
  const first: ZipEntry = { name: 'a', method: 8, content, packed }
  const at = 31 + quote.length - header.length
  const both = zipArchive([first, { name: 'b', content: Buffer.alloc(1_000), method: 8, at }])
  return both
}

/** Two records of one entry: what the second says of it is the same, but for its name in another field. */
function sharedEntry(): Buffer {
  const extra = secondName('a', 'b')
  return zipArchive([
    { name: 'a', content: 'abc', flags: 0 },
    { name: 'a', content: 'abc', flags: 0, extra, at: 0 },
  ])
}

function intoDirectory(): Buffer {
  const alone = zipArchive([{ name: 'a', content: 'abc' }])
  // Its bytes, and the directory behind them, which does not count itself.
  const bytes = alone.length - 31 - 22
  const crc = crc32(alone.subarray(31, 31 + bytes))
  return zipArchive([{ name: 'a', packed: Buffer.from('abc'), bytes, packedBytes: bytes, crc }])
}

/** As 42.zip has it within: a thousand entries of which none is large. */
function manyBombs(): Buffer {
  const packed = deflateRawSync(Buffer.alloc(mebibyte))
  const bomb = { method: 8, bytes: mebibyte, crc: crc32(Buffer.alloc(mebibyte)), packed }
  return zipArchive(Array.from({ length: 60 }, (_, at) => ({ ...bomb, name: `${at}` })))
}

function sumOfSizes(): Buffer {
  const content = Buffer.alloc(33 * mebibyte, 'x')
  return zipArchive([
    { name: 'a', content },
    { name: 'b', content },
  ])
}
