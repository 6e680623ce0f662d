import { hash } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Acceptor } from '../../src/contracts/connector.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { ReceiptClock } from '../../src/core/clock.ts'
import { conflict } from '../../src/core/conflict.ts'
import { DomainError } from '../../src/core/errors.ts'
import { idempotencyKeyOf } from '../../src/core/idempotency-key.ts'
import { parseId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { notFound } from '../../src/core/not-found.ts'
import type { TokenBucket } from '../../src/core/token-bucket.ts'
import { pushReadings, pushToStreams } from './http-push-api.ts'
import {
  answerMany,
  answerOne,
  durable,
  readingsOptions,
  rejectionOf,
  sentReadings,
  takeBytes,
} from './http-readings.ts'
import { refuseUnreadQuery, requestContext } from './request-context.ts'
import { byStreamId, sortedByStream, writtenByService } from './sorted-readings.ts'

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
      readonly streamId: StreamId | 'several'
      readonly key: string
      readonly bodyDigest: string
    },
    nowUs: number,
  ) => Promise<Receipt>
  /** @throws DomainError when nothing can be accepted now */
  readonly assertReady: () => void
  readonly callerOf: (request: FastifyRequest) => Sender
}

/** Who sends readings: a user, or one of the user's devices, which is limited to its streams. */
interface Sender {
  readonly userId: UserId
  readonly device?: {
    readonly id: string
    readonly streamIds: ReadonlySet<StreamId>
    readonly bucket: TokenBucket | undefined
  }
}

interface OneStream {
  Params: { streamId: string }
}

/** HTTP pushes readings of one stream, or of several. */
export function httpPush(needs: HttpPushNeeds): FastifyPluginAsync {
  return async (app) => {
    takeBytes(app)
    const { config } = readingsOptions
    app.post<OneStream>(
      '/streams/:streamId/data',
      {
        ...readingsOptions,
        schema: pushReadings,
        config: { ...config, errors: [...config.errors, 'conflict', 'stream_paused'] },
      },
      (request, reply) => pushToOne(needs, request, reply),
    )
    app.post('/data', { ...readingsOptions, schema: pushToStreams }, (request, reply) =>
      pushToSeveral(needs, request, reply),
    )
  }
}

async function pushToOne(
  needs: HttpPushNeeds,
  request: FastifyRequest<OneStream>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { streamId } = request.params
  return await pushTo(needs, { request, reply }, () => openStream(needs, request, streamId))
}

/**
 * Keeps the readings of a body in one stream.
 *
 * @param open the stream as it is now. @throws DomainError where it takes no readings
 */
export async function pushTo(
  needs: HttpPushNeeds,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  open: () => Promise<CompiledStream>,
): Promise<FastifyReply> {
  const before = await open()
  refuseUnreadQuery(request, before)
  const { streamId } = before
  needs.assertReady()
  const sent = sentReadings(request, before)
  spend(needs, request, sent.decoded.readings.length)
  const { payload, decoded: first } = sent
  const asked = { payload, readings: first.readings.length, streamId }
  const { receivedAtUs, isRepeated } = await receiptOf(needs, request, asked)
  // After a wait: nothing may come into a stream that was deleted or paused meanwhile.
  const stream = await open()
  // What was read by a definition fits that one only, and it may be replaced by now.
  const { decoded, context } = stream === before ? sent : sentReadings(request, stream)
  const from = { payload: sent.payload, source: `http ${request.ip}`, receivedAtUs }
  const message = { stream, ...from, ...context }
  const { verdicts } = await durable(needs.intake, message, decoded)
  if (isRepeated) void reply.header('idempotency-replayed', 'true')
  const [only] = verdicts
  if (!decoded.isBatch && only !== undefined) return answerOne(reply, streamId, only)
  const rejected = verdicts.flatMap((verdict, index) =>
    verdict.accepted ? [] : [rejectionOf(index, verdict)],
  )
  return answerMany(reply, verdicts.length, rejected)
}

/** Readings that name no stream of the caller are refused by their place, and were not received. */
async function pushToSeveral(
  needs: HttpPushNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await pushSorted(
    needs,
    { request, reply },
    { addressing: byStreamId, find: (text) => ownStream(needs, request, text) },
  )
}

