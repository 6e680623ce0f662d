import type { MqttBroker } from '../../../connectors/mqtt-broker/mqtt-broker.ts'
import { messageOf } from '../../core/errors.ts'
import type { MqttSessionStats } from '../../ingest/mqtt-sessions/mqtt-sessions.ts'
import type { DecidedTotals } from '../../ingest/pipeline/decision-store.ts'
import type { GroupCommit } from '../../ingest/pipeline/group-commit.ts'
import type { Listeners } from '../../ingest/pipeline/listeners.ts'
import type { StreamDirectory } from '../../ingest/pipeline/stream-directory.ts'
import type { Journal, JournalStatus } from '../../storage/journal/journal.ts'
import { alertMetrics, type MeasuredAlerts } from './alert-facts.ts'
import { backupMetrics, type MeasuredBackups } from './backup-facts.ts'
import { deliveryMetrics, type MeasuredDeliveries } from './delivery-facts.ts'
import type { DiskSpace } from './disk-space.ts'
import type { FolderWatch } from './folder-watch.ts'
import type { FailingParts } from './health.ts'
import { hookMetrics, type MeasuredHooks } from './hook-facts.ts'
import { jobMetrics, type MeasuredJobs } from './job-facts.ts'
import type { Metric, MetricsNeeds } from './metrics.ts'
import { mqttCountersByReason, mqttMetrics } from './mqtt-facts.ts'
import { mqttSessionMetrics } from './mqtt-session-metrics.ts'
import type { ProcessingStatus } from './processing-status.ts'
import { type MeasuredSources, sourceMetrics } from './source-facts.ts'
import { type MeasuredNodes, sparkplugCounters, sparkplugMetrics } from './sparkplug-facts.ts'
import { atHandMetrics, totalMetrics } from './total-facts.ts'
import { rollupMetrics, windowMetrics } from './window-facts.ts'

/** The parts whose health is asked for. */
export interface WatchedParts {
  readonly journal: Journal
  readonly worker: { status(): Promise<ProcessingStatus> }
  readonly diskSpace: Pick<DiskSpace, 'problem' | 'available' | 'bytesMin'>
  readonly folderWatch: Pick<FolderWatch, 'look'>
}

/** Every part that fails now, with what is wrong. */
export async function failingParts({
  journal,
  worker,
  diskSpace,
  folderWatch,
}: WatchedParts): Promise<FailingParts> {
  const failing: Record<string, string> = {}
  const gone = folderWatch.look()
  if (gone !== undefined) failing['folder'] = gone
  if (diskSpace.problem !== undefined) failing['disk'] = diskSpace.problem
  const [kept, processed] = await Promise.allSettled([journal.status(), worker.status()])
  if (kept.status === 'rejected') failing['journal'] = messageOf(kept.reason)
  else if (kept.value.problem !== undefined) failing['journal'] = kept.value.problem
  if (processed.status === 'rejected') failing['worker'] = messageOf(processed.reason)
  else {
    const { shipper, decider, held } = processed.value
    const problem = held.problem ?? shipper.problem
    if (problem !== undefined) failing['store'] = problem
    if (decider.problem !== undefined) failing['state'] = decider.problem
  }
  return failing
}

export interface MeasuredParts extends WatchedParts, MeasuredJobs {
  readonly worker: WatchedParts['worker'] & { decidedTotals(): Promise<DecidedTotals> }
  readonly commits: GroupCommit
  readonly intake: { readonly sparkplug: MeasuredNodes; readonly faults: number }
  readonly mqtt: MqttBroker | undefined
  readonly sources: MeasuredSources
  readonly hooks: MeasuredHooks
  readonly directory: StreamDirectory
  readonly listeners: Listeners
  readonly mqttSessions: { readonly sessions: { stats(): MqttSessionStats } }
  readonly deletions: { readonly pending: number }
  readonly lifecycle: { readonly pending: number }
  readonly bodies: { readonly bytes: number }
  readonly backups: MeasuredBackups
  readonly delivering: { stats(): Promise<MeasuredDeliveries | undefined> }
  readonly alerts: MeasuredAlerts
  readonly tails: { readonly stats: { readonly open: number; readonly refused: number } }
  readonly lastSeen: { readonly pending: number }
  readonly auth: {
    readonly directory: { readonly size: number }
    readonly limitedKeys: { readonly size: number }
    readonly failedLogins: { readonly total: number }
  }
}

