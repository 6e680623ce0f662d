import { type MetricName, metricHelp } from './metric-help.ts'
import type { CounterByReason, Metric } from './metrics.ts'

/** What tells of files that come in, and of what the store of files gives up. */
export interface MeasuredFiles {
  readonly uploads: {
    readonly arriving: { readonly count: number; readonly bytes: number }
    readonly counts: {
      readonly taken: number
      readonly takenBytes: number
      readonly refused: ReadonlyMap<string, number>
    }
  }
  readonly unused: { readonly removed: number }
}

/** The figures of files. */
export function fileMetrics({ uploads, unused }: MeasuredFiles): readonly Metric[] {
  const { arriving, counts } = uploads
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'uploads_running', () => arriving.count],
    ['counter', 'upload_received_bytes_total', () => arriving.bytes],
    ['counter', 'uploads_taken_total', () => counts.taken],
    ['counter', 'upload_taken_bytes_total', () => counts.takenBytes],
    ['counter', 'contents_removed_total', () => unused.removed],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}

/** Uploads that were not taken, by the codes of their answers. */
export function refusedUploads({ uploads }: MeasuredFiles): CounterByReason {
  return {
    name: 'uploads_refused_total',
    help: metricHelp.uploads_refused_total,
    values: () => Object.fromEntries(uploads.counts.refused),
  }
}
