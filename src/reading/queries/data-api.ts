import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import { askedTime, orderParameter } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'
import type { AggregatePoint } from '../../storage/time-series/aggregate-query.ts'

export const dataPoint = s.component('DataPoint', {
  type: 'object',
  description: 'The fields of the stream beside the time; unknown ones under `extra`.',
  required: ['timestamp'],
  additionalProperties: true,
  properties: {
    timestamp: { ...s.dateTime, description: 'Of the reading, or the start of its bucket.' },
    extra: { type: 'object' },
    count: { ...s.count, description: 'Readings in the bucket or window.' },
    revision: {
      ...s.count,
      description: 'Of a window: 1 at first, and higher each time it has become another.',
    },
    computedAt: s.nullable({
      ...s.dateTime,
      description: 'Of a window: null while it is open or being revised.',
    }),
  },
  examples: [{ timestamp: '2026-01-31T10:00:00.000000Z', temperature: 21.5 }],
})

export const readingsPageSchema = s.component(
  'ReadingsPage',
  s.record({
    streamId: s.uuid,
    start: s.dateTime,
    end: s.nullable(s.dateTime),
    aggregation: s.text,
    data: s.listOf(dataPoint),
    nextCursor: s.nullable(s.text),
  }),
)

/** Parameters that single streams and many are asked with alike. */
export const rangeParameters = {
  start: askedTime('Included.'),
  end: askedTime('Excluded.'),
  order: orderParameter,
  tz: {
    ...s.text,
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
  cursor: s.cursorQuery.cursor,
} as const

export const aggregationSchema = {
  ...s.text,
  description:
    '`minutely`, `hourly`, `daily`, `weekly` (from Monday), `monthly`, or a duration such as `30s`, `15m`, `6h` or `1d`.',
} as const satisfies s.JsonSchema

/** With `min`, `max` and the like behind a colon. */
export const functionsNote =
  'Each may name a function: `temperature:max`. avg (default for numbers), latest (default for the rest), last, first, min, max, sum, count, stddev, p50, p95, p99.'

export const dataParameters = s.query({
  ...rangeParameters,
  limit: {
    ...s.integer(1),
    description:
      'At most 10,000 in a page of JSON, where 1,000 is the default. CSV and NDJSON have no limit unless it is asked for.',
  },
  fields: {
    ...s.text,
    description: `A comma list; all fields when absent. ${functionsNote}`,
    examples: ['temperature:max,temperature:min'],
  },
  aggregation: {
    ...aggregationSchema,
    default: 'raw',
    description: `\`raw\`: the readings as they were sent; \`window\`: the windows of the stream, which its definition makes; else ${aggregationSchema.description}`,
  },
})

/** A page, or lines. */
export const readingsAnswer = {
  description:
    'A page as JSON; or all readings of the range as CSV or NDJSON, whichever the Accept header prefers.',
  content: {
    'application/json': { schema: readingsPageSchema },
    'text/csv': {
      schema: {
        ...s.text,
        description: 'RFC 4180, with a header line.',
        examples: ['timestamp,temperature,extra,:flag\r\n2026-01-31T10:00:00.000000Z,21.5,,\r\n'],
      },
    },
    'application/x-ndjson': {
      schema: {
        ...s.text,
        description: 'A line for each reading, each as in the page.',
        examples: ['{"timestamp":"2026-01-31T10:00:00.000000Z","temperature":21.5}\n'],
      },
    },
  },
}

/** An aggregated point in an answer, with what tells its series. */
export function aggregateBody(
  { timestampUs, values, count }: AggregatePoint,
  series: Readonly<Record<string, unknown>> = {},
): Static<typeof dataPoint> {
  return { timestamp: formatUs(timestampUs), ...series, ...values, count }
}
