import type { Static } from 'typebox'
import * as s from '../../src/requests/http/schema.ts'
import { readingsBody, rejectionMembers } from './http-push-api.ts'
import { anyQuery } from './request-context.ts'

const index = { ...s.count, description: 'Its place in the batch; 0 for a single reading.' }

const acceptedReading = s.record(
  {
    index,
    status: s.typed<'accepted'>({ const: 'accepted' }),
    timestamp: s.dateTime,
    values: s.typed<object>({
      type: 'object',
      description: 'The declared fields, as they would be stored.',
    }),
    flagged: s.listOf(s.text, { description: 'Fields whose value is out of range.' }),
    extra: s.typed<object>({
      type: 'object',
      description: 'Fields that the stream does not know.',
    }),
  },
  { optional: ['extra'], title: 'It would be stored' },
)

const filteredReading = s.record(
  { index, status: s.typed<'filtered'>({ const: 'filtered' }), timestamp: s.dateTime },
  { title: 'A filter of the stream would keep it from being stored' },
)

const rejectedReading = s.record(
  { ...rejectionMembers, status: s.typed<'rejected'>({ const: 'rejected' }) },
  { title: 'It would be quarantined' },
)

/** What would become of a reading. */
export type ValidatedReading =
  | Static<typeof acceptedReading>
  | Static<typeof filteredReading>
  | Static<typeof rejectedReading>

const validatedSchema = s.record({
  streamId: s.uuid,
  version: s.integer(1, undefined, { description: 'Of the definition.' }),
  accepted: { ...s.count, description: 'Filtered ones as well.' },
  rejected: s.count,
  readings: s.listOf(
    s.typed<ValidatedReading>({ oneOf: [acceptedReading, filteredReading, rejectedReading] }),
  ),
})

export type ValidatedBody = Static<typeof validatedSchema>

/** The body stays as it is until the format is known, so the handler parses it. */
export const validateReadings = {
  operationId: 'validateReadings',
  summary: 'Say what would happen to readings, and store nothing.',
  description: [
    'Takes what `POST /streams/{streamId}/data` takes, and judges it by the newest definition. Nothing',
    'is kept or counted of them.',
  ].join(' '),
  tags: ['Readings'],
  params: s.record({ streamId: s.uuid }),
  headers: s.keyHeaders,
  querystring: anyQuery,
  body: readingsBody,
  response: { 200: validatedSchema },
} as const
