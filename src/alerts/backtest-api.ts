import type { Static } from 'typebox'
import { formatUs } from '../core/time.ts'
import type { TimeRange } from '../reading/queries/time-range.ts'
import { askedTimeOrNumber } from '../requests/http/asked-range.ts'
import * as s from '../requests/http/schema.ts'
import type { BacktestAlert, BacktestResult } from './backtest.ts'
import { diffOf } from './backtest-diff.ts'
import { isFleetRuleId } from './fleet-rule.ts'

const compared = { description: 'A number, a text, true or false; null for silence.' } as const

/** Checked by the handler, which says more about what is wrong. */
const proposedRules = {
  type: ['array', 'object'],
  description: 'A list of rules, or rules by field, as `alertThresholds` of `processing` has them.',
} as const

const ruleAndTime = {
  ruleId: s.text,
  severity: { enum: ['info', 'warning', 'critical'] },
  triggeredAt: s.dateTime,
  clearedAt: { ...s.nullable(s.dateTime), description: 'Null where it goes on at the end.' },
} as const

const backtestAlertSchema = s.component(
  'BacktestAlert',
  s.record({
    ...ruleAndTime,
    since: { ...s.dateTime, description: 'When the rule was first broken: earlier, with `for`.' },
    value: { ...compared, description: 'What was compared when it began.' },
    threshold: compared,
    flapping: { type: 'boolean' },
    flaps: s.count,
    readings: s.listOf(
      {
        type: 'object',
        required: ['timestamp'],
        properties: { timestamp: s.dateTime },
        additionalProperties: true,
      },
      { description: 'Around its beginning, with the fields that rules look at.' },
    ),
  }),
)

const differing = s.listOf(s.record(ruleAndTime))

export const backtestRequestSchema = s.record(
  {
    start: askedTimeOrNumber('Included.'),
    end: askedTimeOrNumber('Excluded.'),
    rules: proposedRules,
  },
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
)

export const backtestSchema = s.record({
  streamId: s.uuid,
  start: s.dateTime,
  end: s.dateTime,
  readings: { ...s.count, description: 'Readings that the rules were run over.' },
  count: { ...s.count, description: 'Alerts that there would have been.' },
  alerts: s.listOf(backtestAlertSchema, { maxItems: 500, description: 'The first of them.' }),
  diff: {
    ...s.nullable(s.record({ both: differing, onlyProposed: differing, onlyCurrent: differing })),
    description:
      'Against all rules that hold for the stream; those for many streams go on in any case. Null where these are the ones that were run.',
  },
})

/** What rules would have done to a stream in a range of time. */
export function backtestBody(
  streamId: string,
  { startUs, endUs }: TimeRange,
  { readings, proposed, current }: BacktestResult,
): Static<typeof backtestSchema> {
  const diff = current === undefined ? null : diffOfOwn(proposed.alerts, current.alerts)
  return {
    streamId,
    start: formatUs(startUs),
    end: formatUs(endUs),
    readings,
    count: proposed.count,
    alerts: proposed.alerts.map(alertBody),
    diff: diff && {
      both: diff.both.map(shortBody),
      onlyProposed: diff.onlyProposed.map(shortBody),
      onlyCurrent: diff.onlyCurrent.map(shortBody),
    },
  }
}

/** Rules of fleets go on whatever the stream's own ones are: both raise what those raise. */
function diffOfOwn(proposed: readonly BacktestAlert[], current: readonly BacktestAlert[]) {
  const ofFleets = current.filter(({ ruleId }) => isFleetRuleId(ruleId))
  const own = current.filter(({ ruleId }) => !isFleetRuleId(ruleId))
  const { both, ...rest } = diffOf(proposed, own)
  const all = [...both, ...ofFleets]
  return { ...rest, both: all.toSorted((left, right) => left.triggeredAtUs - right.triggeredAtUs) }
}

function alertBody(alert: BacktestAlert): Static<typeof backtestAlertSchema> {
  const { sinceUs, value, threshold, isFlapping, flaps, readings } = alert
  return {
    ...shortBody(alert),
    since: formatUs(sinceUs),
    value,
    threshold,
    flapping: isFlapping,
    flaps,
    readings: readings.map(({ timestampUs, values }) => ({
      timestamp: formatUs(timestampUs),
      ...values,
    })),
  }
}

function shortBody({ ruleId, severity, triggeredAtUs, clearedAtUs }: BacktestAlert) {
  return {
    ruleId,
    severity,
    triggeredAt: formatUs(triggeredAtUs),
    clearedAt: clearedAtUs === null ? null : formatUs(clearedAtUs),
  }
}
