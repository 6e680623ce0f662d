import { severities } from '../../processors/alert-rules.ts'
import { askedTime } from '../requests/http/asked-range.ts'
import * as s from '../requests/http/schema.ts'
import { alertRuleSchema } from '../streams/data-streams/definition-schemas.ts'
import { actionKinds, alertStates } from './alert.ts'

const scalar = { type: ['number', 'string', 'boolean', 'null'] } as const
const state = { ...s.text, enum: alertStates }
const severity = { ...s.text, enum: severities }
const moment = s.nullable(s.dateTime)

/** What everybody is shown of an alert. */
export const alertFields = {
  alertId: s.uuid,
  streamId: s.uuid,
  vaultId: s.uuid,
  ruleId: s.text,
  field: s.nullable(s.text),
  severity,
  state,
  value: { ...scalar, description: 'What was judged last when the alert moved.' },
  threshold: { ...scalar, description: 'What it was compared with; of a silence its seconds.' },
  createdAt: { ...s.dateTime, description: 'When it began, by the clock of the service.' },
  triggeredAt: { ...moment, description: 'By the time of the readings.' },
  clearedAt: { ...moment, description: 'By the time of the readings.' },
  acknowledgedAt: moment,
  acknowledgedBy: { ...s.nullable(s.uuid), description: 'The id of the user.' },
  mutedUntil: moment,
  flapping: s.boolean,
  sequence: {
    ...s.nullable(s.integer(1)),
    description:
      'Grows by one with each event of this rule and stream; here that of the newest event of the alert.',
  },
  rule: alertRuleSchema,
}

export const alertSchema = s.component('Alert', s.record(alertFields))

const filter = {
  state,
  severity,
  ruleId: { ...s.text, maxLength: 200 },
}

export const alertsQuery = s.query({
  ...filter,
  streamId: s.uuid,
  vaultId: s.uuid,
  ...s.cursorQuery,
})

export const streamAlertsQuery = s.query({
  ...filter,
  start: askedTime(
    'Alerts that were triggered then or later, or went on then, by the time of the readings.',
  ),
  end: askedTime('Alerts that were triggered before then.'),
  ...s.cursorQuery,
})

const bySeverity = s.record(Object.fromEntries(severities.map((name) => [name, s.count])))

const counts = {
  pending: bySeverity,
  firing: bySeverity,
  acknowledged: bySeverity,
}

export const summarySchema = s.record({
  ...counts,
  vaults: s.listOf(s.record({ vaultId: s.uuid, ...counts })),
})

const comment = { ...s.text, minLength: 1, maxLength: 2_000 }

export const optionalCommentSchema = s.nullable(
  s.record({ comment }, { optional: ['comment'], examples: [{ comment: 'on my way' }] }),
)

export const commentSchema = s.record({ comment }, { examples: [{ comment: 'the fan is stuck' }] })

export const muteSchema = s.record(
  { until: s.dateTime, comment },
  { optional: ['comment'], examples: [{ until: '2099-01-01T00:00:00Z' }] },
)

const stateOrOk = { ...s.text, enum: ['ok', ...alertStates] }

export const stepSchema = s.record({
  step: s.count,
  cause: { ...s.text, enum: ['reading', 'timer', 'person', 'definition', ...actionKinds] },
  from: stateOrOk,
  to: stateOrOk,
  at: { ...s.dateTime, description: 'Alert time: that of the readings.' },
  receivedAt: { ...s.dateTime, description: 'When the entry was received that it follows from.' },
  offset: { ...s.count, description: 'Of that entry in the journal.' },
  value: scalar,
  threshold: scalar,
  reading: s.nullable({
    type: 'object',
    additionalProperties: true,
    description: 'The fields of the reading, where one was the cause.',
  }),
  userId: s.nullable(s.uuid),
  comment: s.nullable(s.text),
  mutedUntil: moment,
  eventId: { ...s.nullable(s.uuid), description: 'The event that was sent.' },
})

export const historyQuery = s.query({
  limit: s.integer(1, 1_000, { default: 100 }),
  cursor: { ...s.count, description: 'From the answer before.' },
})

export const historySchema = s.record({
  alertId: s.uuid,
  steps: s.listOf(stepSchema),
  nextCursor: s.nullable(s.count),
})

export const deliverySchema = s.record({
  deliveryId: s.text,
  webhookId: { ...s.nullable(s.uuid), description: 'Where it was sent, or else:' },
  recipientId: { ...s.nullable(s.uuid), description: 'The address that it was mailed to.' },
  state: s.text,
  attempts: s.count,
  lastAttemptAt: moment,
})

export const explanationSchema = s.record({
  alert: alertSchema,
  now: s.record({
    state: stateOrOk,
    since: { ...moment, description: 'Since when the rule is broken.' },
    clearSince: { ...moment, description: 'Since when it is no longer broken.' },
    dueAt: {
      ...moment,
      description: 'When something happens although no reading comes, by the clock of the service.',
    },
  }),
  alertTime: { ...moment, description: 'Of the stream: older readings move nothing.' },
  lateForAlerts: { ...s.count, description: 'Readings of the stream that came too late.' },
  steps: s.listOf(
    s.record({
      sentence: s.text,
      step: stepSchema,
      told: s.boolean,
      deliveries: s.listOf(deliverySchema),
    }),
  ),
})
