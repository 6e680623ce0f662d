import type { MqttBroker } from '../../../connectors/mqtt-broker/mqtt-broker.ts'
import { messageOf } from '../../core/errors.ts'
import type { Tracing } from '../../core/tracing.ts'
import type { MqttSessionStats } from '../../ingest/mqtt-sessions/mqtt-sessions.ts'
import type { DecidedTotals } from '../../ingest/pipeline/decision-store.ts'
import type { GroupCommit } from '../../ingest/pipeline/group-commit.ts'
import type { Listeners } from '../../ingest/pipeline/listeners.ts'
import type { StreamDirectory } from '../../ingest/pipeline/stream-directory.ts'
import type { Journal, JournalStatus } from '../../storage/journal/journal.ts'
import { alertMetrics, type MeasuredAlerts } from './alert-facts.ts'
import { anchorMetrics, anchorsByState, type MeasuredAnchors } from './anchor-facts.ts'
import { backupMetrics, type MeasuredBackups } from './backup-facts.ts'
import { deliveryMetrics, type MeasuredDeliveries } from './delivery-facts.ts'
import type { DiskSpace } from './disk-space.ts'
import { fileMetrics, type MeasuredFiles, refusedUploads } from './file-facts.ts'
import { fleetMetrics, type MeasuredFleets, refusedDevices } from './fleet-facts.ts'
import type { FolderWatch } from './folder-watch.ts'
import type { FailingParts } from './health.ts'
import { hookMetrics, type MeasuredHooks } from './hook-facts.ts'
import { jobMetrics, type MeasuredJobs } from './job-facts.ts'
import { ledgerMetrics, type MeasuredLedgers } from './ledger-facts.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { GaugeByLabel, Metric, MetricsNeeds } from './metrics.ts'
import { mqttCountersByReason, mqttMetrics } from './mqtt-facts.ts'
import { mqttSessionMetrics } from './mqtt-session-metrics.ts'
import type { ProcessingStatus } from './processing-status.ts'
import { sealMetrics } from './seal-facts.ts'
import { type MeasuredSources, sourceMetrics } from './source-facts.ts'
import { type MeasuredNodes, sparkplugCounters, sparkplugMetrics } from './sparkplug-facts.ts'
import { atHandMetrics, totalMetrics } from './total-facts.ts'
import { traceMetrics } from './trace-facts.ts'
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
  const answers = await Promise.allSettled([journal.status(), worker.status()])
  return failingOf({ diskSpace, folderWatch }, ...answers)
}

/** What may fail, as `GET /health/ready` names it. */
const watchedNames = ['folder', 'disk', 'journal', 'worker', 'store', 'state'] as const

function failingOf(
  { diskSpace, folderWatch }: Pick<WatchedParts, 'diskSpace' | 'folderWatch'>,
  kept: PromiseSettledResult<JournalStatus>,
  processed: PromiseSettledResult<ProcessingStatus>,
): FailingParts {
  const failing: Partial<Record<(typeof watchedNames)[number], string>> = {}
  const gone = folderWatch.look()
  if (gone !== undefined) failing.folder = gone
  if (diskSpace.problem !== undefined) failing.disk = diskSpace.problem
  if (kept.status === 'rejected') failing.journal = messageOf(kept.reason)
  else if (kept.value.problem !== undefined) failing.journal = kept.value.problem
  if (processed.status === 'rejected') failing.worker = messageOf(processed.reason)
  else {
    const { shipper, decider, held } = processed.value
    const problem = held.problem ?? shipper.problem
    if (problem !== undefined) failing.store = problem
    if (decider.problem !== undefined) failing.state = decider.problem
  }
  return failing
}

export interface MeasuredParts extends WatchedParts, MeasuredJobs, MeasuredFleets {
  readonly filing: MeasuredFiles
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
  readonly anchoring: MeasuredAnchors
  readonly ledgers: MeasuredLedgers
  readonly tails: { readonly stats: { readonly open: number; readonly refused: number } }
  readonly lastSeen: { readonly pending: number }
  readonly tracing: Pick<Tracing, 'figures'> | undefined
  readonly auth: {
    readonly directory: { readonly size: number }
    readonly limitedKeys: { readonly size: number }
    readonly failedLogins: { readonly total: number }
    readonly sessions: { readonly size: number }
  }
}

