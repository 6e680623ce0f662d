import type { Metric } from './metrics.ts'
import type { ProcessingStatus } from './processing-status.ts'

/** What is computed of the windows of streams. */
export function windowMetrics(
  status: () => ProcessingStatus['windows'] | undefined,
): readonly Metric[] {
  return [
    {
      type: 'gauge',
      name: 'window_marks',
      help: 'Stretches of windows that are still to be computed, open ones included',
      value: () => status()?.marks ?? 0,
    },
    {
      type: 'gauge',
      name: 'windows_behind_seconds',
      help: 'Seconds for which some windows have been due without a break',
      value: () => status()?.behindSeconds ?? 0,
    },
    {
      type: 'counter',
      name: 'windows_too_slow_total',
      help: 'Attempts to compute a single window that took too long, since the start',
      value: () => status()?.tooSlow ?? 0,
    },
    {
      type: 'counter',
      name: 'windows_computed_total',
      help: 'Windows computed for the first time since the start',
      value: () => status()?.added ?? 0,
    },
    {
      type: 'counter',
      name: 'windows_revised_total',
      help: 'Windows whose results were computed again and differ, since the start',
      value: () => status()?.revised ?? 0,
    },
  ]
}

/** What queries are answered from instead of all readings. */
export function rollupMetrics(
  status: () => ProcessingStatus['totals']['rollups'],
): readonly Metric[] {
  return [
    {
      type: 'gauge',
      name: 'rollup_streams',
      help: 'Streams with so many readings that they are rolled up',
      value: () => status()?.streams ?? 0,
    },
    {
      type: 'gauge',
      name: 'rollup_marks',
      help: 'Stretches of rolled-up streams that are answered from readings until they are rolled up',
      value: () => status()?.marks ?? 0,
    },
    {
      type: 'counter',
      name: 'rollup_rows_total',
      help: 'Rows of rollups written since the start',
      value: () => status()?.computed ?? 0,
    },
  ]
}
