import {
  constants,
  inflateRaw,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompress,
} from 'node:zlib'
import { DomainError, messageOf } from '../../core/errors.ts'
import { GzipMember } from '../../core/gzip-member.ts'

export type ContentCoding = 'gzip' | 'zstd'

/** Bytes that one call of a decompressor makes: a thread is not held for longer than that takes. */
const chunkSize = 64 * 1024

/** Largest window of a zstd frame, 8 MiB: what every decoder should take (RFC 8878, section 3.1.1.1.2). */
const windowLogMax = 23

/** A body that is not decompressed yet. */
export interface CompressedBody {
  readonly coding: ContentCoding
  readonly bytes: Buffer
  /** Most bytes that may come out of it. */
  readonly bytesMax: number
}

/**
 * The coding that a header names; nothing for none. One at a time: nobody means well with two.
 *
 * @throws DomainError `unsupported_media_type`
 */
export function contentCodingOf(header: string): ContentCoding | undefined {
  switch (header.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined
    // RFC 9110, section 8.4.1.3: the two names mean the same.
    case 'gzip':
    case 'x-gzip':
      return 'gzip'
    case 'zstd':
      return 'zstd'
    default:
      throw unknownCoding()
  }
}

/** What is said of a body in another coding. */
export function unknownCoding(): DomainError {
  return new DomainError('unsupported_media_type', 'the content coding must be gzip or zstd', {
    remedy:
      'Compress the body with gzip or zstd and name that in Content-Encoding, or leave it out.',
  })
}

/**
 * The most bytes that may come out of a body: what it announces, if that is allowed.
 *
 * @throws DomainError `malformed_body` for what is no such body
 */
export function inflatedBytesMax(body: CompressedBody): number {
  // What announces too much may also be cut off: which of both is found by reading it.
  return Math.min(announcedBytes(body), body.bytesMax)
}

/**
 * The content of a compressed body, which has to be one gzip member or one zstd frame. It is
 * decompressed piece by piece in threads of Node, and no further than is allowed.
 *
 * @throws DomainError `body_too_large`, or `malformed_body` for what is cut off, is longer or
 *   shorter than it says, or is followed by anything
 */
export async function inflate(body: CompressedBody): Promise<Buffer> {
  const { coding, bytes } = body
  const lengthMax = inflatedBytesMax(body)
  // Node takes no limit of 0.
  const options = { chunkSize, info: true, maxOutputLength: Math.max(lengthMax, 1) }
  try {
    if (coding === 'zstd') {
      const params = { [constants.ZSTD_d_windowLogMax]: windowLogMax }
      const { content, consumed } = await run(zstdDecompress, bytes, { ...options, params })
      if (consumed !== bytes.length) throw malformed(body, 'something follows its end')
      return content
    }
    const member = new GzipMember(bytes)
    const { content, consumed } = await run(inflateRaw, member.deflated, options)
    if (consumed !== member.deflated.length) throw malformed(body, 'something follows its end')
    if (!member.isContent(content)) throw malformed(body, 'its length or checksum is wrong')
    return content
  } catch (error) {
    throw problemOf(error, body, lengthMax)
  }
}

type Decompress = (
  bytes: Buffer,
  options: ZlibOptions & ZstdOptions,
  done: (error: Error | null, result: unknown) => void,
) => void

/** What came out, and how many of the bytes that took. */
async function run(decompress: Decompress, bytes: Buffer, options: ZlibOptions & ZstdOptions) {
  const { promise, resolve, reject } = Promise.withResolvers<Inflated>()
  decompress(bytes, options, (error, result) => {
    // With the option `info` the result is an object, which the types do not know.
    if (error === null) resolve(result as Inflated)
    else reject(error)
  })
  const { buffer, engine } = await promise
  return { content: buffer, consumed: engine.bytesWritten }
}

interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function announcedBytes(body: CompressedBody): number {
  const { coding, bytes, bytesMax } = body
  try {
    return coding === 'gzip' ? new GzipMember(bytes).length : (zstdContentBytes(bytes) ?? bytesMax)
  } catch (error) {
    throw malformed(body, messageOf(error))
  }
}

const zstdMagic = 0x28b52ffd

/** The length that the header of a zstd frame announces, if it does (RFC 8878, section 3.1.1.1). */
function zstdContentBytes(bytes: Buffer): number | undefined {
  if (bytes.readUInt32BE(0) !== zstdMagic) throw new RangeError('it has no header of zstd')
  const descriptor = bytes.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  const start = (isSingleSegment ? 5 : 6) + dictionaryBytes
  switch (descriptor >> 6) {
    case 0:
      return isSingleSegment ? bytes.readUInt8(start) : undefined
    case 1:
      return bytes.readUInt16LE(start) + 256
    case 2:
      return bytes.readUInt32LE(start)
    default:
      return Number(bytes.readBigUInt64LE(start))
  }
}

function problemOf(error: unknown, body: CompressedBody, lengthMax: number): DomainError {
  if (error instanceof DomainError) return error
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ERR_BUFFER_TOO_LARGE') return malformed(body, messageOf(error))
  if (lengthMax < body.bytesMax) return malformed(body, 'it is longer than it says')
  return new DomainError('body_too_large', `decompressed the body has more than ${lengthMax} bytes`)
}

function malformed({ coding }: CompressedBody, problem: string): DomainError {
  return new DomainError('malformed_body', `the body is not valid ${coding}: ${problem}`)
}
