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

export const samplesBody = {
  content: {
    'application/json': {
      schema: {
        ...s.record({ samples: s.listOf({}, { minItems: 1, maxItems: samplesMax }) }),
        examples: [{ samples: [{ ts: 1_767_225_600, temperature: 21.5, mode: 'eco' }] }],
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
  samples: { ...s.count, description: 'How many there were.' },
  notes: { ...s.listOf(errorDetail), description: 'What was left out of the schema, and why.' },
  misfits: {
    description: 'Samples that the stream would refuse, and why.',
    ...s.listOf(
      s.record({ index: s.count, error: s.text, message: s.text, details: s.listOf(errorDetail) }),
    ),
  },
})