/** The figures of the service. */
export function serviceMetrics(parts: MeasuredParts): MetricsNeeds {
  const { commits, mqtt, tails, auth, bodies } = parts
  let journal: JournalStatus | undefined
  let processing: ProcessingStatus | undefined
  let decided: DecidedTotals | undefined
  let deliveries: MeasuredDeliveries | undefined
  const lag = (position: number | undefined) => Math.max(0, (journal?.head ?? 0) - (position ?? 0))
  const figures: readonly [Metric['type'], string, string, () => number][] = [
    ['counter', 'readings_accepted_total', 'Readings accepted', () => commits.kept.accepted],
    ['counter', 'readings_filtered_total', 'Not to be stored', () => commits.kept.filtered],
    ['counter', 'readings_quarantined_total', 'Readings refused', () => commits.kept.quarantined],
    ['counter', 'reviews_total', 'Entries about the quarantine', () => commits.kept.reviewed],
    ['gauge', 'intake_waiting_bytes', 'Entries waiting for the disk', () => commits.waitingBytes],
    ['gauge', 'bodies_in_flight_bytes', 'Of requests without an answer', () => bodies.bytes],
    ['counter', 'journal_commits_total', 'Group commits that are on disk', () => commits.committed],
    ['gauge', 'journal_head', 'Offset of the next entry', () => journal?.head ?? 0],
    ['gauge', 'journal_bytes', 'Entries not trimmed yet', () => journal?.bytes ?? 0],
    ['gauge', 'journal_bytes_max', 'Limit of the journal', () => journal?.bytesMax ?? 0],
    ['gauge', 'journal_held_bytes', 'A server could lose', () => processing?.held.bytes ?? 0],
    ['gauge', 'shipper_lag', 'Entries not stored yet', () => lag(processing?.shipper.position)],
    ['gauge', 'decider_lag', 'Entries not decided yet', () => lag(processing?.decider.position)],
    ['gauge', 'queries_running', 'Queries of readings', () => processing?.queries.running ?? 0],
    ['gauge', 'queries_waiting', 'For their turn', () => processing?.queries.waiting ?? 0],
    ['gauge', 'tails_open', 'Connections that follow streams', () => tails.stats.open],
    ['counter', 'tails_refused_total', 'Those beyond the limits', () => tails.stats.refused],
    ['gauge', 'stream_deletions_pending', 'With data left', () => parts.deletions.pending],
    ['gauge', 'lifecycle_events_pending', 'Not journalled', () => parts.lifecycle.pending],
    ['gauge', 'api_keys', 'Keys that are not revoked', () => auth.directory.size],
    ['gauge', 'device_keys_cached', 'Keys of devices at hand', () => auth.limitedKeys.size],
    ['gauge', 'devices_seen_pending', 'Not written yet', () => parts.lastSeen.pending],
    ['counter', 'logins_failed_total', 'Credentials refused', () => auth.failedLogins.total],
  ]
  return {
    metrics: [
      ...figures.map(([type, name, help, value]) => ({ type, name, help, value })),
      ...mqttMetrics(mqtt),
      ...deliveryMetrics(
        () => deliveries,
        () => processing?.notifying,
      ),
      ...atHandMetrics(() => processing, parts),
      ...totalMetrics({ decided: () => decided, stored: () => processing?.totals }),
      ...keptMetrics(parts, () => processing),
    ],
    byReason: [...mqttCountersByReason(mqtt), sparkplugCounters(parts.intake.sparkplug)],
    async refresh() {
      const [kept, processed, decisions, delivered] = await askThreads(parts)
      if (decisions.status === 'fulfilled') decided = decisions.value
      if (delivered.status === 'fulfilled') deliveries = delivered.value
      if (kept.status === 'fulfilled') journal = kept.value
      if (processed.status === 'fulfilled') processing = processed.value
    },
  }
}

/** What is removed because it is too old. */
function retentionMetrics(status: () => ProcessingStatus | undefined): readonly Metric[] {
  const figures: readonly [Metric['type'], string, string, () => number][] = [
    ['counter', 'readings_expired_total', 'Not kept longer', () => status()?.totals.expired ?? 0],
    [
      'gauge',
      'retention_running',
      '1 during a pass',
      () => Number(status()?.retention.isRunning ?? false),
    ],
    ['gauge', 'retention_streams', 'With limits', () => status()?.retention.streams ?? 0],
    ['counter', 'retention_passes_total', 'Done', () => status()?.retention.passes ?? 0],
    ['counter', 'retention_failures_total', 'Failed', () => status()?.retention.failures ?? 0],
  ]
  return figures.map(([type, name, help, value]) => ({ type, name, help, value }))
}

function diskMetrics(diskSpace: MeasuredParts['diskSpace']): readonly Metric[] {
  const figures: readonly [string, string, () => number][] = [
    ['disk_available_bytes', 'Free on the disk with the data', () => diskSpace.available ?? 0],
    ['disk_bytes_min', 'With less no readings are taken', () => diskSpace.bytesMin],
  ]
  return figures.map(([name, help, value]) => ({ type: 'gauge', name, help, value }))
}

function keptMetrics(
  { sources, hooks, mqttSessions, intake, backups, diskSpace, alerts, ...jobs }: MeasuredParts,
  status: () => ProcessingStatus | undefined,
): readonly Metric[] {
  return [
    ...diskMetrics(diskSpace),
    ...sourceMetrics(sources),
    ...hookMetrics(hooks),
    ...mqttSessionMetrics(mqttSessions.sessions),
    ...sparkplugMetrics(intake.sparkplug),
    ...retentionMetrics(status),
    ...windowMetrics(() => status()?.windows),
    ...rollupMetrics(() => status()?.totals.rollups),
    ...backupMetrics(backups),
    ...alertMetrics(alerts),
    {
      type: 'counter',
      name: 'intake_faults_total',
      help: 'Quarantined for a fault of ours',
      value: () => intake.faults,
    },
    ...jobMetrics(jobs),
  ]
}

async function askThreads({ journal, worker, delivering, alerts }: MeasuredParts) {
  return await Promise.allSettled([
    journal.status(),
    worker.status(),
    worker.decidedTotals(),
    delivering.stats(),
    alerts.count(),
  ])
}
