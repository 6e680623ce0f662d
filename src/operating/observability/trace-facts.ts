import type { TracingFigures } from '../../core/tracing.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** The figures of traces, of all threads that send some. */
export function traceMetrics(
  threads: () => readonly (TracingFigures | undefined)[],
): readonly Metric[] {
  const sum = (name: keyof TracingFigures) =>
    threads().reduce((total, figures) => total + (figures?.[name] ?? 0), 0)
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'trace_spans_waiting', () => sum('waiting')],
    ['counter', 'trace_spans_sent_total', () => sum('sent')],
    ['counter', 'trace_spans_dropped_total', () => sum('dropped')],
    ['counter', 'trace_spans_failed_total', () => sum('failed')],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}
