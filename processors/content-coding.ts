import {
  constants,
  inflateRawSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompressSync,
} from 'node:zlib'
import type { UndecodableMessage } from '../src/contracts/reading.ts'
import type { ContentCoding } from '../src/contracts/stream-schema.ts'
import { messageOf } from '../src/core/errors.ts'
import { GzipMember } from '../src/core/gzip-member.ts'

/** Most bytes that a message may have once it is decompressed: as many as a body over HTTP. */
export const inflatedBytesMax = 4 * 1024 * 1024

/** Largest window of a zstd frame, 8 MiB (RFC 8878, section 3.1.1.1.2). */
const windowLogMax = 23

/** What a compressed payload begins with. No format of readings begins like that (but for one message in 2^32). */
const magic = { gzip: [0x1f, 0x8b, 0x08], zstd: [0x28, 0xb5, 0x2f, 0xfd] } as const

const codings = ['gzip', 'zstd'] as const

/** Whether a payload begins as one that was compressed does. */
export function isCompressed(
  payload: Uint8Array,
  among: readonly ContentCoding[] = codings,
): boolean {
  return among.some((coding) => magic[coding].every((byte, index) => payload[index] === byte))
}

/** The content of a payload that is one gzip member or one zstd frame, and nothing more. Pure. */
export function inflated(
  payload: Uint8Array,
  coding: ContentCoding,
): { readonly ok: true; readonly content: Buffer } | UndecodableMessage {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  try {
    return { ok: true, content: coding === 'gzip' ? gunzipped(bytes) : unzstd(bytes) }
  } catch (error) {
    const isBomb = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    const problem = isBomb
      ? `decompressed it has more than ${inflatedBytesMax} bytes`
      : `it is not valid ${coding}: ${messageOf(error)}`
    return { ok: false, problem }
  }
}

function gunzipped(bytes: Buffer): Buffer {
  const member = new GzipMember(bytes)
  const { content, consumed } = run(inflateRawSync, member.deflated)
  if (consumed !== member.deflated.length) throw new RangeError('something follows its end')
  if (!member.isContent(content)) throw new RangeError('its length or checksum is wrong')
  return content
}

function unzstd(bytes: Buffer): Buffer {
  if (!isCompressed(bytes, ['zstd'])) throw new RangeError('it has no header of zstd')
  const params = { [constants.ZSTD_d_windowLogMax]: windowLogMax }
  const { content, consumed } = run(zstdDecompressSync, bytes, { params })
  if (consumed !== bytes.length) throw new RangeError('something follows its end')
  return content
}

/** What came out, and how many of the bytes that took. */
function run(
  decompress: (bytes: Buffer, options: ZlibOptions & ZstdOptions) => unknown,
  bytes: Buffer,
  more: ZstdOptions = {},
) {
  const options = { info: true, maxOutputLength: inflatedBytesMax, ...more }
  // With the option `info` the result is an object, which the types do not know.
  const { buffer, engine } = decompress(bytes, options) as {
    readonly buffer: Buffer
    readonly engine: { readonly bytesWritten: number }
  }
  return { content: buffer, consumed: engine.bytesWritten }
}
