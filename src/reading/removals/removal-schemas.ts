import { dateTime, idParams, noContent, record, text, uuid } from '../../requests/http/schema.ts'

export const removeReadings = {
  operationId: 'removeReadings',
  summary: 'Remove the readings of a range of time from a data stream.',
  description:
    'Removes exactly the readings in [start, end) that were acknowledged before. What is sent later stays, also when it equals a removed reading.',
  tags: ['Readings'],
  params: idParams('streamId'),
  querystring: record({
    start: { ...text, description: 'RFC 3339; included.', examples: ['2026-01-31T00:00:00Z'] },
    end: { ...text, description: 'RFC 3339; excluded.', examples: ['2026-02-01T00:00:00Z'] },
  }),
  response: {
    204: noContent,
    202: record(
      { streamId: uuid, start: dateTime, end: dateTime, status: { const: 'accepted' } },
      { description: 'Durable, and done as soon as the store can.' },
    ),
  },
} as const
