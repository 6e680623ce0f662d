import type { Static, TSchema } from 'typebox'
import { severities } from '../../../processors/alert-rules.ts'
import type { Scope } from '../../access/auth/scopes.ts'
import { alertFields } from '../../alerts/alert-api.ts'
import { alertBody } from '../../alerts/alert-body.ts'
import { formatUs } from '../../core/time.ts'
import { activities, type OwnerActivity } from '../../ingest/activity/owner-activity.ts'
import { groupSchema, reasonCounts } from '../../ingest/quarantine/owner-quarantine-api.ts'
import * as s from '../../requests/http/schema.ts'
import { type FetchedStream, sourceStateOf } from '../../streams/data-streams/fetched-streams.ts'
import { streamStates } from '../../streams/data-streams/stream-state.ts'
import { type WebhookStatus, webhookStatuses } from '../../telling/webhooks/webhook.ts'
import type { AlertFigures, FiringAlert } from './alert-figures.ts'
import { type Overview, worstMax } from './overview.ts'
import { silentAfter } from './stream-figures.ts'
import { deliveriesCountedMax, type ShownWebhook, type WebhookFigures } from './telling-figures.ts'

const sourceStates = ['running', 'connecting', 'waiting', 'failing', 'paused'] as const

const curve = s.listOf(s.nullable(s.count), {
  description: 'The 60 minutes of an hour, the oldest first; null: before the service has begun.',
})

const waiting = {
  ...s.count,
  description: `Deliveries that are not over, counted up to ${deliveriesCountedMax}.`,
}

const worst = { maxItems: worstMax, description: 'Those that need attention most.' }

const { alertId, streamId, ruleId, field, severity, value, threshold } = alertFields
const { createdAt, triggeredAt } = alertFields

const alertItem = s.record({
  alertId,
  streamId,
  streamName: s.text,
  ruleId,
  field,
  severity,
  value,
  threshold,
  createdAt,
  triggeredAt,
})

const sourceItem = s.record({
  streamId: s.uuid,
  streamName: s.text,
  since: s.dateTime,
  lastError: s.nullable(s.text),
  retries: s.count,
  lasting: {
    ...s.boolean,
    description: 'It does not pass by itself, or goes on for long: the stream is in `error`.',
  },
})

const webhookItem = s.record({
  webhookId: s.uuid,
  url: s.text,
  description: s.nullable(s.text),
  status: s.choice(webhookStatuses),
  consecutiveFailures: s.count,
  lastDelivery: s.nullable(s.dateTime),
})

const alerts = s.record({
  firing: s.record(named(severities, () => s.count)),
  acknowledged: s.count,
  worst: s.listOf(alertItem, worst),
})

const sources = s.record({
  ...named(sourceStates, () => s.count),
  nextRound: { ...s.nullable(s.dateTime), description: 'When the next round of any is due.' },
  worst: s.listOf(sourceItem, worst),
})

const webhooks = s.record({
  disabled: s.count,
  failing: { ...s.count, description: 'Active, and the last delivery has failed.' },
  waiting,
  worst: s.listOf(webhookItem, worst),
})

const mails = s.record({
  failed: { ...s.count, description: 'Given up within the last 24 hours.' },
  waiting,
})

export const overviewSchema = s.component(
  'Overview',
  s.record({
    since: { ...s.dateTime, description: 'From when on readings per minute are known.' },
    perMinute: s.record({
      start: { ...s.dateTime, description: 'Of the first minute; the last one is under way.' },
      ...named(activities, () => curve),
    }),
    perSecond: {
      ...s.record(named(activities, () => s.number)),
      description: 'Averaged over about a minute.',
    },
    streams: s.record({
      total: s.count,
      byState: s.record(named(streamStates, () => s.count)),
      silent: {
        ...s.count,
        description: 'Not paused, have sent something, and nothing for `silentAfter`.',
      },
      silentAfter: { ...s.text, examples: [silentAfter] },
    }),
    alerts,
    sources,
    webhooks: orNull(webhooks, 'webhooks:read'),
    mails: orNull(mails, 'notifications:read'),
    quarantine: s.record({
      total: s.count,
      byReason: reasonCounts,
      worst: s.listOf(groupSchema, worst),
    }),
  }),
)

