import type { DecidedTotals } from '../../ingest/pipeline/decision-store.ts'
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
  const figures: readonly [Metric['type'], string, string, () => number][] = [
    ['gauge', 'readings_received', 'Received, ever', () => decided()?.received ?? 0],
    ['counter', 'readings_stored_total', 'Stored, ever', () => stored()?.stored ?? 0],
    ['counter', 'readings_duplicate_total', 'Came twice', () => stored()?.duplicates ?? 0],
    ['counter', 'readings_unchanged_total', 'Nothing new', () => stored()?.unchanged ?? 0],
    ['gauge', 'readings_ever_filtered', 'Not to be stored', () => decided()?.filtered ?? 0],
    ['gauge', 'quarantine_entries', 'Refused, kept now', () => decided()?.quarantined ?? 0],
    ['gauge', 'readings_discarded', 'Refused, not kept', discarded],
    ['counter', 'readings_deleted_total', 'Removed', () => stored()?.deleted ?? 0],
    ['gauge', 'readings_late', 'To be looked up', () => stored()?.late ?? 0],
    ['gauge', 'stored_streams', 'Known to the store', () => stored()?.streams ?? 0],
  ]
  return figures.map(([type, name, help, value]) => ({ type, name, help, value }))
}

/** Streams that the threads have at hand; of one that is gone, nobody has anything. */
export function atHandMetrics(
  status: () => ProcessingStatus | undefined,
  { directory, listeners }: Readonly<Record<'directory' | 'listeners', { readonly size: number }>>,
): readonly Metric[] {
  const figures: readonly [string, string, () => number][] = [
    ['stream_cache_entries', 'Streams at hand', () => directory.size],
    ['mqtt_followed_streams', 'With subscribers', () => listeners.size],
    ['shipper_streams', 'At hand to be stored', () => status()?.atHand.shipper ?? 0],
    ['decider_streams', 'At hand to be counted', () => status()?.atHand.decider ?? 0],
    ['alert_streams', 'With rules at hand', () => status()?.atHand.alerts ?? 0],
    ['worker_heap_bytes', 'Of the worker thread', () => status()?.heapBytes ?? 0],
  ]
  return figures.map(([name, help, value]) => ({ type: 'gauge', name, help, value }))
}
