import type { Tone } from '../../components/badge.tsx'
import { count } from '../../formats/numbers.ts'
import { paths, withQuery } from '../../routing/paths.ts'
import type { OverviewFacts } from './rates.ts'

/** Something that somebody has to look at. */
export interface Need {
  readonly key: string
  readonly tone: Tone
  /** How bad it is, or of what kind. */
  readonly kind: string
  readonly name: string
  readonly href: string
  readonly text: string
  readonly since: string | undefined
  readonly deed: Deed | undefined
}

export type Deed =
  | { readonly is: 'acknowledge'; readonly alertId: string }
  | { readonly is: 'run'; readonly streamId: string }
  | { readonly is: 'enable'; readonly webhookId: string }

/** What is wrong, the worst first: alerts, sources, webhooks, refused readings. */
export function needsOf({ alerts, sources, webhooks, quarantine }: OverviewFacts): readonly Need[] {
  return [
    ...alerts.worst.map(
      ({ alertId, streamName, severity, createdAt, ...alert }): Need => ({
        key: `alert ${alertId}`,
        tone: severity === 'critical' ? 'bad' : 'warn',
        kind: severity,
        name: streamName,
        href: paths.record('alert', alertId),
        text: alertText(alert),
        since: createdAt,
        deed: { is: 'acknowledge', alertId },
      }),
    ),
    ...sources.worst.map(
      ({ streamId, streamName, lastError, since, lasting }): Need => ({
        key: `source ${streamId}`,
        tone: lasting ? 'bad' : 'warn',
        kind: 'source',
        name: streamName,
        href: paths.record('source', streamId),
        text: lastError ?? 'fails',
        since,
        deed: { is: 'run', streamId },
      }),
    ),
    ...(webhooks?.worst ?? []).map(
      ({ webhookId, url, status, consecutiveFailures }): Need => ({
        key: `webhook ${webhookId}`,
        tone: status === 'DISABLED' ? 'bad' : 'warn',
        kind: 'webhook',
        name: url,
        href: paths.record('webhook', webhookId),
        text: `${status.toLowerCase()} after ${count(consecutiveFailures)} failures`,
        since: undefined,
        deed: status === 'DISABLED' ? { is: 'enable', webhookId } : undefined,
      }),
    ),
    ...quarantine.worst.map(
      ({ streamId, streamName, entries, reason }): Need => ({
        key: `quarantine ${streamId} ${reason}`,
        tone: 'warn',
        kind: 'quarantine',
        name: streamName,
        href: withQuery(paths.quarantine, { stream: streamId, reason }),
        text: `${count(entries)} ${entries === 1 ? 'reading' : 'readings'} in quarantine: ${reason}`,
        since: undefined,
        deed: undefined,
      }),
    ),
  ]
}

type Alert = Pick<OverviewFacts['alerts']['worst'][number], 'ruleId' | 'value' | 'threshold'>

function alertText({ ruleId, value, threshold }: Alert): string {
  if (value === null) return ruleId
  const limit = threshold === null ? '' : `, limit ${String(threshold)}`
  return `${ruleId}: ${String(value)}${limit}`
}

/** What is wrong beyond what `needsOf` lists: the overview has the worst of each kind only. */
export interface FurtherNeeds {
  readonly text: string
  readonly href: string
}

export function furtherNeedsOf(facts: OverviewFacts): readonly FurtherNeeds[] {
  const { alerts, sources, webhooks, quarantine } = facts
  const { info, warning, critical } = alerts.firing
  const shownEntries = quarantine.worst.reduce((sum, { entries }) => sum + entries, 0)
  const worstDisabled = webhooks?.worst.filter(({ status }) => status === 'DISABLED').length ?? 0
  const kinds = [
    {
      left: info + warning + critical - alerts.worst.length,
      what: ['alert', 'alerts'],
      href: withQuery(paths.alerts, { state: 'firing' }),
    },
    {
      left: sources.failing - sources.worst.length,
      what: ['source that fails', 'sources that fail'],
      href: withQuery(paths.sources, { state: 'failing' }),
    },
    {
      left: webhooks ? webhooks.disabled - worstDisabled : 0,
      what: ['webhook disabled', 'webhooks disabled'],
      href: withQuery(paths.webhooks, { state: 'disabled' }),
    },
    {
      left: webhooks ? webhooks.failing - (webhooks.worst.length - worstDisabled) : 0,
      what: ['webhook that fails', 'webhooks that fail'],
      href: withQuery(paths.webhooks, { state: 'failing' }),
    },
    {
      left: quarantine.total - shownEntries,
      what: ['reading in quarantine', 'readings in quarantine'],
      href: paths.quarantine,
    },
  ] as const
  return kinds
    .filter(({ left }) => left > 0)
    .map(({ left, what, href }) => ({
      text: `${count(left)} more ${what[left === 1 ? 0 : 1]}`,
      href,
    }))
}
