import { sql } from 'kysely'
import { type Severity, severities } from '../../../processors/alert-rules.ts'
import type { AlertRow } from '../../alerts/alert.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** An alert that goes on, with the name of its stream. */
export interface FiringAlert extends AlertRow {
  readonly stream_name: string
}

export interface AlertFigures {
  readonly firing: Readonly<Record<Severity, number>>
  readonly acknowledged: number
  /** The most severe of those that fire come first, and the newest of them. */
  readonly worst: readonly FiringAlert[]
}

interface Counted {
  readonly state: string
  readonly severity: Severity
  readonly alerts: number
}

/** What the rules of an owner have found that is not over. */
export async function alertFigures(
  state: StateDatabase,
  ownerId: UserId,
  shownMax: number,
): Promise<AlertFigures> {
  const { rows } = await sql<Counted>`SELECT state, severity, count(*) AS alerts FROM alerts
    WHERE owner_id = ${ownerId} AND state <> 'cleared'
      AND EXISTS (SELECT 1 FROM data_streams WHERE data_streams.id = alerts.stream_id)
    GROUP BY state, severity`.execute(state)
  const sum = (isMeant: (one: Counted) => boolean) =>
    rows.filter(isMeant).reduce((total, { alerts }) => total + alerts, 0)
  const firing = Object.fromEntries(
    severities.map((one) => [one, sum((row) => row.state === 'firing' && row.severity === one)]),
  ) as Record<Severity, number>
  const worst: FiringAlert[] = []
  for (const severity of severities.toReversed()) {
    if (firing[severity] === 0 || worst.length >= shownMax) continue
    worst.push(
      ...(await newestFiring(state, ownerId, { severity, limit: shownMax - worst.length })),
    )
  }
  return { firing, acknowledged: sum((row) => row.state === 'acknowledged'), worst }
}

async function newestFiring(
  state: StateDatabase,
  ownerId: UserId,
  { severity, limit }: { readonly severity: Severity; readonly limit: number },
): Promise<readonly FiringAlert[]> {
  return await state
    .selectFrom('alerts')
    .innerJoin('data_streams as stream', 'stream.id', 'alerts.stream_id')
    .selectAll('alerts')
    .select('stream.name as stream_name')
    .where('alerts.owner_id', '=', ownerId)
    .where('alerts.severity', '=', severity)
    .where('alerts.state', '=', sql.lit('firing'))
    .orderBy('alerts.created_at', 'desc')
    .orderBy('alerts.id', 'desc')
    .limit(limit)
    .execute()
}
