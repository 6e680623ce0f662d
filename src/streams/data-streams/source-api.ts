import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import * as s from '../../requests/http/schema.ts'
import { fieldSchema } from './definition-schemas.ts'
import { sourceSchema } from './source-schema.ts'

const problemAt = s.record({ index: s.count, message: s.text })

export const triedSourceSchema = s.describedOnly({
  ...s.record(
    {
      type: s.text,
      source: sourceSchema,
      schema: s.typed<object>({ type: 'object', additionalProperties: fieldSchema }),
    },
    { optional: ['schema'] },
  ),
  examples: [
    {
      type: 'api_pull',
      source: { endpoint: 'https://api.example.com/readings', schedule: '*/5 * * * *' },
    },
  ],
})

export const trialSchema = s.record(
  {
    reached: { ...s.boolean, description: 'Whether the other side has answered.' },
    problem: { ...s.text, description: 'What kept the try from coming to its end.' },
    remedy: { ...s.text, description: 'What to do about the problem, for people.' },
    messages: { ...s.count, description: 'That came; the first 20 are looked at.' },
    samples: s.listOf(
      s.record({
        source: { ...s.text, description: 'Where it came from.' },
        payload: { ...s.text, description: 'Its first 1,000 characters.' },
        bytes: s.count,
      }),
    ),
    problems: { ...s.listOf(problemAt), description: 'Messages that cannot be taken apart.' },
    readings: {
      description: 'What the schema says of the first 20 readings.',
      ...s.listOf(
        s.record(
          {
            status: s.among(['accepted', 'refused']),
            reason: s.text,
            message: s.text,
            remedy: s.text,
            details: s.listOf(errorDetail),
          },
          { optional: ['reason', 'message', 'remedy', 'details'] },
        ),
      ),
    },
    proposal: s.record({
      type: s.text,
      source: { type: 'object', description: 'Without its secrets.' },
      schema: s.typed<object>({ type: 'object', additionalProperties: fieldSchema }),
    }),
    notes: { ...s.listOf(errorDetail), description: 'What was left out of the schema, and why.' },
    misfits: {
      description: 'Readings that such a stream would refuse, and why.',
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
  },
  { optional: ['problem', 'remedy', 'readings', 'proposal', 'notes', 'misfits'] },
)
