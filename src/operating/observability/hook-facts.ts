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
  const figures: readonly [string, string, () => number][] = [
    ['inbound_webhook_messages_total', 'On disk', () => totals.messages],
    ['inbound_webhook_repeated_total', 'Known already', () => totals.repeated],
    ['inbound_webhook_refused_total', 'With no good signature', () => totals.refused],
  ]
  return figures.map(([name, help, value]) => ({ type: 'counter', name, help, value }))
}
