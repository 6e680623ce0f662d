import {
  component,
  count,
  cursorQuery,
  dateTime,
  idParams,
  type JsonSchema,
  listOf,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

export const dataPoint = component('DataPoint', {
  type: 'object',
  description: 'The fields of the stream beside the time; unknown ones under `extra`.',
  required: ['timestamp'],
  additionalProperties: true,
  properties: {
    timestamp: { ...dateTime, description: 'Of the reading, or the start of its bucket.' },
    extra: { type: 'object' },
    count: { ...count, description: 'Readings in the bucket or window.' },
    revision: {
      ...count,
      description: 'Of a window: 1 at first, and higher each time it has become another.',
    },
    computedAt: nullable({
      ...dateTime,
      description: 'Of a window: null while it is open or being revised.',
    }),
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

/** What single streams and many are asked alike. */
export const rangeParameters = {
  start: { ...text, description: 'RFC 3339; included.', examples: ['2026-01-31T00:00:00Z'] },
  end: { ...text, description: 'RFC 3339; excluded.', examples: ['2026-02-01T00:00:00Z'] },
  tz: {
    ...text,
    default: 'UTC',
    description:
      'The time zone (IANA) whose clocks hours, days, weeks and months follow. Answers stay in UTC.',
    examples: ['Europe/Berlin'],
  },
  fill: {
    enum: ['none', 'null', 'previous', 'linear'],
    default: 'none',
    description:
      'What stands where a bucket has no value; anything but `none` needs start and end.',
  },
  cursor: cursorQuery.cursor,
} as const

export const aggregationSchema = {
  ...text,
  description:
    '`minutely`, `hourly`, `daily`, `weekly` (from Monday), `monthly`, or a duration such as `30s`, `15m`, `6h` or `1d`.',
} as const satisfies JsonSchema

/** With `min`, `max` and the like behind a colon. */
export const functionsNote =
  'Each may name a function: `temperature:max`. avg (default for numbers), latest (default for the rest), last, first, min, max, sum, count, stddev, p50, p95, p99.'

const parameters = {
  ...rangeParameters,
  limit: {
    type: 'integer',
    minimum: 1,
    description:
      'At most 10,000 in a page of JSON, where 1,000 is the default. CSV and NDJSON have no limit unless it is asked for.',
  },
  fields: {
    ...text,
    description: `A comma list; all fields when absent. ${functionsNote}`,
    examples: ['temperature:max,temperature:min'],
  },
  aggregation: {
    ...aggregationSchema,
    default: 'raw',
    description: `\`raw\`: the readings as they were sent; \`window\`: the windows of the stream, which its definition makes; else ${aggregationSchema.description}`,
  },
} as const

export const readReadings = {
  operationId: 'readReadings',
  summary: 'Read the readings of a data stream, or what they amount to, in ascending time.',
  tags: ['Readings'],
  params: idParams('streamId'),
  querystring: query(parameters),
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