type Body = Static<typeof overviewSchema>

export function overviewBody(overview: Overview): Body {
  const { activity, streams, quarantine } = overview
  const { perMinute } = activity
  return {
    since: formatUs(activity.sinceUs),
    perMinute: { start: formatUs(activity.startUs), ...perMinute },
    perSecond: perSecondBody(activity),
    streams: { ...streams, silentAfter },
    alerts: alertsBody(overview.alerts),
    sources: sourcesBody(overview.fetched),
    webhooks: overview.webhooks ? webhooksBody(overview.webhooks) : null,
    mails: overview.mails ?? null,
    quarantine: {
      total: quarantine.entries,
      byReason: quarantine.reasons,
      worst: quarantine.groups,
    },
  }
}

function perSecondBody({ perSecond }: OwnerActivity): Body['perSecond'] {
  const { received, stored, quarantined } = perSecond
  return { received: round(received), stored: round(stored), quarantined: round(quarantined) }
}

function alertsBody({ worst: some, ...counts }: AlertFigures): Body['alerts'] {
  return { ...counts, worst: some.map(alertItemBody) }
}

function alertItemBody(row: FiringAlert): Static<typeof alertItem> {
  const body = alertBody(row)
  return {
    alertId: body.alertId,
    streamId: body.streamId,
    streamName: row.stream_name,
    ruleId: body.ruleId,
    field: body.field,
    severity: body.severity,
    value: body.value,
    threshold: body.threshold,
    createdAt: body.createdAt,
    triggeredAt: body.triggeredAt,
  }
}

function sourcesBody(fetched: readonly FetchedStream[]): Body['sources'] {
  const rounds = fetched.flatMap(({ isPaused, status: { nextRoundAtUs } }) =>
    isPaused || nextRoundAtUs === undefined ? [] : [nextRoundAtUs],
  )
  const failing = fetched
    .filter((one) => sourceStateOf(one) === 'failing')
    .toSorted(
      ({ status: one }, { status: other }) =>
        Number(other.isLasting) - Number(one.isLasting) || one.sinceUs - other.sinceUs,
    )
  return {
    ...named(sourceStates, (state) => fetched.filter((one) => sourceStateOf(one) === state).length),
    nextRound: rounds.length === 0 ? null : formatUs(Math.min(...rounds)),
    worst: failing.slice(0, worstMax).map(({ streamId: id, streamName, status }) => ({
      streamId: id,
      streamName,
      since: formatUs(status.sinceUs),
      lastError: status.lastError ?? null,
      retries: status.retries,
      lasting: status.isLasting,
    })),
  }
}

function webhooksBody({ worst: some, ...counts }: WebhookFigures): NonNullable<Body['webhooks']> {
  return { ...counts, worst: some.map(webhookItemBody) }
}

function webhookItemBody(webhook: ShownWebhook): Static<typeof webhookItem> {
  const { id, lastDeliveryAtUs, ...rest } = webhook
  return {
    ...rest,
    status: rest.status as WebhookStatus,
    webhookId: id,
    lastDelivery: lastDeliveryAtUs === undefined ? null : formatUs(lastDeliveryAtUs),
  }
}

/** A member for each of some names. */
function named<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}

/** What a key without a permission is not shown. */
function orNull<Schema extends TSchema>(schema: Schema, scope: Scope) {
  return { ...s.nullable(schema), description: `null where the key lacks \`${scope}\`.` }
}

function round(perSecond: number): number {
  return Math.round(perSecond * 1_000) / 1_000
}
