import { severities } from '../../processors/alert-rules.ts'
import {
  boolean,
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../requests/http/schema.ts'
import { alertRuleSchema } from '../streams/data-streams/definition-schemas.ts'
import { actionKinds, alertStates } from './alert.ts'

const scalar = { type: ['number', 'string', 'boolean', 'null'] } as const
const state = { ...text, enum: alertStates } as const
const severity = { ...text, enum: severities } as const
const moment = nullable(dateTime)

/** What everybody is shown of an alert. */
export const alertFields = {
  alertId: uuid,
  streamId: uuid,
  vaultId: uuid,
  ruleId: text,
  field: nullable(text),
  severity,
  state,
  value: { ...scalar, description: 'What was judged last when the alert moved.' },
  threshold: { ...scalar, description: 'What it was compared with; of a silence its seconds.' },
  createdAt: { ...dateTime, description: 'When it began, by the clock of the service.' },
  triggeredAt: { ...moment, description: 'By the time of the readings.' },
  clearedAt: { ...moment, description: 'By the time of the readings.' },
  acknowledgedAt: moment,
  acknowledgedBy: { ...nullable(uuid), description: 'The id of the user.' },
  mutedUntil: moment,
  flapping: boolean,
  sequence: {
    type: ['integer', 'null'],
    minimum: 1,
    description:
      'Grows by one with each event of this rule and stream; here that of the newest event of the alert.',
  },
  rule: alertRuleSchema,
}

const alert = component('Alert', record(alertFields))

const tags = ['Alerts'] as const
const params = idParams('alertId')

const filter = {
  state,
  severity,
  ruleId: { ...text, maxLength: 200 },
}

export const listAlerts = {
  operationId: 'listAlerts',
  summary: "List the alerts of one's own streams, newest first.",
  tags,
  querystring: query({ ...filter, streamId: uuid, vaultId: uuid, ...cursorQuery }),
  response: { 200: cursorListOf(alert) },
} as const

export const listStreamAlerts = {
  operationId: 'listStreamAlerts',
  summary: 'List the alerts of a data stream, newest first.',
  tags,
  params: idParams('streamId'),
  querystring: query({ ...filter, ...cursorQuery }),
  response: { 200: cursorListOf(alert) },
} as const

const bySeverity = record(Object.fromEntries(severities.map((name) => [name, count])))

const counts = {
  pending: bySeverity,
  firing: bySeverity,
  acknowledged: bySeverity,
}

export const summarizeAlerts = {
  operationId: 'summarizeAlerts',
  summary: 'Count the alerts that go on, by state and severity, in all and for each vault.',
  tags,
  response: {
    200: record({ ...counts, vaults: listOf(record({ vaultId: uuid, ...counts })) }),
  },
} as const

export const readAlert = {
  operationId: 'readAlert',
  summary: 'Read an alert.',
  tags,
  params,
  response: { 200: alert },
} as const

const comment = { ...text, minLength: 1, maxLength: 2_000 } as const

const optionalComment = nullable(
  record({ comment }, { optional: ['comment'], examples: [{ comment: 'on my way' }] }),
)

const acted = { tags, params, headers: keyHeaders, response: { 200: alert } } as const

/** What is sent to do something to an alert. */
export const actionSchemas = {
  acknowledge: {
    ...acted,
    operationId: 'acknowledgeAlert',
    summary: 'Say that somebody looks after a firing alert.',
    body: optionalComment,
  },
  comment: {
    ...acted,
    operationId: 'commentAlert',
    summary: 'Write something down in the history of an alert.',
    body: record({ comment }, { examples: [{ comment: 'the fan is stuck' }] }),
  },
  mute: {
    ...acted,
    operationId: 'muteAlert',
    summary: 'Tell nobody of what a rule finds on a stream, until a time.',
    body: record(
      { until: dateTime, comment },
      { optional: ['comment'], examples: [{ until: '2099-01-01T00:00:00Z' }] },
    ),
  },
  unmute: {
    ...acted,
    operationId: 'unmuteAlert',
    summary: 'Tell again of what a rule finds on a stream.',
    body: optionalComment,
  },
  clear: {
    ...acted,
    operationId: 'clearAlert',
    summary: 'End an alert by hand: it begins again only when its rule was not broken meanwhile.',
    body: optionalComment,
  },
} as const

const step = record({
  step: count,
  cause: {
    ...text,
    enum: ['reading', 'timer', 'person', 'definition', ...actionKinds],
  },
  from: { ...text, enum: ['ok', ...alertStates] },
  to: { ...text, enum: ['ok', ...alertStates] },
  at: { ...dateTime, description: 'Alert time: that of the readings.' },
  receivedAt: { ...dateTime, description: 'When the entry was received that it follows from.' },
  offset: { ...count, description: 'Of that entry in the journal.' },
  value: scalar,
  threshold: scalar,
  reading: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'The fields of the reading, where one was the cause.',
  },
  userId: nullable(uuid),
  comment: nullable(text),
  mutedUntil: moment,
  eventId: { ...nullable(uuid), description: 'The event that was told.' },
})

const stepQuery = {
  limit: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
  cursor: { ...count, description: 'From the answer before.' },
} as const

export const readAlertHistory = {
  operationId: 'readAlertHistory',
  summary: 'List what has happened to an alert, oldest first.',
  tags,
  params,
  querystring: query(stepQuery),
  response: {
    200: record({ alertId: uuid, steps: listOf(step), nextCursor: nullable(count) }),
  },
} as const

const delivery = record({
  deliveryId: text,
  webhookId: { ...nullable(uuid), description: 'Where it was sent, or else:' },
  recipientId: { ...nullable(uuid), description: 'The address that it was mailed to.' },
  state: text,
  attempts: count,
  lastAttemptAt: moment,
})

export const explainAlert = {
  operationId: 'explainAlert',
  summary: 'Explain an alert: which reading moved it when, and what was delivered of it.',
  description:
    'The newest 100 steps, each with the deliveries that followed; and what the rule waits for now.',
  tags,
  params,
  response: {
    200: record({
      alert,
      now: record({
        state: { ...text, enum: ['ok', ...alertStates] },
        since: { ...moment, description: 'Since when the rule is broken.' },
        clearSince: { ...moment, description: 'Since when it is no longer broken.' },
        dueAt: {
          ...moment,
          description:
            'When something happens although no reading comes, by the clock of the service.',
        },
      }),
      alertTime: { ...moment, description: 'Of the stream: older readings move nothing.' },
      lateForAlerts: { ...count, description: 'Readings of the stream that came too late.' },
      steps: listOf(record({ sentence: text, step, told: boolean, deliveries: listOf(delivery) })),
    }),
  },
} as const
