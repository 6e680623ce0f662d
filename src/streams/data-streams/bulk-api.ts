import type { Static } from 'typebox'
import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import * as s from '../../requests/http/schema.ts'
import { dataStream, fieldSchema, newDataStream, tagsSchema } from './definition-schemas.ts'
import { samplesMax, sampleTypes } from './stream-samples.ts'

const exampleDefinition = {
  vaultId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
  type: 'iot_sensor',
  schema: { temperature: { type: 'number' } },
}

export const newStreamsSchema = s.describedOnly({
  oneOf: [
    s.record({
      definition: { type: 'object', description: 'A new data stream without its name.' },
      streams: s.listOf(s.record({ name: s.text, tags: tagsSchema }, { optional: ['tags'] }), {
        minItems: 1,
        maxItems: 1_000,
      }),
    }),
    s.record({ definitions: s.listOf(newDataStream, { minItems: 1, maxItems: 1_000 }) }),
  ],
  examples: [
    {
      definition: { ...exampleDefinition, tags: { site: 'berlin' } },
      streams: [{ name: 'boiler 1' }, { name: 'boiler 2', tags: { floor: '2' } }],
    },
  ],
})

export const madeStreamsSchema = s.record({
  streamIds: { ...s.listOf(s.uuid), description: 'In the order of the request.' },
  streams: s.listOf(dataStream),
})

const sampleMessage = s.record(
  {
    topic: { ...s.text, minLength: 1, maxLength: 1_000, description: 'That it was published to.' },
    payload: { description: 'What was sent: a text, or with the encoding `json` any value.' },
    encoding: {
      ...s.choice(['utf8', 'base64', 'json']),
      description:
        'How the payload is written here. If nothing is said, a text is `utf8` and all else `json`.',
    },
    headers: s.typed<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    key: { ...s.text, description: 'Of a message of Kafka.' },
  },
  { optional: ['topic', 'encoding', 'headers', 'key'] },
)

export type SampleMessage = Static<typeof sampleMessage>

export const samplesBody = {
  content: {
    'application/json': {
      schema: {
        ...s.record(
          {
            messages: s.listOf(sampleMessage, { minItems: 1, maxItems: samplesMax }),
            samples: {
              ...s.listOf({}, { minItems: 1, maxItems: samplesMax }),
              description: 'Readings, in place of messages.',
            },
          },
          { optional: ['messages', 'samples'] },
        ),
        examples: [
          {
            messages: [
              {
                topic: 'tele/fridge/SENSOR',
                payload: { Time: '2026-01-31T09:59:58', ENERGY: { Power: 84, Total: 196.708 } },
              },
            ],
          },
        ],
      },
    },
    ...Object.fromEntries(
      sampleTypes.map((type) => [
        type,
        { schema: s.describedOnly({ description: 'What a device sends: readings.' }) },
      ]),
    ),
  },
}

export const proposalSchema = s.record({
  proposal: s.record({
    type: { const: 'iot_sensor' },
    source: { type: 'object' },
    schema: s.typed<object>({ type: 'object', additionalProperties: fieldSchema }),
  }),
  samples: { ...s.count, description: 'How many samples or messages there were.' },
  notes: {
    ...s.listOf(errorDetail),
    description: 'What was left out of the schema, and why; and what the samples do not show.',
  },
  misfits: {
    description: 'Samples or messages that the stream would refuse, and why.',
    ...s.listOf(
      s.record({
        index: s.count,
        error: s.text,
        message: s.text,
        remedy: s.text,
        details: s.listOf(errorDetail),
      }),
    ),
  },
})
