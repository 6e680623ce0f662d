import {
  component,
  count,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  nullable,
  record,
  text,
  uuid,
} from '../requests/http/schema.ts'

const value = { description: 'A number, a text, true or false; null for silence.' } as const

/** Checked by the handler, which says more about what is wrong. */
const proposedRules = {
  type: ['array', 'object'],
  description: 'A list of rules, or rules by field, as `alertThresholds` of `processing` has them.',
} as const

const ruleAndTime = {
  ruleId: text,
  severity: { enum: ['info', 'warning', 'critical'] },
  triggeredAt: dateTime,
  clearedAt: { ...nullable(dateTime), description: 'Null where it goes on at the end.' },
} as const

const backtestAlert = component(
  'BacktestAlert',
  record({
    ...ruleAndTime,
    since: { ...dateTime, description: 'When the rule was first broken: earlier, with `for`.' },
    value: { ...value, description: 'What was compared when it began.' },
    threshold: value,
    flapping: { type: 'boolean' },
    flaps: count,
    readings: listOf(
      {
        type: 'object',
        required: ['timestamp'],
        properties: { timestamp: dateTime },
        additionalProperties: true,
      },
      { description: 'Around its beginning, with the fields that rules look at.' },
    ),
  }),
)

const differing = listOf(record(ruleAndTime))

export const backtestAlerts = {
  operationId: 'backtestAlerts',
  summary: 'See which alerts rules would have raised.',
  description:
    'Runs rules over the readings that are stored, up to a million, and saves nothing. Without rules those of the stream are run.',
  tags: ['Alerts'],
  params: idParams('streamId'),
  headers: keyHeaders,
  body: record(
    { start: dateTime, end: dateTime, rules: proposedRules },
    {
      optional: ['rules'],
      examples: [
        {
          start: '2026-01-01T00:00:00Z',
          end: '2026-02-01T00:00:00Z',
          rules: [{ field: 'temperature', operator: '>', threshold: 60, for: '5m' }],
        },
      ],
    },
  ),
  response: {
    200: record({
      streamId: uuid,
      start: dateTime,
      end: dateTime,
      readings: { ...count, description: 'Readings that the rules were run over.' },
      count: { ...count, description: 'Alerts that there would have been.' },
      alerts: listOf(backtestAlert, { maxItems: 500, description: 'The first of them.' }),
      diff: {
        ...nullable(record({ both: differing, onlyProposed: differing, onlyCurrent: differing })),
        description:
          'Against all rules that hold for the stream; those for many streams go on in any case. Null where these are the ones that were run.',
      },
    }),
  },
} as const
