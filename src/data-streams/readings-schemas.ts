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

const readingsPage = component(
  'ReadingsPage',
  record({
    streamId: uuid,
    start: dateTime,
    end: nullable(dateTime),
    aggregation: text,
    data: listOf(dataPoint),
    nextCursor: nullable(text),
  }),
)

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
    limit: {
      type: 'integer',
      minimum: 1,
      description:
        'At most 10,000 in a page of JSON, where 1,000 is the default. CSV and NDJSON have no limit unless it is asked for.',
    },
    cursor: cursorQuery.cursor,
  }),
  response: {
    200: {
      description:
        'A page as JSON; or all readings of the range as CSV or NDJSON, whichever the Accept header prefers.',
      content: {
        'application/json': { schema: readingsPage },
        'text/csv': {
          schema: {
            ...text,
            description: 'RFC 4180, with a header line.',
            examples: [
              'timestamp,temperature,extra,:flag\r\n2026-01-31T10:00:00.000000Z,21.5,,\r\n',
            ],
          },
        },
        'application/x-ndjson': {
          schema: {
            ...text,
            description: 'A line for each reading, each as in the page.',
            examples: ['{"timestamp":"2026-01-31T10:00:00.000000Z","temperature":21.5}\n'],
          },
        },
      },
    },
  },
} as const
