import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { fileStream, streamOf } from '../../core/heard-streams.ts'
import type { Answering } from '../../streams/data-streams/export-route.ts'
import { byteRange } from './byte-range.ts'
import { contentTypes, type ExportFile, type ExportFormat } from './export-job.ts'

export interface Download {
  readonly path: string
  readonly file: ExportFile
  readonly format: ExportFormat
}

/**
 * Sends a file, or the part that is asked for, so that a download that broke off can go on. It is read
 * as fast as it is taken. A HEAD is told the same without that, also of a part (RFC 9110, section 9.3.2).
 *
 * @throws DomainError `range_not_satisfiable`
 */
export function sendFile(
  { path, file, format }: Download,
  { request, reply }: Answering,
): FastifyReply {
  const { bytes, name, sha256 } = file
  const etag = `"${sha256}"`
  const ifRange = request.headers['if-range']
  // Another file than the one that was begun is wanted as a whole (RFC 9110, section 13.1.5).
  const isSame = ifRange === undefined || ifRange === etag
  const range = isSame ? byteRange(request.headers.range, bytes) : undefined
  if (range === 'unsatisfiable') {
    void reply.header('content-range', `bytes */${bytes}`)
    throw new DomainError('range_not_satisfiable', `the file has ${bytes} bytes`)
  }
  void reply
    .type(contentTypes[format])
    .header('accept-ranges', 'bytes')
    .header('etag', etag)
    .header('content-disposition', `attachment; filename="${name}"`)
  if (range === undefined) {
    void reply.header('content-length', bytes)
    return reply.send(bytes === 0 ? '' : contentOf(path, { request }))
  }
  const { first, last } = range
  void reply
    .code(206)
    .header('content-range', `bytes ${first}-${last}/${bytes}`)
    .header('content-length', last - first + 1)
  return reply.send(contentOf(path, { request, start: first, end: last }))
}

/** Nothing where only the headers are wanted: Fastify would read all of it, and throw it away. */
function contentOf(
  path: string,
  { request, ...part }: Pick<Answering, 'request'> & { start?: number; end?: number },
): Readable {
  return request.method === 'HEAD' ? streamOf([]) : fileStream(path, part)
}
