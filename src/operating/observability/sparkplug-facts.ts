import type { SparkplugNodes } from '../../ingest/pipeline/sparkplug-nodes.ts'
import { metricHelp } from './metric-help.ts'
import type { CounterByReason, Metric } from './metrics.ts'

export type MeasuredNodes = Pick<SparkplugNodes, 'size' | 'stats'>

/** The figures of edge nodes that speak Sparkplug B. */
export function sparkplugMetrics(nodes: MeasuredNodes): readonly Metric[] {
  const help = metricHelp.sparkplug_nodes
  return [{ type: 'gauge', name: 'sparkplug_nodes', help, value: () => nodes.size }]
}

/** What edge nodes have said, and what they were asked. */
export function sparkplugCounters(nodes: MeasuredNodes): CounterByReason {
  const help =
    'Births, deaths, data and gaps of Sparkplug edge nodes, and requests to them, by reason'
  return { name: 'sparkplug_events_total', help, values: () => nodes.stats }
}
