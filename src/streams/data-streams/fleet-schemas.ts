import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import {
  count,
  describedOnly,
  keyHeaders,
  listOf,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { dataStream, fieldSchema, newDataStream, tagsSchema } from './definition-schemas.ts'
import { samplesMax, sampleTypes } from './stream-samples.ts'

const exampleDefinition = {
  vaultId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
  type: 'iot_sensor',
  schema: { temperature: { type: 'number' } },
}

export const createStreams = {
  operationId: 'createStreams',
  summary: 'Create many data streams at once.',
  description:
    'One definition for many streams, or one for each: at most 1,000. All are made, or none. Tags of the definition are given to each of its streams.',
  tags: ['Data streams'],
  headers: keyHeaders,
  body: describedOnly({
    oneOf: [
      record({
        definition: { type: 'object', description: 'A new data stream without its name.' },
        streams: listOf(record({ name: text, tags: tagsSchema }, { optional: ['tags'] }), {
          minItems: 1,
          maxItems: 1_000,
        }),
      }),
      record({ definitions: listOf(newDataStream, { minItems: 1, maxItems: 1_000 }) }),
    ],
    examples: [
      {
        definition: { ...exampleDefinition, tags: { site: 'berlin' } },
        streams: [{ name: 'boiler 1' }, { name: 'boiler 2', tags: { floor: '2' } }],
      },
    ],
  }),
  response: {
    201: record({
      streamIds: { ...listOf(uuid), description: 'In the order of the request.' },
      streams: listOf(dataStream),
    }),
  },
} as const

export const inferStream = {
  operationId: 'inferStream',
  summary: 'Propose the schema of a stream from sample readings.',
  description: [
    'The proposal takes every sample that is not named under misfits, and can be sent to `POST /streams`',
    'with a name and a vault. It is a proposal: limits are those of the samples. Nothing is stored. In CBOR,',
    'MessagePack, NDJSON and CSV the body is what the device sends, one reading or several; the first line of',
    'CSV names its columns.',
  ].join(' '),
  tags: ['Data streams'],
  headers: keyHeaders,
  body: {
    content: {
      'application/json': {
        schema: {
          ...record({ samples: listOf({}, { minItems: 1, maxItems: samplesMax }) }),
          examples: [{ samples: [{ ts: 1_767_225_600, temperature: 21.5, mode: 'eco' }] }],
        },
      },
      ...Object.fromEntries(
        sampleTypes.map((type) => [
          type,
          { schema: describedOnly({ description: 'What a device sends: readings.' }) },
        ]),
      ),
    },
  },
  response: {
    200: record({
      proposal: record({
        type: { const: 'iot_sensor' },
        source: { type: 'object' },
        schema: { type: 'object', additionalProperties: fieldSchema },
      }),
      samples: { ...count, description: 'How many there were.' },
      notes: { ...listOf(errorDetail), description: 'What was left out of the schema, and why.' },
      misfits: {
        description: 'Samples that the stream would refuse, and why.',
        ...listOf(
          record({ index: count, error: text, message: text, details: listOf(errorDetail) }),
        ),
      },
    }),
  },
} as const
