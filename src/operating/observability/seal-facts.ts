import { metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'
import type { ProcessingStatus } from './processing-status.ts'

/** What is sealed of streams, and what waits for it. */
export function sealMetrics(
  status: () => ProcessingStatus['seals'] | undefined,
): readonly Metric[] {
  return [
    {
      type: 'gauge',
      name: 'seal_marks',
      help: metricHelp.seal_marks,
      value: () => status()?.marks ?? 0,
    },
    {
      type: 'gauge',
      name: 'seals_behind_seconds',
      help: metricHelp.seals_behind_seconds,
      value: () => status()?.behindSeconds ?? 0,
    },
    {
      type: 'counter',
      name: 'seals_made_total',
      help: metricHelp.seals_made_total,
      value: () => status()?.added ?? 0,
    },
    {
      type: 'counter',
      name: 'seals_revised_total',
      help: metricHelp.seals_revised_total,
      value: () => status()?.revised ?? 0,
    },
    {
      type: 'counter',
      name: 'seals_failed_total',
      help: metricHelp.seals_failed_total,
      value: () => status()?.failures ?? 0,
    },
  ]
}