/** Keeps the readings of a body in the streams that they name. */
export async function pushSorted(
  needs: HttpPushNeeds,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  {
    takesOne = false,
    ...named
  }: Pick<Parameters<typeof sortedByStream>[1], 'addressing' | 'find' | 'prepare'> & {
    /** Whether the body may be one reading, and no list. */
    readonly takesOne?: boolean
  },
): Promise<FastifyReply> {
  needs.assertReady()
  const sent = sentReadings(request)
  if (!sent.decoded.isBatch && !takesOne)
    throw new DomainError('malformed_body', 'the body must be an array of readings')
  const elements = sent.decoded.readings.length
  spend(needs, request, elements)
  const { batches, rejected, receipt } = await sortedByStream(sent, {
    ...named,
    mayWait: idempotencyKeyOf(request.raw) !== undefined,
    receive: (spare) =>
      receiptOf(needs, request, {
        payload: sent.payload,
        readings: elements,
        streamId: 'several',
        spare,
      }),
    contextFor: (stream) => requestContext(request, stream),
  })
  const found = batches.reduce((sum, { elementOf }) => sum + elementOf.length, rejected.length)
  spend(needs, request, Math.max(0, found - elements))
  const { receivedAtUs, isRepeated } = receipt
  const from = { payload: sent.payload, source: `http ${request.ip}`, receivedAtUs }
  // All are accepted in one turn, so that they are committed together.
  const kept = batches.map(async ({ stream, decoded, context, elementOf }) => {
    const { verdicts } = await durable(needs.intake, { stream, ...from, ...context }, decoded)
    return verdicts.map((verdict, index) => ({ verdict, index: elementOf[index] ?? index }))
  })
  const judged = (await Promise.all(kept)).flat()
  const refused = judged.flatMap(({ verdict, index }) =>
    verdict.accepted ? [] : [rejectionOf(index, verdict)],
  )
  if (isRepeated) void reply.header('idempotency-replayed', 'true')
  return answerMany(
    reply,
    found,
    [...rejected, ...refused].toSorted((left, right) => left.index - right.index),
  )
}

async function ownStream(
  { findStream, callerOf }: HttpPushNeeds,
  request: FastifyRequest,
  text: string,
): Promise<CompiledStream | undefined> {
  const { userId, device } = callerOf(request)
  const id = parseId<StreamId>(text)
  if (id === undefined || device?.streamIds.has(id) === false) return undefined
  const stream = await findStream(id)
  return stream?.ownerId === userId ? stream : undefined
}

/** @throws DomainError `rate_limited` for a device that sends more readings than it may */
export function spend(
  { callerOf }: HttpPushNeeds,
  request: FastifyRequest,
  readings: number,
): void {
  const bucket = callerOf(request).device?.bucket
  if (bucket === undefined || readings === 0) return
  const waitMs = bucket.waitMs(readings)
  if (waitMs > 0) {
    const message = `the device may send ${bucket.rate.perSecond} readings a second`
    throw new DomainError('rate_limited', message, { retryAfter: Math.ceil(waitMs / 1_000) })
  }
  bucket.spend(readings)
}

/** @throws DomainError `not_found`, `conflict` for a stream of the service's own, or `stream_paused` */
export async function openStream(
  needs: HttpPushNeeds,
  request: FastifyRequest,
  text: string,
): Promise<CompiledStream> {
  const stream = await ownStream(needs, request, text)
  if (stream === undefined) throw notFound('stream', text)
  if (stream.isInternal)
    throw conflict(
      writtenByService,
      'Send to another stream: the type of this one is service, and GET /streams has the type of each.',
    )
  if (stream.isPaused) throw new DomainError('stream_paused', 'the stream is paused')
  return stream
}

interface Received {
  readonly payload: Uint8Array
  readonly readings: number
  readonly streamId: StreamId | 'several'
  /** Readings more that it may turn out to have. */
  readonly spare?: number
}

/** The time of receipt: under an Idempotency-Key, the one that the request had the first time. */
export async function receiptOf(
  { callerOf, receipts, receiptOf: remembered }: HttpPushNeeds,
  request: FastifyRequest,
  { payload, readings, streamId, spare = 0 }: Received,
): Promise<Receipt> {
  const receivedAtUs = receipts.reserve(readings, spare)
  const key = idempotencyKeyOf(request.raw)
  if (key === undefined) return { receivedAtUs, isRepeated: false }
  const { userId, device } = callerOf(request)
  const bodyDigest = hash('sha256', payload)
  // Devices of one user may well count their requests alike.
  const ownKey = device === undefined ? key : `${device.id} ${key}`
  return await remembered({ userId, streamId, key: ownKey, bodyDigest }, receivedAtUs)
}
