import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import * as s from '../../requests/http/schema.ts'
import { draftSchema } from './stream-draft.ts'

/** Readings of one preview: each step of each is shown. */
const readingsMax = 100

const fieldsAfterStep = s.typed<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
})

export const previewedSchema = s.record(
  {
    readings: s.listOf(s.typed<unknown>({}), {
      minItems: 1,
      maxItems: readingsMax,
      description: 'As devices send them; 1,000 readings at most, where each may hold several.',
    }),
    transform: s.typed<unknown>({ type: 'array', description: 'As in `processing`.', items: {} }),
    definition: draftSchema,
  },
  {
    optional: ['transform', 'definition'],
    examples: [{ readings: [{ timestamp: '2026-01-31T10:00:00Z', temperature: 21.5 }] }],
  },
)

export const previewSchema = s.record({
  streamId: s.uuid,
  results: s.listOf(
    s.record(
      {
        status: s.among(['stored', 'filtered', 'refused']),
        steps: s.listOf(fieldsAfterStep, { description: 'The fields after each step.' }),
        reason: { ...s.text, description: 'Of a refused reading; as in the quarantine.' },
        message: s.text,
        details: s.listOf(errorDetail),
      },
      { optional: ['reason', 'message', 'details'] },
    ),
  ),
})
