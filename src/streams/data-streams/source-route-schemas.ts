import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import {
  count,
  describedOnly,
  idParams,
  keyHeaders,
  listOf,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { fieldSchema } from './definition-schemas.ts'

const problemAt = record({ index: count, message: text })

export const checkSource = {
  operationId: 'checkSource',
  summary: 'Try a source before a stream is made of it.',
  description: [
    'Connects to where the source leads, fetches a sample and lets go again: nothing is kept, and the other side',
    'is told that nothing was. With a `schema` the readings of the sample are judged by it, without one a',
    'definition is proposed. That the other side cannot be reached, or refuses, is an answer too: see `reached`',
    'and `problem`.',
  ].join(' '),
  tags: ['Data streams'],
  headers: keyHeaders,
  body: describedOnly({
    ...record(
      {
        type: text,
        source: { type: 'object', description: 'As in a definition, with its secrets.' },
        schema: { type: 'object', additionalProperties: fieldSchema },
      },
      { optional: ['schema'] },
    ),
    examples: [
      {
        type: 'api_pull',
        source: { endpoint: 'https://api.example.com/readings', schedule: '*/5 * * * *' },
      },
    ],
  }),
  response: {
    200: record(
      {
        reached: { type: 'boolean', description: 'Whether the other side has answered.' },
        problem: { ...text, description: 'What kept the try from coming to its end.' },
        messages: { ...count, description: 'That came; the first 20 are looked at.' },
        samples: listOf(
          record({
            source: { ...text, description: 'Where it came from.' },
            payload: { ...text, description: 'Its first 1,000 characters.' },
            bytes: count,
          }),
        ),
        problems: { ...listOf(problemAt), description: 'Messages that cannot be taken apart.' },
        readings: {
          description: 'What the schema says of the first 20 readings.',
          ...listOf(
            record(
              {
                status: { enum: ['accepted', 'refused'] },
                reason: text,
                message: text,
                details: listOf(errorDetail),
              },
              { optional: ['reason', 'message', 'details'] },
            ),
          ),
        },
        proposal: record({
          type: text,
          source: { type: 'object', description: 'Without its secrets.' },
          schema: { type: 'object', additionalProperties: fieldSchema },
        }),
        notes: { ...listOf(errorDetail), description: 'What was left out of the schema, and why.' },
        misfits: {
          description: 'Readings that such a stream would refuse, and why.',
          ...listOf(
            record({ index: count, error: text, message: text, details: listOf(errorDetail) }),
          ),
        },
      },
      { optional: ['problem', 'readings', 'proposal', 'notes', 'misfits'] },
    ),
  },
} as const

export const runSource = {
  operationId: 'runSource',
  summary: 'Read from the source of a stream now.',
  description:
    'Begins the next round of a source with a schedule at once, and the next try of one that fails. Its state is in `GET /streams/{streamId}/status`.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  headers: keyHeaders,
  response: { 202: record({ streamId: uuid }) },
} as const
