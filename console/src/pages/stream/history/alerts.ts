import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import type { PlotBand, TimeRange } from '../../../charts/field-plot.ts'

export type Alert = Operations['listStreamAlerts']['answer'][number]

/** Alerts that are looked at, the newest first. */
const alertsMax = 1000

/** The alerts of a stream that were on in a range. */
export async function alertsIn(
  streamId: string,
  range: TimeRange,
  signal: AbortSignal,
): Promise<readonly Alert[]> {
  const alerts = await api.call('listStreamAlerts', {
    path: { streamId },
    query: { limit: alertsMax },
    signal,
  })
  return alerts.filter((alert) => {
    const [fromMs, toMs] = [Date.parse(alert.triggeredAt ?? ''), endMs(alert, range)]
    return fromMs < range.toMs && toMs >= range.fromMs
  })
}

const tones = { critical: 'bad', warning: 'warn', info: 'accent' } as const

/** The alerts about a field, and those that are about none, as bands behind its line. */
export function bandsOf(
  alerts: readonly Alert[],
  field: string,
  range: TimeRange,
): readonly PlotBand[] {
  return alerts
    .filter((alert) => alert.field === null || alert.field === field)
    .map((alert) => ({
      fromMs: Date.parse(alert.triggeredAt ?? ''),
      toMs: endMs(alert, range),
      tone: tones[alert.severity],
    }))
}

function endMs({ clearedAt }: Alert, { toMs }: TimeRange): number {
  return clearedAt === null ? toMs : Date.parse(clearedAt)
}
