import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** What tells of all webhooks that others send to. */
export interface MeasuredHooks {
  readonly totals: {
    readonly messages: number
    readonly repeated: number
    readonly refused: number
  }
}

/** The figures of messages that others have sent to streams. */
export function hookMetrics({ totals }: MeasuredHooks): readonly Metric[] {
  const figures: readonly [MetricName, () => number][] = [
    ['inbound_webhook_messages_total', () => totals.messages],
    ['inbound_webhook_repeated_total', () => totals.repeated],
    ['inbound_webhook_refused_total', () => totals.refused],
  ]
  return figures.map(([name, value]) => ({ type: 'counter', name, help: metricHelp[name], value }))
}
