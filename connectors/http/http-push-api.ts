import type { Static, TSchema } from 'typebox'
import { formatOfMediaType } from '../../processors/decode.ts'
import type { PayloadFormat } from '../../src/contracts/stream-schema.ts'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import { errorDetail, errorSchema } from '../../src/requests/http/openapi/error-answers.ts'
import { exampleOf } from '../../src/requests/http/openapi/example.ts'
import * as s from '../../src/requests/http/schema.ts'
import { anyQuery } from './request-context.ts'

const reading = s.component('Reading', {
  type: 'object',
  description: 'The fields of the stream, and its time unless the time of receipt will do.',
  properties: { timestamp: { ...s.dateTime, description: 'Or the timestampField of the source.' } },
  additionalProperties: true,
  examples: [{ timestamp: '2026-01-31T10:00:00Z', temperature: 21.5 }],
})

export const rejectionMembers = {
  index: { ...s.count, description: 'Its place in the batch.' },
  error: { ...s.text, examples: ['schema_mismatch'], description: 'Why; as in the quarantine.' },
  message: s.text,
  remedy: { ...s.text, description: 'What to do about it, for people.' },
  details: s.listOf(errorDetail),
}

const rejectionSchema = s.component(
  'RejectedReading',
  s.record(rejectionMembers, { optional: ['remedy', 'details'] }),
)

/** Why a reading of a batch was not taken (decisions.md#answers-to-readings); ours always say all. */
export type Rejection = Required<Static<typeof rejectionSchema>>

/** The formats whose bytes say all that there is to know. */
export function selfDescribing(message: TSchema, line: s.JsonSchema) {
  const lines = {
    type: 'string',
    description: 'One reading in each line; blank lines are passed over.',
    examples: [`${JSON.stringify(exampleOf(line))}\n`],
  }
  return { json: message, ndjson: lines, cbor: message, msgpack: message }
}

const senmlPack = {
  type: 'array',
  description: 'A pack of records (RFC 8428); those of one time are one reading.',
  items: { type: 'object' },
}

/** The formats that are read by the definition of the stream. */
export const readByDefinition = {
  plain: { type: 'string', description: 'The value of one field: `source.field`.' },
  protobuf: {
    type: 'string',
    format: 'binary',
    description:
      'A message of the type that `source.protobuf` names; where `source.format` is `otlp`, an ExportMetricsServiceRequest.',
  },
  'senml-json': senmlPack,
  'senml-cbor': senmlPack,
  csv: { type: 'string', description: 'Lines of values, in the order of `source.columns`.' },
  prometheus: { type: 'string', description: 'Samples as they are exposed to Prometheus.' },
  form: { type: 'string', description: 'Pairs of names and values: the members of one reading.' },
  'line-protocol': {
    type: 'string',
    description:
      'Lines of InfluxDB; `precision` in the address is the unit of their times (ns, us, ms, s, m or h).',
  },
}

/** A body in any of these formats. */
export function bodyOf(schemas: Readonly<Partial<Record<PayloadFormat, TSchema>>>): s.JsonSchema {
  const content = Object.entries(formatOfMediaType).flatMap(([mediaType, format]) => {
    const schema = schemas[format]
    return schema === undefined ? [] : [[mediaType, { schema: s.describedOnly(schema) }]]
  })
  return { content: Object.fromEntries(content) as s.JsonSchema }
}

const acceptedSchema = s.record(
  { streamId: s.uuid, timestamp: s.dateTime, status: s.typed<'accepted'>({ const: 'accepted' }) },
  { title: 'One reading' },
)

/** What one reading that was taken is answered. */
export type AcceptedBody = Static<typeof acceptedSchema>

const batchSchema = s.record(
  { accepted: s.count, rejected: s.listOf(rejectionSchema) },
  { title: 'A batch' },
)

/** What a batch is answered of which one reading was taken at least, or which holds none. */
export type BatchBody = Static<typeof batchSchema>

const rejectedAnswer = {
  description:
    '`reading_rejected`: the reading, or every one of the batch, was refused.\n\n`idempotency_conflict`: the key was used with another body.',
  content: {
    'application/json': {
      schema: {
        allOf: [errorSchema],
        properties: {
          error: { enum: ['reading_rejected', 'idempotency_conflict'] },
          reason: { ...s.text, description: 'Of a single reading: why; as in the quarantine.' },
          accepted: { const: 0 },
          rejected: s.listOf(rejectionSchema),
        },
        examples: [
          {
            error: 'reading_rejected',
            statusCode: 422,
            reason: 'schema_mismatch',
            message: 'temperature must be a number',
            remedy: refusalRemedy('schema_mismatch'),
            details: [{ path: 'temperature', message: 'must be a number' }],
          },
        ],
      },
    },
  },
}

/** One reading, or an array of them, in any format. */
export const readingsBody = bodyOf({
  ...selfDescribing(
    { oneOf: [reading, s.listOf(reading, { minItems: 1, maxItems: 10_000 })] },
    reading,
  ),
  ...readByDefinition,
})

/** What became of the readings of a request (decisions.md#answers-to-readings). */
export const pushReadings = {
  operationId: 'pushReadings',
  summary: 'Push readings into a data stream.',
  description: [
    'One reading, or an array of them: at most 4 MiB and 10,000 readings, in JSON, NDJSON, CBOR,',
    'MessagePack, or a format that the source of the stream explains, as the content type says; `Content-Encoding` may be gzip or zstd. 202 means that they',
    'are on disk. A refused reading is kept in the quarantine of the stream. An `Idempotency-Key` gives',
    'readings without a time of their own the same identity when the request is repeated. Parameters in the',
    'address are taken where fields of the stream read them (`$query`).',
  ].join(' '),
  tags: ['Readings'],
  params: s.record({ streamId: s.uuid }),
  headers: s.keyHeaders,
  querystring: anyQuery,
  body: readingsBody,
  response: {
    202: s.eitherOf(acceptedSchema, batchSchema),
    422: rejectedAnswer,
  },
} as const

const addressedReading = s.component('AddressedReading', {
  type: 'object',
  description: 'A reading, and the stream that it belongs to.',
  required: ['streamId'],
  properties: { streamId: s.uuid, timestamp: s.dateTime },
  additionalProperties: true,
  examples: [
    {
      streamId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
      timestamp: '2026-01-31T10:00:00Z',
      temperature: 21.5,
    },
  ],
})

/** Readings of several streams in one request (decisions.md#readings-of-several-streams). */
export const pushToStreams = {
  operationId: 'pushReadingsToStreams',
  summary: 'Push readings into several data streams.',
  description: [
    'An array of readings that each name their stream: at most 4 MiB and 10,000 readings, in JSON,',
    'NDJSON, CBOR or MessagePack. 202 means that all that were accepted are on disk. A reading that names',
    'no stream of yours is rejected (`not_found`) and kept nowhere; any other that is refused is kept in',
    'the quarantine of its stream.',
  ].join(' '),
  tags: ['Readings'],
  headers: s.keyHeaders,
  body: bodyOf(
    selfDescribing(s.listOf(addressedReading, { minItems: 1, maxItems: 10_000 }), addressedReading),
  ),
  response: { 202: batchSchema, 422: rejectedAnswer },
} as const
