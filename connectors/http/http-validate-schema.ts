import {
  count,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  record,
  text,
  uuid,
} from '../../src/requests/http/schema.ts'
import { readingsBody, rejection } from './http-push-schema.ts'

const index = { ...count, description: 'Its place in the batch; 0 for a single reading.' } as const

const acceptedReading = record(
  {
    index,
    status: { const: 'accepted' },
    timestamp: dateTime,
    values: { type: 'object', description: 'The declared fields, as they would be stored.' },
    flagged: listOf(text, { description: 'Fields whose value is out of range.' }),
    extra: { type: 'object', description: 'Fields that the stream does not know.' },
  },
  { optional: ['extra'], title: 'It would be stored' },
)

const filteredReading = record(
  { index, status: { const: 'filtered' }, timestamp: dateTime },
  { title: 'A filter of the stream would keep it from being stored' },
)

const rejectedReading = record(
  { ...(rejection['properties'] as object), status: { const: 'rejected' } },
  { title: 'It would be quarantined' },
)

export const validateReadings = {
  operationId: 'validateReadings',
  summary: 'Say what would become of readings, and store nothing.',
  description: [
    'Takes what `POST /streams/{streamId}/data` takes, and judges it by the newest definition. Nothing',
    'is kept or counted of them.',
  ].join(' '),
  tags: ['Readings'],
  params: idParams('streamId'),
  headers: keyHeaders,
  body: readingsBody,
  response: {
    200: record({
      streamId: uuid,
      version: { type: 'integer', minimum: 1, description: 'Of the definition.' },
      accepted: { ...count, description: 'Filtered ones as well.' },
      rejected: count,
      readings: listOf({ oneOf: [acceptedReading, filteredReading, rejectedReading] }),
    }),
  },
} as const
