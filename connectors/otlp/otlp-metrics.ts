import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { otlpRecords } from '../../processors/decode-otlp.ts'
import { DomainError } from '../../src/core/errors.ts'
import { type ErrorForm, errorsIn } from '../../src/requests/http/error-handler.ts'
import { recordsByDevice } from '../fleet-push/device-parts.ts'
import { fleetOptions } from '../fleet-push/fleet-push.ts'
import { type FleetNames, targetFleet } from '../fleet-push/fleet-target.ts'
import { type KeptPartsNeeds, type KeptRows, keepParts } from '../fleet-push/kept-parts.ts'
import { withRemedies } from '../fleet-push/protocol-remedies.ts'
import { takeAnyBytes } from '../http/http-readings.ts'
import {
  type OtlpAnswer,
  otlpAnswer,
  otlpEncodingOf,
  otlpError,
  type RejectedDataPoints,
} from './otlp-answers.ts'
import { exportMetrics } from './otlp-metrics-api.ts'

export type OtlpMetricsNeeds = KeptPartsNeeds

/** Rejected points that one answer says something about. */
const namedMax = 10

/** Clients of OpenTelemetry export metrics here, over HTTP. */
export function otlpMetrics(needs: OtlpMetricsNeeds): FastifyPluginAsync {
  return async (app) => {
    takeAnyBytes(app)
    app.setErrorHandler(errorsIn(errorForm))
    app.post<{ Querystring: FleetNames }>(
      '/v1/metrics',
      { ...fleetOptions, schema: exportMetrics },
      async (request, reply) => {
        const encoding = otlpEncodingOf(request.headers['content-type'])
        if (encoding === undefined) {
          throw new DomainError('unsupported_media_type', 'metrics come as Protobuf or JSON', {
            remedy: 'Send Content-Type: application/x-protobuf, or application/json.',
          })
        }
        const kept = await keep(needs, request, encoding)
        return answered(reply, otlpAnswer(encoding, rejectedOf(kept)))
      },
    )
  }
}

async function keep(
  needs: OtlpMetricsNeeds,
  request: FastifyRequest<{ Querystring: FleetNames }>,
  encoding: NonNullable<ReturnType<typeof otlpEncodingOf>>,
): Promise<KeptRows> {
  const fleet = await targetFleet(needs, request, request.query)
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const read = otlpRecords(body, encoding)
  if (!read.ok) throw new DomainError('malformed_body', read.problem)
  const message = recordsByDevice(read.records, { deviceField: fleet.deviceField, format: 'otlp' })
  return await keepParts(needs, request, { fleet, message })
}

function rejectedOf({ rejected }: KeptRows): RejectedDataPoints | undefined {
  if (rejected.length === 0) return undefined
  const named = rejected
    .slice(0, namedMax)
    .map(({ index, message }) => `point ${index + 1}: ${message}`)
  return { count: rejected.length, message: named.join('; ') }
}

function answered(reply: FastifyReply, { statusCode, headers, body }: OtlpAnswer): FastifyReply {
  return reply.code(statusCode).headers(headers).send(body)
}

/** As the request is written; Protobuf where it says nothing that can be answered in. */
const errorForm: ErrorForm = withRemedies(
  (body, { headers }) => {
    const encoding = otlpEncodingOf(headers['content-type']) ?? 'protobuf'
    const { statusCode, headers: own, body: payload } = otlpError(encoding, body)
    return { statusCode, contentType: own['content-type'] ?? '', payload }
  },
  {
    malformed_body:
      'Send an ExportMetricsServiceRequest of OTLP in Protobuf or JSON, as Content-Type says, with at most 10,000 data points.',
  },
)
