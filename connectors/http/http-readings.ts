import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  decoderOf,
  decoders,
  formatOfMediaType,
  isSelfDescribing,
} from '../../processors/decode.ts'
import { sharedLineDecoder } from '../../processors/decode-lines.ts'
import { formatOfBody } from '../../processors/media-types.ts'
import type { Acceptor, MessageOutcome, RawMessage } from '../../src/contracts/connector.ts'
import type { MessageContext } from '../../src/contracts/mapping.ts'
import type {
  CompiledStream,
  DecodedMessage,
  RefusedReading,
  Verdict,
} from '../../src/contracts/reading.ts'
import type { PayloadFormat } from '../../src/contracts/stream-schema.ts'
import { DomainError, remedyOf } from '../../src/core/errors.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import { isSnappy } from '../../src/core/snappy-coding.ts'
import { formatUs } from '../../src/core/time.ts'
import { unknownCoding } from '../../src/requests/http/content-coding.ts'
import type { AcceptedBody, BatchBody, Rejection } from './http-push-api.ts'
import { precisionOf, requestContext } from './request-context.ts'

/** Readings in the body of a request, and what is answered about them. */

/** Options of every route that takes readings. */
export const readingsOptions = {
  bodyLimit: 4 * 1024 * 1024,
  config: {
    scope: 'data:write',
    callers: ['user', 'device'],
    takesBasic: true,
    takesCompressed: true,
    passesSnappy: true,
    errors: ['disk_low', 'journal_full', 'journal_unavailable', 'overloaded', 'reading_rejected'],
  },
} as const

/** Leaves bodies as they are: they are judged by our rules, and a refused reading is kept as it came. */
export function takeBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const mediaTypes = Object.keys(formatOfMediaType)
  app.addContentTypeParser(mediaTypes, { parseAs: 'buffer' }, (_, body, done) => {
    done(null, body)
  })
}

/** Leaves bodies as they are, whatever they say that they are: clients of other protocols say little of it. */
export function takeAnyBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => {
    done(null, body)
  })
}

export interface SentReadings {
  readonly payload: Buffer
  readonly decoded: DecodedMessage
  /** What is known of it beside its bytes. */
  readonly context: MessageContext
}

/**
 * The readings of a body for a stream; without one, of a body whose readings name theirs.
 *
 * @throws DomainError `malformed_body`, or `unsupported_media_type` for a format that only the
 *   definition of a stream could explain
 */
export function sentReadings(request: FastifyRequest, stream?: CompiledStream): SentReadings {
  const { body, headers } = request
  const payload = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  // There is a parser only for types that name a format.
  const format = formatOfBody(headers, stream?.format) ?? 'json'
  if (isSnappy(headers['content-encoding']) && format !== 'prometheus-remote-write')
    throw unknownCoding()
  const decoded = decode(payload, { request, format }, stream)
  if (!decoded.ok) throw new DomainError('malformed_body', decoded.problem)
  const context = stream === undefined ? {} : requestContext(request, stream)
  return { payload, decoded: stream?.map?.(decoded, context) ?? decoded, context }
}

function decode(
  payload: Buffer,
  { request, format }: { readonly request: FastifyRequest; readonly format: PayloadFormat },
  stream: CompiledStream | undefined,
) {
  if (stream !== undefined) {
    const precision = format === 'line-protocol' ? precisionOf(request) : undefined
    if (precision !== undefined) return sharedLineDecoder(stream, precision)(payload, stream.scan)
    const decoder = stream.format === format ? stream.decode : decoderOf(format, stream)
    return decoder(payload, stream.scan)
  }
  if (isSelfDescribing(format)) return decoders[format](payload)
  throw new DomainError('unsupported_media_type', 'readings of several streams need another format')
}

/** Resolves when the message is on disk. @throws DomainError when it is not */
export async function durable(
  intake: Acceptor,
  message: RawMessage,
  decoded: DecodedMessage,
): Promise<MessageOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const outcome = intake.acceptDecoded(message, decoded, (error) => {
    if (error === undefined) resolve()
    else reject(error)
  })
  await promise
  return outcome
}

export function rejectionOf(index: number, refusal: RefusedReading): Rejection {
  const { reason, message, details } = refusal
  return { index, error: reason, message, remedy: refusalRemedy(reason), details }
}

/** What became of a single reading (decisions.md#answers-to-readings). */
export function answerOne(reply: FastifyReply, streamId: StreamId, verdict: Verdict): FastifyReply {
  if (verdict.accepted) {
    const timestamp = formatUs(verdict.timestampUs)
    return sent(reply, 202, { streamId, timestamp, status: 'accepted' } satisfies AcceptedBody)
  }
  const { reason, message, details } = verdict
  const remedy = refusalRemedy(reason)
  const refusal = { error: 'reading_rejected', statusCode: 422, reason, message, remedy, details }
  return sent(reply, 422, refusal)
}

/** What became of the readings of a batch (decisions.md#answers-to-readings). */
export function answerMany(
  reply: FastifyReply,
  count: number,
  rejected: readonly Rejection[],
): FastifyReply {
  const accepted = count - rejected.length
  // Where a mapping finds a list without readings, none was refused.
  if (accepted > 0 || count === 0) {
    return sent(reply, 202, { accepted, rejected } satisfies BatchBody)
  }
  const message = 'every reading of the batch was refused'
  const remedy = remedyOf('reading_rejected')
  const refusal = { error: 'reading_rejected', message, statusCode: 422, remedy }
  return sent(reply, 422, { ...refusal, accepted, rejected })
}

/** Sends a body as text: nothing of it is looked at again. */
function sent(reply: FastifyReply, statusCode: number, body: object): FastifyReply {
  const text = JSON.stringify(body)
  return reply.code(statusCode).header('content-type', 'application/json').send(text)
}
