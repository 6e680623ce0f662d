import type { FieldType } from '../../contracts/stream-schema.ts'
import * as s from '../../requests/http/schema.ts'
import { firingAlerts } from './data-stream-api.ts'
import { listedFields, placeFields } from './definition-schemas.ts'
import { countedMax } from './stream-list.ts'
import { placedSorts, rankedMax, rankedSorts } from './stream-order.ts'
import { sourceStates } from './stream-sources.ts'
import { streamStates } from './stream-state.ts'

/** Streams on a page with their health: each of their definitions is read for it. */
export const healthMax = 100

/** Fields that are told of one stream: enough to choose what is drawn. */
export const fieldsMax = 32

/** Slots of a sparkline, and how long each is: two hours. */
export const sparkSlots = { count: 24, minutes: 5 } as const

export const streamsQuery = {
  ...s.query({
    ...s.cursorQuery,
    vaultId: s.uuid,
    name: {
      ...s.text,
      description: 'The full name, or its beginning and *; case makes no difference.',
    },
    contains: {
      ...s.text,
      minLength: 1,
      maxLength: 200,
      description:
        'A part of the name, in any case, or the beginning of the id: 4 characters of it, or more.',
    },
    state: {
      ...s.text,
      description: `A comma list of ${streamStates.join(', ')}.`,
      examples: ['active,error'],
    },
    problem: {
      ...s.text,
      description: [
        'A comma list, of which a stream has at least one: `silent` (it has received, but nothing for',
        '`silentAfter`), `quarantined` (there are readings in its quarantine), `firing` (an alert fires that',
        'are not acknowledged), `failing` (its source fails, and not for a moment only), or `any`.',
      ].join(' '),
      examples: ['silent,failing'],
    },
    source: {
      ...s.text,
      description: `Only streams whose readings are fetched from somewhere, and whose source is in one of these states: a comma list of ${sourceStates.join(', ')}, or \`any\`.`,
      examples: ['failing,connecting'],
    },
    silentAfter: {
      ...s.text,
      default: '15m',
      description: 'A duration, such as 30s, 15m, 6h or 1d.',
    },
    sort: s.choice([...placedSorts, ...rankedSorts], {
      default: 'created',
      description: `With a minus the greatest first. By a figure (\`lastReading\`, \`rate\`, \`quarantined\`) only the first ${rankedMax} are listed.`,
    }),
    include: s.choice(['health'], {
      description: `How each stream is doing. A page has at most ${healthMax} streams then.`,
    }),
  }),
  patternProperties: { '^tag\\.': s.text },
}

/** What is told of how a stream is doing. */
const healthFields = {
  lastReadingAt: { ...s.nullable(s.dateTime), description: 'When it has received something last.' },
  receivedPerSecond: s.number,
  quarantined: { ...s.count, description: 'Readings in its quarantine now.' },
  firing: firingAlerts,
  source: {
    ...s.record(
      {
        state: s.among(sourceStates),
        since: { ...s.dateTime, description: 'Since when it has been in this state.' },
        lastError: { ...s.text, description: 'Its beginning.' },
      },
      { optional: ['lastError'] },
    ),
    description: 'Of streams whose readings are fetched from somewhere.',
  },
  fields: s.listOf(
    s.record(
      { name: s.text, type: s.typed<FieldType>({ type: 'string' }), unit: s.text },
      { optional: ['unit'] },
    ),
    { description: `The first ${fieldsMax} fields of its readings as they are stored.` },
  ),
  spark: s.listOf(s.nullable(s.count), {
    description: `Readings received in each of the last ${sparkSlots.count} times ${sparkSlots.minutes} minutes, the oldest first; null: not known.`,
  }),
}

export const streamHealth = s.record(healthFields, { optional: ['source'] })

/** A stream as lists show it, without its health. */
export const shownStream = s.record(listedFields, { optional: ['fleetId', 'device'] })

const listedStream = s.component('ListedDataStream', {
  ...s.record(
    { ...listedFields, ...healthFields },
    { optional: [...s.namesOf(placeFields), ...s.namesOf(healthFields)] },
  ),
  description:
    'What begins with `lastReadingAt` is there with `include=health` only, and `source` where there is one.',
})

/** A page of the list. */
export const listedStreams = s.answer(s.listOf(listedStream), {
  description: 'An array; the next page is in the header.',
  headers: {
    Link: { description: 'The next page.', schema: s.text },
    'X-Total-Count': {
      description: `How many streams meet the filter, on all pages together; left out for more than ${countedMax}.`,
      schema: s.count,
    },
  },
})
