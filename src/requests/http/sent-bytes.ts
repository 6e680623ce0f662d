import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import { type ByteRange, byteRange } from './byte-range.ts'

const anyBytes = { '*/*': { schema: { type: 'string', format: 'binary' } } }

/** Answers of a route that sends files of whatever type. */
export const fileAnswers = {
  200: { description: 'The file. Its ETag is its CID.', content: anyBytes },
  206: { description: 'The part that the Range header asks for.', content: anyBytes },
  304: { description: 'The client has it: If-None-Match names its ETag.', type: 'null' },
} as const

/** A file as it is sent. */
export interface SentBytes {
  readonly bytes: number
  /** Another one for other bytes. */
  readonly etag: string
  /** What it is to be called where it is kept. */
  readonly name: string
  readonly mediaType: string
  /** All of it, or a part. */
  readonly read: (range: ByteRange | undefined) => Readable
}

/**
 * Sends a file, or the part that is asked for, so that a download that broke off can go on. It is read
 * as fast as it is taken. A HEAD is told the same without that, also of a part (RFC 9110, section 9.3.2).
 *
 * @throws DomainError `range_not_satisfiable`; whatever its first bytes throw
 */
export async function sendBytes(
  file: SentBytes,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { bytes, name, mediaType } = file
  const etag = `"${file.etag}"`
  void reply.header('accept-ranges', 'bytes').header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const ifRange = request.headers['if-range']
  // Another file than the one that was begun is wanted as a whole (RFC 9110, section 13.1.5).
  const isSame = ifRange === undefined || ifRange === etag
  const range = isSame ? byteRange(request.headers.range, bytes) : undefined
  if (range === 'unsatisfiable') {
    void reply.header('content-range', `bytes */${bytes}`)
    throw new DomainError('range_not_satisfiable', `the file has ${bytes} bytes`)
  }
  // Nothing where only the headers are wanted: Fastify would read all of it, and throw it away.
  const isEmpty = request.method === 'HEAD' || bytes === 0
  const read = isEmpty ? streamOf([]) : await begun(file.read(range), reply)
  void reply.type(mediaType).header('content-disposition', attachmentNamed(name))
  if (range === undefined) {
    void reply.header('content-length', bytes)
  } else {
    const { first, last } = range
    void reply
      .code(206)
      .header('content-range', `bytes ${first}-${last}/${bytes}`)
      .header('content-length', last - first + 1)
  }
  return reply.send(read)
}

/** A stream with its first bytes: a file that cannot be read at all is an error, and no file. */
async function begun(stream: Readable, reply: FastifyReply): Promise<Readable> {
  try {
    await once(stream, 'readable')
    return stream
  } catch (error) {
    void reply.removeHeader('accept-ranges').removeHeader('etag')
    throw error
  }
}

/** Whether the sender has it already (RFC 9110, section 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** A name in two spellings: one that everybody reads, and the right one (RFC 6266, section 4.3). */
export function attachmentNamed(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  if (plain === name) return `attachment; filename="${name}"`
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
