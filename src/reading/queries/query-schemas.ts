import {
  component,
  count,
  dateTime,
  keyHeaders,
  listOf,
  namesOf,
  nullable,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { aggregationSchema, functionsNote, rangeParameters } from './data-schemas.ts'

/** Streams that one query may be about: the definitions of all of them are looked at. */
export const streamsMax = 1_000

const fieldsMax = 100

const point = component('QueryPoint', {
  type: 'object',
  description: 'The fields that were asked for, under the keys that were asked for.',
  required: ['timestamp', 'count'],
  additionalProperties: true,
  properties: {
    timestamp: { ...dateTime, description: 'The start of the bucket.' },
    streamId: { ...uuid, description: 'Where points are grouped by stream.' },
    tag: nullable({ ...text, description: 'Its value, where points are grouped by a tag.' }),
    count: { ...count, description: 'Readings in the bucket.' },
  },
  examples: [{ timestamp: '2026-01-31T10:00:00.000000Z', 'temperature:max': 21.5, count: 60 }],
})

/** Which streams are asked about: those that meet all of it. */
export const streamSelection = {
  streamIds: listOf(uuid, { minItems: 1, maxItems: streamsMax }),
  vaultId: uuid,
  name: {
    ...text,
    description: 'The whole name, or its beginning and `*`; case makes no difference.',
  },
  tags: {
    type: 'object',
    additionalProperties: text,
    description: 'Streams that have all of these tags.',
    examples: [{ site: 'berlin' }],
  },
} as const

const optional = {
  ...streamSelection,
  ...rangeParameters,
  groupBy: {
    ...text,
    pattern: '^(stream|time|tag:.{1,63})$',
    default: 'stream',
    description:
      '`stream`: a point for each stream and bucket; `tag:NAME`: one for each value of that tag; `time`: one for all of them together.',
  },
  limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 1_000 },
} as const

export const queryStreams = {
  operationId: 'queryStreams',
  summary: 'Aggregate the readings of many data streams at once.',
  description: `Of all your streams, or of those that meet all of \`streamIds\`, \`vaultId\`, \`name\` and \`tags\`: ${streamsMax} at most. Points come in ascending time, and at one time by stream or tag.`,
  tags: ['Readings'],
  headers: keyHeaders,
  body: record(
    {
      ...optional,
      fields: listOf(
        { ...text, maxLength: 128 },
        {
          minItems: 1,
          maxItems: fieldsMax,
          description: functionsNote,
        },
      ),
      aggregation: aggregationSchema,
    },
    {
      optional: namesOf(optional),
      examples: [
        {
          fields: ['temperature', 'temperature:max'],
          start: '2026-01-01T00:00:00Z',
          end: '2026-02-01T00:00:00Z',
          aggregation: 'daily',
          tz: 'Europe/Berlin',
          groupBy: 'time',
        },
      ],
    },
  ),
  response: {
    200: component(
      'QueryPage',
      record({
        start: dateTime,
        end: nullable(dateTime),
        aggregation: text,
        groupBy: text,
        data: listOf(point),
        nextCursor: nullable(text),
      }),
    ),
  },
} as const
