import type { Command, Input, Operand, Option } from './command.ts'
import { expiryOf } from './durations.ts'
import { acting, listing, showing, shownTime, shownValue } from './resources.ts'
import { vaultFilter } from './vaults.ts'

interface Alert {
  readonly alertId: string
  readonly streamId: string
  readonly vaultId: string
  readonly ruleId: string
  readonly field: string | null
  readonly severity: string
  readonly state: string
  readonly value: unknown
  readonly threshold: unknown
  readonly triggeredAt: string | null
  readonly clearedAt: string | null
  readonly acknowledgedAt: string | null
  readonly mutedUntil: string | null
}

interface Step {
  readonly step: number
  readonly cause: string
  readonly from: string
  readonly to: string
  readonly at: string
  readonly value: unknown
  readonly comment: string | null
}

const alertOperand: Operand = { name: 'ALERT', summary: 'The id of the alert.' }

const states = ['pending', 'firing', 'acknowledged', 'cleared']

const commentOption: Option = {
  name: 'comment',
  value: 'TEXT',
  summary: 'A text for the history of the alert.',
}

const path = (id: string) => `/alerts/${id}`

const list = listing<Alert>({
  name: 'alerts list',
  summary: 'List the alerts of your data streams, newest first.',
  path: () => '/alerts',
  filters: [
    {
      name: 'state',
      value: 'STATE',
      query: 'state',
      choices: states,
      summary: 'Only in this state.',
    },
    {
      name: 'severity',
      value: 'SEVERITY',
      query: 'severity',
      choices: ['info', 'warning', 'critical'],
      summary: 'Only of this severity.',
    },
    { name: 'stream', value: 'STREAM', query: 'streamId', summary: 'Only of this data stream.' },
    vaultFilter,
    { name: 'rule', value: 'RULE', query: 'ruleId', summary: 'Only of this rule.' },
  ],
  headings: ['ID', 'STATE', 'SEVERITY', 'FIELD', 'VALUE', 'LIMIT', 'TRIGGERED', 'STREAM'],
  row: (alert) => [
    alert.alertId,
    alert.state,
    alert.severity,
    alert.field ?? '-',
    shownValue(alert.value),
    shownValue(alert.threshold),
    shownTime(alert.triggeredAt),
    alert.streamId,
  ],
})

const history = listing<Step>({
  name: 'alerts history',
  summary: 'List what has happened to an alert, oldest first.',
  operands: [alertOperand],
  path: ({ ALERT = '' }) => `${path(encodeURIComponent(ALERT))}/history`,
  member: 'steps',
  headings: ['STEP', 'TIME', 'CAUSE', 'FROM', 'TO', 'VALUE', 'COMMENT'],
  row: ({ step, at, cause, from, to, value, comment }) => [
    String(step),
    shownTime(at),
    cause,
    from,
    to,
    shownValue(value),
    comment ?? '',
  ],
})

function alertAction(verb: string, summary: string, more: readonly Option[] = []): Command {
  return acting<Alert>({
    name: `alerts ${verb}`,
    summary,
    operand: alertOperand,
    path: (id) => `${path(id)}/${verb}`,
    options: [...more, commentOption],
    body: bodyOf,
    facts: factsOf,
  })
}

function bodyOf({ options: { comment, until } }: Input): object {
  return {
    ...(comment !== undefined && { comment }),
    ...(until !== undefined && { until: expiryOf(until) }),
  }
}

export const alertCommands: readonly Command[] = [
  list,
  showing<Alert>({
    name: 'alerts get',
    summary: 'Show an alert.',
    operand: alertOperand,
    path,
    facts: factsOf,
  }),
  history,
  alertAction(
    'acknowledge',
    'Acknowledge a firing alert: other users see that a person works on it.',
  ),
  alertAction('clear', 'End an alert by hand.'),
  alertAction('mute', 'Send no notifications of a rule on a data stream until a time.', [
    {
      name: 'until',
      value: 'TIME',
      isRequired: true,
      summary: 'An instant (RFC 3339) or a duration from now on, such as 2h.',
    },
  ]),
  alertAction('unmute', 'Send notifications of a rule on a data stream again.'),
]

function factsOf(alert: Alert): Record<string, string> {
  return {
    alert: alert.alertId,
    state: alert.state,
    severity: alert.severity,
    rule: alert.ruleId,
    field: alert.field ?? '-',
    value: shownValue(alert.value),
    threshold: shownValue(alert.threshold),
    triggered: alert.triggeredAt ?? '-',
    acknowledged: alert.acknowledgedAt ?? '-',
    cleared: alert.clearedAt ?? '-',
    'muted until': alert.mutedUntil ?? '-',
    stream: alert.streamId,
    vault: alert.vaultId,
  }
}
