import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Acceptor } from '../../src/contracts/connector.ts'
import type { CompiledStream, Verdict } from '../../src/contracts/reading.ts'
import { conflict } from '../../src/core/conflict.ts'
import { parseId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { notFound } from '../../src/core/not-found.ts'
import { parseJson } from '../../src/core/parse-json.ts'
import { formatUs } from '../../src/core/time.ts'
import { rejectionOf, sentReadings, takeBytes } from './http-readings.ts'
import { type ValidatedBody, type ValidatedReading, validateReadings } from './http-validate-api.ts'
import { refuseUnreadQuery } from './request-context.ts'
import { writtenByService } from './sorted-readings.ts'

export interface HttpValidateNeeds {
  readonly intake: Acceptor
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  /** Answers with what is planned, or again with what the same request was answered under its key. */
  readonly answerOnce: (
    sent: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    plan: () => Promise<object>,
  ) => Promise<FastifyReply>
  readonly callerOf: (request: FastifyRequest) => { readonly userId: UserId }
}

interface OneStream {
  Params: { streamId: string }
}

const validateOptions = {
  bodyLimit: 4 * 1024 * 1024,
  schema: validateReadings,
  config: {
    scope: 'data:write',
    takesBasic: true,
    takesCompressed: true,
    passesSnappy: true,
    errors: ['conflict'],
  },
} as const

/**
 * Says what would become of readings, and keeps and counts nothing of them
 * (decisions.md#quarantine).
 */
export function httpValidate(needs: HttpValidateNeeds): FastifyPluginAsync {
  return async (app) => {
    takeBytes(app)
    app.post<OneStream>('/streams/:streamId/validate', validateOptions, (request, reply) =>
      needs.answerOnce({ request, reply }, () => judged(needs, request)),
    )
  }
}

async function judged(
  needs: HttpValidateNeeds,
  request: FastifyRequest<OneStream>,
): Promise<ValidatedBody> {
  const stream = await ownStream(needs, request)
  refuseUnreadQuery(request, stream)
  const { decoded } = sentReadings(request, stream)
  const readings = needs.intake.judge(stream, decoded).map(verdictBody)
  const accepted = readings.filter(({ status }) => status !== 'rejected').length
  const counts = { accepted, rejected: readings.length - accepted }
  return { streamId: stream.streamId, version: stream.version, ...counts, readings }
}

async function ownStream(
  { findStream, callerOf }: HttpValidateNeeds,
  request: FastifyRequest<OneStream>,
): Promise<CompiledStream> {
  const text = request.params.streamId
  const id = parseId<StreamId>(text)
  const stream = id && (await findStream(id))
  if (stream?.ownerId !== callerOf(request).userId) {
    throw notFound('stream', text)
  }
  if (stream.isInternal)
    throw conflict(
      writtenByService,
      'Name another stream: the type of this one is service, and GET /streams has the type of each.',
    )
  return stream
}

function verdictBody(verdict: Verdict, index: number): ValidatedReading {
  if (!verdict.accepted) return { status: 'rejected', ...rejectionOf(index, verdict) }
  const timestamp = formatUs(verdict.timestampUs)
  if (verdict.isFiltered) return { index, status: 'filtered', timestamp }
  const { values, flagged, extra } = verdict
  return {
    index,
    status: 'accepted',
    timestamp,
    values: parseJson(values) as object,
    flagged,
    ...(extra !== '' && { extra: parseJson(extra) as object }),
  }
}
