import { severities } from '../../../processors/alert-rules.ts'
import { versionHeaders } from '../../requests/http/if-match.ts'
import * as s from '../../requests/http/schema.ts'
import { definition, streamVersion } from './definition-schemas.ts'
import { sourceStates } from './stream-sources.ts'

/** The definition, with its version in the headers as well. */
export const versionedAnswer = s.answer(definition, {
  description: 'The definition.',
  headers: versionHeaders,
})

const countersSchema = s.component('StreamCounters', {
  ...s.record({
    received: s.count,
    stored: s.count,
    duplicates: s.count,
    unchanged: s.count,
    filtered: s.count,
    quarantined: s.count,
    discarded: s.count,
    pending: s.count,
  }),
  description: 'received is the sum of all the others.',
})

const sourceStatus = s.component('SourceStatus', {
  ...s.record(
    {
      state: s.among(sourceStates),
      since: { ...s.dateTime, description: 'Since when it has been in this state.' },
      lastError: s.text,
      remedy: { ...s.text, description: 'What to do about the last error.' },
      retries: { ...s.count, description: 'Failures in a row.' },
      messages: { ...s.count, description: 'On disk and acknowledged, since the service started.' },
      skipped: {
        ...s.count,
        description:
          'Left out because they were retained (`source.retained`), since the service started.',
      },
      lastMessage: s.nullable(s.dateTime),
      unacknowledged: { ...s.count, description: 'Arrived, and not on disk yet.' },
      rounds: {
        ...s.count,
        description: 'Of a source with a schedule, since the service started.',
      },
      overlapped: { ...s.count, description: 'Times that passed while a round was under way.' },
      missed: {
        ...s.count,
        description: 'Times that passed while nothing ran: one round follows.',
      },
      lastRound: s.nullable(s.record({ started: s.dateTime, ended: s.dateTime })),
      nextRound: s.nullable(s.dateTime),
      lag: { ...s.count, description: 'Seconds for which a round has been due that is not done.' },
    },
    {
      optional: [
        'lastError',
        'remedy',
        'skipped',
        'rounds',
        'overlapped',
        'missed',
        'lastRound',
        'nextRound',
        'lag',
      ],
    },
  ),
  description: 'Of streams whose readings are fetched from somewhere.',
})

const webhookStatus = s.component('InboundWebhookStatus', {
  ...s.record(
    {
      messages: { ...s.count, description: 'On disk, since the service started.' },
      lastMessage: s.nullable(s.dateTime),
      repeated: { ...s.count, description: 'Sent again, and stored once.' },
      refused: { ...s.count, description: 'Without a good signature.' },
      lastRefused: s.nullable(s.dateTime),
      lastRefusal: { ...s.text, description: 'What was wrong with the last one.' },
    },
    { optional: ['lastRefusal'] },
  ),
  description: 'Of streams that others send messages to.',
})

/** Alerts of a stream that fire, counted. */
export const firingAlerts = s.record({
  alerts: s.count,
  severity: { ...s.nullable(s.choice(severities)), description: 'Of the worst of them.' },
})

export const streamStatus = s.component(
  'StreamStatus',
  s.record(
    {
      streamId: s.uuid,
      status: { ...s.text, examples: ['active'] },
      lastDataReceived: s.nullable(s.dateTime),
      dataPointsToday: s.count,
      errorCount: s.count,
      firing: { ...firingAlerts, description: 'Alerts that fire, and are not acknowledged.' },
      health: s.record(
        {
          status: s.among(['healthy', 'degraded']),
          problem: s.text,
          uptime: { ...s.count, description: 'Seconds since the stream was created.' },
          avgLatency: { ...s.number, description: 'Milliseconds from receipt to the store.' },
        },
        { optional: ['problem'] },
      ),
      processing: s.record({
        queueLength: s.count,
        processingRate: { ...s.number, description: 'Readings stored per second.' },
        lastProcessed: s.nullable(s.dateTime),
      }),
      deleted: { ...s.count, description: 'Of the stored ones, how many were removed again.' },
      expired: {
        ...s.count,
        description: 'Of the stored ones, how many were older than they are to be kept.',
      },
      retention: {
        ...s.record({
          raw: s.nullable(s.text),
          aggregated: s.nullable(s.text),
          keptFrom: {
            ...s.nullable(s.dateTime),
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

export const streamDeletion = s.record({
  streamId: s.uuid,
  name: s.text,
  status: { const: 'deleted' },
  deletedAt: s.dateTime,
  removedAt: { ...s.nullable(s.dateTime), description: 'Null while there is data left.' },
  removed: s.record({
    readings: { ...s.count, description: 'Out of the store.' },
    quarantined: { ...s.count, description: 'Out of the quarantine.' },
  }),
})

/** Versions on a page. */
export const versionsDefault = 20

export const versionsQuery = s.query({
  limit: s.integer(1, 100, { default: versionsDefault }),
  cursor: s.integer(1, undefined, { description: 'From the answer before.' }),
})

export const streamVersions = s.record({
  streamId: s.uuid,
  versions: s.listOf(streamVersion),
  nextCursor: s.nullable(s.integer(1)),
})
