import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import type { PlotBand, TimeRange } from '../../../charts/field-plot.ts'

export type Alert = Operations['listStreamAlerts']['answer'][number]

/** Alerts of a range that are shown, the newest first. */
const alertsMax = 1000

/** The alerts of a stream that were on in a range. */
export async function alertsIn(
  streamId: string,
  { fromMs, toMs }: TimeRange,
  signal: AbortSignal,
): Promise<readonly Alert[]> {
  const [start, end] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
  return await api.call('listStreamAlerts', {
    path: { streamId },
    query: { start, end, limit: alertsMax },
    signal,
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
