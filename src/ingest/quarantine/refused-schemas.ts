import {
  component,
  count,
  cursorQuery,
  dateTime,
  idParams,
  listOf,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

const refusedReading = component(
  'RefusedReading',
  record({
    id: { ...count, description: 'Offset of the reading in the journal.' },
    timestamp: dateTime,
    values: { type: 'object', additionalProperties: true, description: 'Its declared fields.' },
    message: { ...text, description: 'What the server said.' },
  }),
)

export const listRefused = {
  operationId: 'listRefusedReadings',
  summary: 'List readings that the time-series server did not take, oldest first.',
  description:
    'They were acknowledged and are counted as `discarded`. The newest 10,000 of all streams are kept. With DuckDB there are none.',
  tags: ['Readings'],
  params: idParams('streamId'),
  querystring: query(cursorQuery),
  response: {
    200: record({ streamId: uuid, readings: listOf(refusedReading), nextCursor: nullable(text) }),
  },
} as const
