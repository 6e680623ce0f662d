import { constants, deflateRawSync } from 'node:zlib'
import { jsonOf } from './otlp-messages.ts'
import {
  deviceField,
  influx1,
  influx2,
  otlpJson,
  otlpProtobuf,
  type ProtocolDoor,
  remoteWrite,
} from './protocol-doors.ts'

/** Bodies that cost more than they have bytes, or whose lengths are lies. */

export interface Bomb {
  readonly name: string
  readonly door: ProtocolDoor
  readonly body: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
}

const GiB = 2 ** 30

/** Zeros that would take so many bytes, in gzip that says that they are as few as fit into a body. */
function gzipBomb(announced: number): Uint8Array {
  const pieceBytes = 4 * 1024 * 1024
  // Each piece ends at a byte, so that they can stand behind each other.
  const piece = deflateRawSync(Buffer.alloc(pieceBytes), {
    level: 9,
    finishFlush: constants.Z_SYNC_FLUSH,
  })
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(announced, 4)
  const pieces = Math.floor((3.9 * GiB) / pieceBytes)
  return Buffer.concat([
    header,
    ...Array.from({ length: pieces }, () => piece),
    Buffer.from([3, 0]),
    trailer,
  ])
}

/** 4 GiB in blocks of one repeated byte (RFC 8878, section 3.1.1.2). */
function zstdBomb(): Uint8Array {
  const blockBytes = 128 * 1024
  const blocks = (4 * GiB) / blockBytes
  const bytes = Buffer.alloc(6 + 4 * blocks)
  bytes.writeUInt32BE(0x28b52ffd, 0)
  bytes.writeUInt8(0, 4)
  // A window of 128 KiB.
  bytes.writeUInt8(7 << 3, 5)
  for (let block = 0; block < blocks; block++) {
    const isLast = block === blocks - 1 ? 1 : 0
    bytes.writeUIntLE((blockBytes << 3) | (1 << 1) | isLast, 6 + 4 * block, 3)
  }
  return bytes
}

/** What Snappy says that it has 4 GiB, and some bytes. */
const snappyBomb = Buffer.from('ffffffff0f00000000', 'hex')

/** A field whose length goes beyond its message, in the block format of Snappy: one literal. */
function snappyOf(content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([content.length, (content.length - 1) << 2]), content])
}

/** Field 1 with 2^32 - 1 bytes, of which there are two. */
const lyingField = Buffer.from('0affffffff0f0a05', 'hex')

const depth = 10_000

function nestedKvlist(): Uint8Array {
  const open = '{"kvlistValue":{"values":[{"key":"k","value":'
  const close = '}]}}'
  const value = `${open.repeat(depth)}{"intValue":"1"}${close.repeat(depth)}`
  const point = `{"asDouble":1,"attributes":[{"key":"deep","value":${value}}]}`
  const metric = `{"name":"load","gauge":{"dataPoints":[${point}]}}`
  return Buffer.from(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metric}]}]}]}`)
}

/** Nested lists in Protobuf: each level is an AnyValue with a KeyValueList of one KeyValue. */
function nestedKvlistInProtobuf(): Uint8Array {
  let value: Uint8Array = Buffer.from([0x18, 1])
  for (let level = 0; level < 2_000; level++) value = message(6, message(1, message(2, value)))
  const point = message(7, message(2, value))
  const metric = Buffer.concat([message(1, Buffer.from('load')), message(5, message(1, point))])
  return message(1, message(2, message(2, metric)))
}

function message(field: number, content: Uint8Array): Uint8Array {
  const length: number[] = []
  let left = content.length
  for (; left > 127; left = Math.floor(left / 128)) length.push((left % 128) | 128)
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...length, left]), content])
}

const manyTags = Array.from({ length: 100_000 }, (_, tag) => `t${tag}=v`).join()
const manyFields = Array.from({ length: 100_000 }, (_, field) => `f${field}=1`).join()

function linesOf(count: number): Uint8Array {
  return Buffer.from(`load,${deviceField}=a value=1\n`.repeat(count))
}

const gzip = { 'content-encoding': 'gzip' }
const zstd = { 'content-encoding': 'zstd' }
const large = gzipBomb(0)
const lying = gzipBomb(1_000)
const repeated = zstdBomb()

const anyCoding = [influx1, influx2, otlpJson, otlpProtobuf] as const

/** Each is refused with a status that no client sends it again for; 200 is a partial success. */
export const bombs: readonly Bomb[] = [
  ...anyCoding.flatMap((door) => [
    { name: 'gzip with 4 GB', door, headers: gzip, body: large, status: 400 },
    { name: 'gzip with 4 GB that says 1,000 bytes', door, headers: gzip, body: lying, status: 400 },
    { name: 'zstd with 4 GB', door, headers: zstd, body: repeated, status: 413 },
  ]),
  { name: 'Snappy that says 4 GB', door: remoteWrite, body: snappyBomb, status: 400 },
  { name: 'no Snappy', door: remoteWrite, body: Buffer.from('load 1'), status: 400 },
  { name: 'a length beyond its end', door: remoteWrite, body: snappyOf(lyingField), status: 400 },
  { name: 'a length beyond its end', door: otlpProtobuf, body: lyingField, status: 400 },
  {
    name: 'JSON that is cut off',
    door: otlpJson,
    body: Buffer.from('{"resourceMetrics":['),
    status: 400,
  },
  { name: 'a deep list in JSON', door: otlpJson, body: nestedKvlist(), status: 400 },
  { name: 'a deep list', door: otlpProtobuf, body: nestedKvlistInProtobuf(), status: 200 },
  {
    name: 'resources without end',
    door: otlpJson,
    body: jsonOf({ resourceMetrics: {} }),
    status: 400,
  },
  ...[influx1, influx2].flatMap((door) => [
    {
      name: 'a line of 100,000 tags',
      door,
      body: Buffer.from(`load,${deviceField}=a,${manyTags} value=1\n`),
      status: 400,
    },
    {
      name: 'a line of 100,000 fields',
      door,
      body: Buffer.from(`load,${deviceField}=a ${manyFields}\n`),
      status: 400,
    },
    { name: '10,001 lines', door, body: linesOf(10_001), status: 413 },
    { name: 'no text', door, body: Buffer.alloc(1_000_000, 0xff), status: 400 },
    {
      name: 'a million empty tags',
      door,
      body: Buffer.from(`load${','.repeat(1e6)}`),
      status: 400,
    },
    {
      name: 'a text without end',
      door,
      body: Buffer.from(`load,host=a f="${'\n'.repeat(1e6)}`),
      status: 400,
    },
  ]),
]
