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
    ...(alerts?.worst ?? []).map(
      ({ id, name, rule, severity, since, value }): Need => ({
        key: `alert ${id}`,
        tone: severity === 'critical' ? 'bad' : 'warn',
        kind: severity,
        name,
        href: paths.record('alert', id),
        text: value === null || value === undefined ? rule : `${rule}: ${JSON.stringify(value)}`,
        since,
        deed: { is: 'acknowledge', alertId: id },
      }),
    ),
    ...sources.worst.map(
      ({ streamId, name, error, since }): Need => ({
        key: `source ${streamId}`,
        tone: 'bad',
        kind: 'source',
        name,
        href: paths.record('source', streamId),
        text: error,
        since,
        deed: { is: 'run', streamId },
      }),
    ),
    ...(webhooks?.worst ?? []).map(
      ({ id, url, status, consecutiveFailures }): Need => ({
        key: `webhook ${id}`,
        tone: status === 'DISABLED' ? 'bad' : 'warn',
        kind: 'webhook',
        name: url,
        href: paths.record('webhook', id),
        text: `${status.toLowerCase()} after ${count(consecutiveFailures)} failures`,
        since: undefined,
        deed: status === 'DISABLED' ? { is: 'enable', webhookId: id } : undefined,
      }),
    ),
    ...quarantine.worst.map(
      ({ streamId, name, count: entries, reason }): Need => ({
        key: `quarantine ${streamId} ${reason}`,
        tone: 'warn',
        kind: 'quarantine',
        name,
        href: withQuery(paths.quarantine, { stream: streamId, reason }),
        text: `${count(entries)} readings in quarantine: ${reason}`,
        since: undefined,
        deed: undefined,
      }),
    ),
  ]
}
