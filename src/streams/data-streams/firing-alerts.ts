import type { Severity } from '../../../processors/alert-rules.ts'
import type { StreamId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { padded } from '../../storage/state/portions.ts'

/** How many alerts of a stream fire that nobody has acknowledged, and how bad the worst is; null: none does. */
export interface FiringAlerts {
  readonly alerts: number
  readonly severity: Severity | null
}

export const noneFires: FiringAlerts = { alerts: 0, severity: null }

/** Alerts that fire, and the worst of them, by stream; one without any is left out. */
export async function firingOf(
  state: StateDatabase,
  ids: readonly StreamId[],
): Promise<ReadonlyMap<StreamId, FiringAlerts>> {
  const rows = await state
    .selectFrom('alerts')
    .select(['stream_id', 'severity'])
    .where('stream_id', 'in', padded(ids))
    .where('state', '=', 'firing')
    .execute()
  const byStream = Map.groupBy(rows, (row) => row.stream_id as StreamId)
  return new Map(
    [...byStream].map(([id, alerts]) => {
      const found = new Set(alerts.map(({ severity }) => severity))
      const severity = worstFirst.find((one) => found.has(one)) ?? null
      return [id, { alerts: alerts.length, severity }] as const
    }),
  )
}

const worstFirst: readonly Severity[] = ['critical', 'warning', 'info']
