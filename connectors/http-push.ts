import { hash } from 'node:crypto'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { decoders, formatOfMediaType } from '../processors/decode.ts'
import type { ReceiptClock } from '../src/core/clock.ts'
import { DomainError } from '../src/core/errors.ts'
import { idempotencyKeyOf } from '../src/core/idempotency-key.ts'
import { parseId, type StreamId, type UserId } from '../src/core/ids.ts'
import { formatUs } from '../src/core/time.ts'
import type { Acceptor, MessageOutcome, RawMessage } from '../src/pipeline/connector.ts'
import type { CompiledStream, DecodedMessage, RefusedReading } from '../src/pipeline/reading.ts'
import type { PayloadFormat } from '../src/pipeline/stream-schema.ts'
import { pushReadings } from './http-push-schema.ts'

interface Receipt {
  readonly receivedAtUs: number
  readonly isRepeated: boolean
}

export interface HttpPushNeeds {
  readonly intake: Acceptor
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  readonly receipts: ReceiptClock
  /**
   * The time of receipt that a repeated request gets again.
   * @throws DomainError `idempotency_conflict` for another body, `rate_limited` for too many keys
   */
  readonly receiptOf: (
    request: {
      readonly userId: UserId
      readonly streamId: StreamId
      readonly key: string
      readonly bodyDigest: string
    },
    nowUs: number,
  ) => Promise<Receipt>
  /** @throws DomainError when nothing can be accepted now */
  readonly assertReady: () => void
  readonly callerOf: (request: FastifyRequest) => { readonly userId: UserId }
}

/** Largest message. */
const bodyBytesMax = 4 * 1024 * 1024

const pushOptions = {
  bodyLimit: bodyBytesMax,
  schema: pushReadings,
  config: {
    scope: 'data:write',
    takesCompressed: true,
    errors: [
      'journal_full',
      'journal_unavailable',
      'overloaded',
      'reading_rejected',
      'stream_paused',
    ],
  },
} as const

interface PushRequest {
  Params: { streamId: string }
  Body: Buffer
}

/** HTTP pushes a message with `POST /streams/{streamId}/data`: one reading, or an array of them. */
export function httpPush(needs: HttpPushNeeds): FastifyPluginAsync {
  return async (app) => {
    app.removeAllContentTypeParsers()
    // The bytes themselves: they are judged by our rules, and a refused reading is kept as it came.
    const mediaTypes = Object.keys(formatOfMediaType)
    app.addContentTypeParser(mediaTypes, { parseAs: 'buffer' }, (_, body, done) => {
      done(null, body)
    })
    app.post<PushRequest>('/streams/:streamId/data', pushOptions, async (request, reply) => {
      const stream = await streamOf(needs, request)
      needs.assertReady()
      const payload = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const decoded = decoders[formatOf(request)](payload, stream.scan)
      if (!decoded.ok) throw new DomainError('malformed_body', decoded.problem)
      const receipt = await rememberedReceipt(needs, request, { stream, payload, decoded })
      // After a wait: nothing may come into a stream that was deleted or paused meanwhile.
      if (receipt) await streamOf(needs, request)
      const message: RawMessage = {
        stream,
        payload,
        source: `http ${request.ip}`,
        ...(receipt && { receivedAtUs: receipt.receivedAtUs }),
      }
      const outcome = await durable(needs.intake, message, decoded)
      if (receipt?.isRepeated) void reply.header('idempotency-replayed', 'true')
      const { statusCode, body } = answer(stream.streamId, outcome, decoded.isBatch)
      return reply.code(statusCode).header('content-type', 'application/json').send(body)
    })
  }
}

/** The format that the content type names; there is a parser only for those that name one. */
function formatOf({ headers }: FastifyRequest): PayloadFormat {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';')
  return formatOfMediaType[mediaType.trim().toLowerCase()] ?? 'json'
}

async function streamOf(
  { findStream, callerOf }: HttpPushNeeds,
  request: FastifyRequest<PushRequest>,
): Promise<CompiledStream> {
  const text = request.params.streamId
  const id = parseId<StreamId>(text)
  const stream = id && (await findStream(id))
  if (!stream || stream.ownerId !== callerOf(request).userId) {
    throw new DomainError('not_found', `no stream ${text}`)
  }
  if (stream.isPaused) throw new DomainError('stream_paused', 'the stream is paused')
  return stream
}

interface PushedMessage {
  readonly stream: CompiledStream
  readonly payload: Buffer
  readonly decoded: DecodedMessage
}

async function rememberedReceipt(
  { callerOf, receipts, receiptOf }: HttpPushNeeds,
  request: FastifyRequest<PushRequest>,
  { stream, payload, decoded }: PushedMessage,
): Promise<Receipt | undefined> {
  const key = idempotencyKeyOf(request.raw)
  if (key === undefined) return undefined
  return await receiptOf(
    {
      userId: callerOf(request).userId,
      streamId: stream.streamId,
      key,
      bodyDigest: hash('sha256', payload),
    },
    receipts.reserve(decoded.readings.length),
  )
}

/** Resolves when the message is on disk. @throws DomainError when it is not */
async function durable(
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

interface Answer {
  readonly statusCode: number
  readonly body: string
}

/** What became of each reading (D56). */
function answer(streamId: StreamId, { verdicts }: MessageOutcome, isBatch: boolean): Answer {
  const [first] = verdicts
  if (!isBatch && first?.accepted) {
    const timestamp = formatUs(first.timestampUs)
    return { statusCode: 202, body: JSON.stringify({ streamId, timestamp, status: 'accepted' }) }
  }
  const rejected = verdicts.flatMap((verdict, index) =>
    verdict.accepted ? [] : [{ index, ...explained(verdict) }],
  )
  if (!isBatch) {
    const refusal = { error: 'reading_rejected', statusCode: 422, reason: rejected[0]?.error }
    const { message, details } = rejected[0] ?? {}
    return { statusCode: 422, body: JSON.stringify({ ...refusal, message, details }) }
  }
  const accepted = verdicts.length - rejected.length
  if (accepted > 0) return { statusCode: 202, body: JSON.stringify({ accepted, rejected }) }
  const refusal = {
    error: 'reading_rejected',
    message: 'every reading of the batch was refused',
    statusCode: 422,
  }
  return { statusCode: 422, body: JSON.stringify({ ...refusal, accepted, rejected }) }
}

function explained({ reason, message, details }: RefusedReading) {
  return { error: reason, message, details }
}
