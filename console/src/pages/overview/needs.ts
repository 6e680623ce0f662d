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
      ({ alertId, streamName, ruleId, severity, createdAt, value }): Need => ({
        key: `alert ${alertId}`,
        tone: severity === 'critical' ? 'bad' : 'warn',
        kind: severity,
        name: streamName,
        href: paths.record('alert', alertId),
        text: value === null ? ruleId : `${ruleId}: ${String(value)}`,
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
