import type { SourceTotals } from '../../streams/sources/running-sources.ts'
import type { Metric } from './metrics.ts'

/** What tells of all sources together. */
export interface MeasuredSources {
  readonly totals: () => SourceTotals
}

type Figure = readonly [Metric['type'], string, string, (totals: SourceTotals) => number]

const figures: readonly Figure[] = [
  ['gauge', 'sources_running', 'Fetched from now', (totals) => totals.running],
  ['gauge', 'sources_connecting', 'For the first time', (totals) => totals.connecting],
  ['gauge', 'sources_waiting', 'For their next round', (totals) => totals.waiting],
  ['gauge', 'sources_failing', 'Tried again', (totals) => totals.failing],
  ['gauge', 'sources_paused', 'With their streams', (totals) => totals.paused],
  ['counter', 'source_connections_total', 'Made', (totals) => totals.connections],
  ['counter', 'source_messages_total', 'On disk, acknowledged', (totals) => totals.messages],
  ['gauge', 'source_unacknowledged', 'Not on disk yet', (totals) => totals.unacknowledged],
  [
    'counter',
    'source_rounds_total',
    'Of scheduled sources, ended well',
    (totals) => totals.rounds.count,
  ],
  [
    'counter',
    'source_rounds_overlapped_total',
    'Times that passed during the round before',
    (totals) => totals.rounds.overlapped,
  ],
  [
    'counter',
    'source_rounds_missed_total',
    'Times that passed while nothing ran',
    (totals) => totals.rounds.missed,
  ],
  [
    'gauge',
    'source_lag_seconds',
    'Of the source furthest behind its schedule',
    (totals) => totals.lagUs / 1_000_000,
  ],
]

/** The figures of streams whose readings are fetched. */
export function sourceMetrics({ totals }: MeasuredSources): readonly Metric[] {
  return figures.map(([type, name, help, value]) => ({
    type,
    name,
    help,
    value: () => value(totals()),
  }))
}
