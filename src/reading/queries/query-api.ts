import type { Static } from 'typebox'
import { askedTimeOrNumber, type SettledRange } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'
import { splitValuesMax } from '../../storage/time-series/split-series.ts'
import { aggregationSchema, functionsNote, rangeParameters } from './data-api.ts'

/** Ids that can be listed, and streams of an export. */
export const streamsMax = 1_000

/** Streams that one query may be about: a statement names all of them. */
export const queriedStreamsMax = 20_000

const fieldsMax = 100

const pointSchema = s.component('QueryPoint', {
  type: 'object',
  description: 'The fields that were asked for, under the keys that were asked for.',
  required: ['timestamp', 'count'],
  additionalProperties: true,
  properties: {
    timestamp: { ...s.dateTime, description: 'The start of the bucket.' },
    streamId: { ...s.uuid, description: 'Where points are grouped by stream.' },
    device: s.nullable({
      ...s.text,
      description: 'The name of the device, where points are grouped by device.',
    }),
    tag: s.nullable({ ...s.text, description: 'Its value, where points are grouped by a tag.' }),
    field: {
      type: ['string', 'number', 'boolean', 'null'],
      description: 'Its value, where points are grouped by a field.',
    },
    count: { ...s.count, description: 'Readings in the bucket.' },
  },
  examples: [{ timestamp: '2026-01-31T10:00:00.000000Z', 'temperature:max': 21.5, count: 60 }],
})

/** Which streams are asked about: those that meet all of it. */
export const streamSelection = {
  streamIds: s.listOf(s.uuid, { minItems: 1, maxItems: streamsMax }),
  vaultId: s.uuid,
  fleetId: { ...s.uuid, description: 'Streams of the devices of this fleet.' },
  name: {
    ...s.text,
    description: 'The full name, or its beginning and `*`; case makes no difference.',
  },
  tags: {
    type: 'object',
    additionalProperties: s.text,
    description: 'Streams that have all of these tags.',
    examples: [{ site: 'berlin' }],
  },
} as const

const optional = {
  ...streamSelection,
  ...rangeParameters,
  start: askedTimeOrNumber('Included.'),
  end: askedTimeOrNumber('Excluded.'),
  groupBy: {
    ...s.text,
    pattern: '^(stream|device|time|tag:.{1,63}|field:.{1,128})$',
    default: 'stream',
    description: `\`stream\`: a point for each stream and bucket; \`device\`: one for each device; \`tag:NAME\`: one for each value of that tag; \`field:NAME\`: one for each value that this field (text, integer or boolean) has in the readings, ${splitValuesMax} values at most; \`time\`: one for all of them together.`,
  },
  limit: s.integer(1, 10_000, { default: 1_000 }),
} as const

export const querySchema = s.record(
  {
    ...optional,
    fields: s.listOf(
      { ...s.text, maxLength: 128 },
      {
        minItems: 1,
        maxItems: fieldsMax,
        description: functionsNote,
      },
    ),
    aggregation: aggregationSchema,
  },
  {
    optional: s.namesOf(optional),
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
)

/** The body of `POST /query`, as its schema lets it through, by its instants. */
export type QueryBody = Omit<Static<typeof querySchema>, 'start' | 'end' | 'order' | 'cursor'> &
  SettledRange

export const queryPageSchema = s.component(
  'QueryPage',
  s.record({
    start: s.dateTime,
    end: s.nullable(s.dateTime),
    aggregation: s.text,
    groupBy: s.text,
    data: s.listOf(pointSchema),
    nextCursor: s.nullable(s.text),
  }),
)
