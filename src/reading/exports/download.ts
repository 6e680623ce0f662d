import type { FastifyReply } from 'fastify'
import { fileStream } from '../../core/heard-streams.ts'
import { sendBytes } from '../../requests/http/sent-bytes.ts'
import type { Answering } from '../../streams/data-streams/export-route.ts'
import { contentTypes, type ExportFile, type ExportFormat } from './export-job.ts'

export interface Download {
  readonly path: string
  readonly file: ExportFile
  readonly format: ExportFormat
}

/**
 * Sends a file of an export, or the part that is asked for.
 *
 * @throws DomainError `range_not_satisfiable`
 */
export async function sendFile(
  { path, file, format }: Download,
  answering: Answering,
): Promise<FastifyReply> {
  const { bytes, name, sha256 } = file
  const read = (range?: { readonly first: number; readonly last: number }) =>
    fileStream(path, range && { start: range.first, end: range.last })
  const sent = { bytes, name, etag: sha256, mediaType: contentTypes[format], read }
  return await sendBytes(sent, answering)
}
