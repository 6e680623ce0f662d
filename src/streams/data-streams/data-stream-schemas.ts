import {
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  describedOnly,
  idParams,
  keyHeaders,
  nullable,
  number,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { dataStream, definition, listedStream, newDataStream } from './definition-schemas.ts'

export const createStream = {
  operationId: 'createStream',
  summary: 'Create a data stream.',
  description: 'The whole definition is checked before anything of it is stored.',
  tags: ['Data streams'],
  headers: keyHeaders,
  body: describedOnly(newDataStream),
  response: { 201: dataStream },
} as const

const streamFilterQuery = {
  ...query({
    ...cursorQuery,
    vaultId: uuid,
    name: { ...text, description: 'The whole name, or its beginning and *; in any case.' },
  }),
  patternProperties: { '^tag\\.': text },
}

export const listStreams = {
  operationId: 'listStreams',
  summary: "List one's own data streams.",
  description: [
    'Filters can be combined; a stream has to meet all of them. `tag.NAME=VALUE` finds streams by their',
    'tags, and may come for several tags.\n\nWith a key, this will be the list of asset streams, which',
    'is to come.',
  ].join(' '),
  tags: ['Data streams'],
  querystring: streamFilterQuery,
  response: {
    200: cursorListOf(listedStream),
  },
} as const

export const readStream = {
  operationId: 'readStream',
  summary: 'Read the definition of a data stream.',
  description: 'In place of the secrets of its source there are marks.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  response: {
    200: definition,
  },
} as const

const countersSchema = component('StreamCounters', {
  ...record({
    received: count,
    stored: count,
    duplicates: count,
    unchanged: count,
    filtered: count,
    quarantined: count,
    discarded: count,
    pending: count,
  }),
  description: 'received is the sum of all the others.',
})

const sourceStatus = component('SourceStatus', {
  ...record(
    {
      state: { enum: ['connecting', 'running', 'waiting', 'failing', 'paused'] },
      since: { ...dateTime, description: 'Since when it has been in this state.' },
      lastError: text,
      retries: { ...count, description: 'Failures in a row.' },
      messages: { ...count, description: 'On disk and acknowledged, since the service started.' },
      lastMessage: nullable(dateTime),
      unacknowledged: { ...count, description: 'Arrived, and not on disk yet.' },
      rounds: { ...count, description: 'Of a source with a schedule, since the service started.' },
      overlapped: { ...count, description: 'Times that passed while a round was under way.' },
      missed: { ...count, description: 'Times that passed while nothing ran: one round follows.' },
      lastRound: nullable(record({ started: dateTime, ended: dateTime })),
      nextRound: nullable(dateTime),
      lag: { ...count, description: 'Seconds for which a round has been due that is not done.' },
    },
    {
      optional: ['lastError', 'rounds', 'overlapped', 'missed', 'lastRound', 'nextRound', 'lag'],
    },
  ),
  description: 'Of streams whose readings are fetched from somewhere.',
})

const webhookStatus = component('InboundWebhookStatus', {
  ...record(
    {
      messages: { ...count, description: 'On disk, since the service started.' },
      lastMessage: nullable(dateTime),
      repeated: { ...count, description: 'Sent again, and stored once.' },
      refused: { ...count, description: 'Without a good signature.' },
      lastRefused: nullable(dateTime),
      lastRefusal: { ...text, description: 'What was wrong with the last one.' },
    },
    { optional: ['lastRefusal'] },
  ),
  description: 'Of streams that others send messages to.',
})

export const streamStatus = component(
  'StreamStatus',
  record(
    {
      streamId: uuid,
      status: { ...text, examples: ['active'] },
      lastDataReceived: nullable(dateTime),
      dataPointsToday: count,
      errorCount: count,
      health: record(
        {
          status: { enum: ['healthy', 'degraded'] },
          problem: text,
          uptime: { ...count, description: 'Seconds since the stream was created.' },
          avgLatency: { ...number, description: 'Milliseconds from receipt to the store.' },
        },
        { optional: ['problem'] },
      ),
      processing: record({
        queueLength: count,
        processingRate: { ...number, description: 'Readings stored per second.' },
        lastProcessed: nullable(dateTime),
      }),
      deleted: { ...count, description: 'Of the stored ones, how many were removed again.' },
      expired: {
        ...count,
        description: 'Of the stored ones, how many were older than they are to be kept.',
      },
      retention: {
        ...record({
          raw: nullable(text),
          aggregated: nullable(text),
          keptFrom: {
            ...nullable(dateTime),
            description: 'What is older has not been kept; null when everything was.',
          },
        }),
        description: 'How long data is kept, as the stream says, or its vault. Null: for ever.',
      },
      counters: countersSchema,
      source: sourceStatus,
      webhook: webhookStatus,
    },
    { optional: ['source', 'webhook'] },
  ),
)

export const readStreamStatus = {
  operationId: 'readStreamStatus',
  summary: 'Read how a data stream is doing.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  response: {
    200: streamStatus,
  },
} as const
