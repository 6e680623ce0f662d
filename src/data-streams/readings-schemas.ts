import { errorDetail } from '../http/openapi/error-answers.ts'
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
} from '../http/schema.ts'

const dataPoint = component('DataPoint', {
  type: 'object',
  description: 'The fields of the stream beside the time; unknown ones under `extra`.',
  required: ['timestamp'],
  additionalProperties: true,
  properties: {
    timestamp: { ...dateTime, description: 'Of the reading, or the start of its bucket.' },
    extra: { type: 'object' },
    count: { ...count, description: 'Readings in the bucket.' },
  },
  examples: [{ timestamp: '2026-01-31T10:00:00.000000Z', temperature: 21.5 }],
})

export const readReadings = {
  operationId: 'readReadings',
  summary: 'Read the readings of a data stream, in ascending time.',
  tags: ['Readings'],
  params: idParams('streamId'),
  querystring: query({
    start: { ...text, description: 'RFC 3339; included.', examples: ['2026-01-31T00:00:00Z'] },
    end: { ...text, description: 'RFC 3339; excluded.', examples: ['2026-02-01T00:00:00Z'] },
    fields: { ...text, description: 'A comma list; all fields when absent.' },
    aggregation: { enum: ['raw', 'hourly'], default: 'raw' },
    limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 1_000 },
    cursor: cursorQuery.cursor,
  }),
  response: {
    200: component(
      'ReadingsPage',
      record({
        streamId: uuid,
        start: dateTime,
        end: nullable(dateTime),
        aggregation: text,
        data: listOf(dataPoint),
        nextCursor: nullable(text),
      }),
    ),
  },
} as const

const quarantineEntry = component(
  'QuarantineEntry',
  record({
    id: count,
    reason: { ...text, examples: ['wrong_type'] },
    message: text,
    details: listOf(errorDetail),
    payload: { ...text, description: 'The bytes as they came.' },
    encoding: { enum: ['utf8', 'base64'], description: 'Of the payload.' },
    timestamp: nullable(dateTime),
    receivedAt: dateTime,
    source: { ...text, examples: ['http 192.0.2.7'] },
  }),
)

export const listQuarantine = {
  operationId: 'listQuarantine',
  summary: 'List the refused readings of a data stream, oldest first.',
  tags: ['Readings'],
  params: idParams('streamId'),
  querystring: query(cursorQuery),
  response: {
    200: record({ streamId: uuid, entries: listOf(quarantineEntry), nextCursor: nullable(text) }),
  },
} as const
