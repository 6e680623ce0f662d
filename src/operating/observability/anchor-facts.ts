import type { AnchorFigures } from '../../anchors/figures/anchor-figures.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { GaugeByLabel, Metric } from './metrics.ts'

/** What tells of anchors. */
export interface MeasuredAnchors {
  /** Undefined before they were asked for. */
  readonly figures: AnchorFigures | undefined
  /** Asks anew. */
  count(): Promise<void>
}

/** The figures of what is put on ledgers. */
export function anchorMetrics(measured: MeasuredAnchors): readonly Metric[] {
  const figures = () => measured.figures
  const shown: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'anchor_oldest_seconds', () => figures()?.oldestS ?? 0],
    ['gauge', 'resources_unanchored', () => figures()?.unanchored ?? 0],
    ['counter', 'anchor_transactions_total', () => figures()?.transactions ?? 0],
    ['gauge', 'verifications_waiting', () => figures()?.verifications ?? 0],
    ['gauge', 'signatures_waiting', () => figures()?.signatures ?? 0],
  ]
  return shown.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}

export function anchorsByState(measured: MeasuredAnchors): GaugeByLabel {
  return {
    label: 'state',
    name: 'anchors',
    help: metricHelp.anchors,
    values: () => ({ ...measured.figures?.byState }),
  }
}