/** The figures of the service. */
export function serviceMetrics(parts: MeasuredParts): MetricsNeeds {
  const { commits, mqtt, auth, bodies } = parts
  let journal: JournalStatus | undefined
  let processing: ProcessingStatus | undefined
  let decided: DecidedTotals | undefined
  let deliveries: MeasuredDeliveries | undefined
  let failing: FailingParts = {}
  const lag = (position = 0) => Math.max(0, (journal?.head ?? 0) - position)
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['counter', 'readings_accepted_total', () => commits.kept.accepted],
    ['counter', 'readings_filtered_total', () => commits.kept.filtered],
    ['counter', 'readings_quarantined_total', () => commits.kept.quarantined],
    ['counter', 'reviews_total', () => commits.kept.reviewed],
    ['gauge', 'intake_waiting_bytes', () => commits.waitingBytes],
    ['gauge', 'bodies_in_flight_bytes', () => bodies.bytes],
    ['counter', 'journal_commits_total', () => commits.committed],
    ['gauge', 'journal_head', () => journal?.head ?? 0],
    ['gauge', 'journal_bytes', () => journal?.bytes ?? 0],
    ['gauge', 'journal_bytes_max', () => journal?.bytesMax ?? 0],
    ['gauge', 'journal_held_bytes', () => processing?.held.bytes ?? 0],
    ['gauge', 'shipper_lag', () => lag(processing?.shipper.position)],
    ['gauge', 'decider_lag', () => lag(processing?.decider.position)],
    ['gauge', 'queries_running', () => processing?.queries.running ?? 0],
    ['gauge', 'queries_waiting', () => processing?.queries.waiting ?? 0],
    ['gauge', 'stream_deletions_pending', () => parts.deletions.pending],
    ['gauge', 'lifecycle_events_pending', () => parts.lifecycle.pending],
    ...clientFigures(parts),
  ]
  return {
    metrics: [
      ...figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value })),
      ...mqttMetrics(mqtt),
      ...deliveryMetrics(
        () => deliveries,
        () => processing?.notifying,
      ),
      ...atHandMetrics(() => processing, { ...parts, sessions: auth.sessions }),
      ...totalMetrics({ decided: () => decided, stored: () => processing?.totals }),
      ...keptMetrics(parts, () => processing),
      ...twinMetrics(parts),
      ...fleetMetrics(parts),
      ...traceMetrics(() => [parts.tracing?.figures(), deliveries?.tracing]),
    ],
    ...metricsWithLabels(parts, () => failing),
    async refresh() {
      const [kept, processed, decisions, delivered] = await askThreads(parts)
      if (decisions.status === 'fulfilled') decided = decisions.value
      if (delivered.status === 'fulfilled') deliveries = delivered.value
      if (kept.status === 'fulfilled') journal = kept.value
      if (processed.status === 'fulfilled') processing = processed.value
      failing = failingOf(parts, kept, processed)
    },
  }
}

/** Clients that follow streams, that may ask, and that have tried. */
function clientFigures({
  tails,
  auth,
  lastSeen,
}: MeasuredParts): readonly [Metric['type'], MetricName, () => number][] {
  return [
    ['gauge', 'tails_open', () => tails.stats.open],
    ['counter', 'tails_refused_total', () => tails.stats.refused],
    ['gauge', 'api_keys', () => auth.directory.size],
    ['gauge', 'device_keys_cached', () => auth.limitedKeys.size],
    ['gauge', 'devices_seen_pending', () => lastSeen.pending],
    ['counter', 'logins_failed_total', () => auth.failedLogins.total],
  ]
}

/** What belongs to digital twins: files, and what is put on ledgers. */
function twinMetrics({ filing, anchoring }: MeasuredParts): readonly Metric[] {
  return [...fileMetrics(filing), ...anchorMetrics(anchoring)]
}

function metricsWithLabels(parts: MeasuredParts, failing: () => FailingParts) {
  const { mqtt, intake, filing, anchoring, ledgers } = parts
  return {
    byReason: [
      ...mqttCountersByReason(mqtt),
      sparkplugCounters(intake.sparkplug),
      refusedUploads(filing),
      refusedDevices(parts),
    ],
    byLabel: [anchorsByState(anchoring), partsFailing(failing)],
    byNetwork: ledgerMetrics(ledgers),
  }
}

function partsFailing(failing: () => FailingParts): GaugeByLabel {
  return {
    label: 'part',
    name: 'part_failing',
    help: metricHelp.part_failing,
    values: () =>
      Object.fromEntries(watchedNames.map((part) => [part, Number(failing()[part] !== undefined)])),
  }
}

/** What is removed because it is too old. */
function retentionMetrics(status: () => ProcessingStatus | undefined): readonly Metric[] {
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['counter', 'readings_expired_total', () => status()?.totals.expired ?? 0],
    ['gauge', 'retention_running', () => Number(status()?.retention.isRunning ?? false)],
    ['gauge', 'retention_streams', () => status()?.retention.streams ?? 0],
    ['counter', 'retention_passes_total', () => status()?.retention.passes ?? 0],
    ['counter', 'retention_failures_total', () => status()?.retention.failures ?? 0],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}

function diskMetrics(diskSpace: MeasuredParts['diskSpace']): readonly Metric[] {
  const figures: readonly [MetricName, () => number][] = [
    ['disk_available_bytes', () => diskSpace.available ?? 0],
    ['disk_bytes_min', () => diskSpace.bytesMin],
  ]
  return figures.map(([name, value]) => ({ type: 'gauge', name, help: metricHelp[name], value }))
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
    ...sealMetrics(() => status()?.seals),
    ...rollupMetrics(() => status()?.totals.rollups),
    ...backupMetrics(backups),
    ...alertMetrics(alerts),
    {
      type: 'counter',
      name: 'intake_faults_total',
      help: metricHelp.intake_faults_total,
      value: () => intake.faults,
    },
    ...jobMetrics(jobs),
  ]
}

async function askThreads(parts: MeasuredParts) {
  const { journal, worker, delivering, anchoring, ledgers, alerts } = parts
  return await Promise.allSettled([
    journal.status(),
    worker.status(),
    worker.decidedTotals(),
    delivering.stats(),
    alerts.count(),
    anchoring.count(),
    ledgers.count(),
  ])
}
