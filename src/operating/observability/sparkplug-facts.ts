import type { SparkplugNodes } from '../../ingest/pipeline/sparkplug-nodes.ts'
import type { CounterByReason, Metric } from './metrics.ts'

export type MeasuredNodes = Pick<SparkplugNodes, 'size' | 'stats'>

/** The figures of edge nodes that speak Sparkplug B. */
export function sparkplugMetrics(nodes: MeasuredNodes): readonly Metric[] {
  const help = 'Edge nodes at hand'
  return [{ type: 'gauge', name: 'sparkplug_nodes', help, value: () => nodes.size }]
}

/** What edge nodes have said, and what they were asked. */
export function sparkplugCounters(nodes: MeasuredNodes): CounterByReason {
  const help = 'What edge nodes have said, and what they were asked'
  return { name: 'sparkplug_events_total', help, values: () => nodes.stats }
}
