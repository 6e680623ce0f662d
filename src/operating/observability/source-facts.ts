import type { SourceTotals } from '../../streams/sources/running-sources.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** What tells of all sources together. */
export interface MeasuredSources {
  readonly totals: () => SourceTotals
}

type Figure = readonly [Metric['type'], MetricName, (totals: SourceTotals) => number]

const figures: readonly Figure[] = [
  ['gauge', 'sources_running', (totals) => totals.running],
  ['gauge', 'sources_connecting', (totals) => totals.connecting],
  ['gauge', 'sources_waiting', (totals) => totals.waiting],
  ['gauge', 'sources_failing', (totals) => totals.failing],
  ['gauge', 'sources_paused', (totals) => totals.paused],
  ['counter', 'source_connections_total', (totals) => totals.connections],
  ['counter', 'source_messages_total', (totals) => totals.messages],
  ['counter', 'source_skipped_total', (totals) => totals.skipped],
  ['gauge', 'source_unacknowledged', (totals) => totals.unacknowledged],
  ['counter', 'source_rounds_total', (totals) => totals.rounds.count],
  ['counter', 'source_rounds_overlapped_total', (totals) => totals.rounds.overlapped],
  ['counter', 'source_rounds_missed_total', (totals) => totals.rounds.missed],
  ['gauge', 'source_lag_seconds', (totals) => totals.lagUs / 1_000_000],
]

/** The figures of streams whose readings are fetched. */
export function sourceMetrics({ totals }: MeasuredSources): readonly Metric[] {
  return figures.map(([type, name, value]) => ({
    type,
    name,
    help: metricHelp[name],
    value: () => value(totals()),
  }))
}
