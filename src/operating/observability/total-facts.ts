import type { DecidedTotals } from '../../ingest/pipeline/decision-store.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'
import type { ProcessingStatus } from './processing-status.ts'

interface MeasuredTotals {
  readonly decided: () => DecidedTotals | undefined
  readonly stored: () => ProcessingStatus['totals'] | undefined
}

/**
 * What became of all readings that were ever received, those of streams that have left included: at rest received
 * is stored, duplicates, unchanged, filtered, quarantined and discarded together.
 */
export function totalMetrics({ decided, stored }: MeasuredTotals): readonly Metric[] {
  const discarded = () => (decided()?.discarded ?? 0) + (stored()?.refused ?? 0)
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'readings_received', () => decided()?.received ?? 0],
    ['counter', 'readings_stored_total', () => stored()?.stored ?? 0],
    ['counter', 'readings_duplicate_total', () => stored()?.duplicates ?? 0],
    ['counter', 'readings_unchanged_total', () => stored()?.unchanged ?? 0],
    ['gauge', 'readings_ever_filtered', () => decided()?.filtered ?? 0],
    ['gauge', 'quarantine_entries', () => decided()?.quarantined ?? 0],
    ['gauge', 'readings_discarded', discarded],
    ['counter', 'readings_deleted_total', () => stored()?.deleted ?? 0],
    ['gauge', 'readings_late', () => stored()?.late ?? 0],
    ['gauge', 'stored_streams', () => stored()?.streams ?? 0],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}

type AtHand = 'directory' | 'listeners' | 'sessions'

/** Streams that the threads have at hand, and browsers that are signed in: of one that is gone, nobody has anything. */
export function atHandMetrics(
  status: () => ProcessingStatus | undefined,
  { directory, listeners, sessions }: Readonly<Record<AtHand, { readonly size: number }>>,
): readonly Metric[] {
  const figures: readonly [MetricName, () => number][] = [
    ['stream_cache_entries', () => directory.size],
    ['console_sessions', () => sessions.size],
    ['mqtt_followed_streams', () => listeners.size],
    ['shipper_streams', () => status()?.atHand.shipper ?? 0],
    ['decider_streams', () => status()?.atHand.decider ?? 0],
    ['alert_streams', () => status()?.atHand.alerts ?? 0],
    ['worker_heap_bytes', () => status()?.heapBytes ?? 0],
  ]
  return figures.map(([name, value]) => ({ type: 'gauge', name, help: metricHelp[name], value }))
}
