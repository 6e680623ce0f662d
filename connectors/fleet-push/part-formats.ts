import type { FastifyRequest } from 'fastify'
import { formatOfMediaType } from '../../processors/decode.ts'
import { recordReaders } from '../../processors/record-formats.ts'
import { DomainError } from '../../src/core/errors.ts'
import { type MessageParts, recordsByDevice } from './device-parts.ts'
import type { TargetFleet } from './fleet-target.ts'

/**
 * The body of a request in a format whose rows name their values, by devices; undefined for another format.
 *
 * @throws DomainError `malformed_body`
 */
export function partsOfBody(
  { body, headers }: FastifyRequest,
  { deviceField }: TargetFleet,
): MessageParts | undefined {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';')
  const format = formatOfMediaType[mediaType.trim().toLowerCase()] ?? 'json'
  const read = recordReaders[format]
  if (read === undefined) return undefined
  const found = read(Buffer.isBuffer(body) ? body : Buffer.alloc(0))
  if ('problem' in found) throw new DomainError('malformed_body', found.problem)
  return recordsByDevice(found, { deviceField, format })
}
