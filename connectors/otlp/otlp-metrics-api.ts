import * as s from '../../src/requests/http/schema.ts'
import { fleetNames, refusedWith } from '../fleet-push/fleet-push-api.ts'

const binary = s.describedOnly({ type: 'string', format: 'binary' })

function inEither(description: string, schema: s.JsonSchema) {
  return {
    description,
    content: {
      'application/json': { schema: s.describedOnly(schema) },
      'application/x-protobuf': { schema: binary },
    },
  }
}

/** `POST /v1/metrics` of OTLP over HTTP. */
export const exportMetrics = {
  operationId: 'exportMetrics',
  summary: 'Take metrics of OpenTelemetry.',
  description: [
    'An ExportMetricsServiceRequest of OTLP, in Protobuf or JSON. Each data point is a reading of the device that the',
    'attribute `source.deviceField` of the fleet names. `fleet`, `bucket` or `db` names the fleet. 200 means that all points are on disk',
    'that `partialSuccess` does not count as rejected; those are in the quarantine of their streams.',
  ].join(' '),
  tags: ['Readings'],
  headers: s.keyHeaders,
  querystring: s.query(fleetNames),
  body: {
    content: {
      'application/json': { schema: s.describedOnly({ type: 'object' }) },
      'application/x-protobuf': { schema: binary },
    },
  },
  response: {
    200: inEither('An ExportMetricsServiceResponse.', { type: 'object' }),
    ...refusedWith(inEither('A google.rpc.Status.', { type: 'object' })),
  },
} as const
