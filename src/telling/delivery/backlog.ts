import { sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'

/** Deliveries and events that wait. It is counted up to a limit: who asks must not wait for millions of rows. */
export interface Backlog {
  /** Deliveries that are not over: due now, taken, or due later. */
  readonly deliveriesPending: number
  /**
   * Streams and vaults whose coalesced events are due, and not told yet
   * (decisions.md#events-that-are-coalesced).
   */
  readonly coalescedWaiting: number
}

const countedMax = 100_000

export async function backlogOf(state: StateDatabase, nowUs: number): Promise<Backlog> {
  const pending = sql`SELECT 1 FROM deliveries WHERE due_at IS NOT NULL LIMIT ${countedMax}`
  const waiting = sql`SELECT 1 FROM coalesced_events
    WHERE due_at <= ${nowUs} AND count > 0 LIMIT ${countedMax}`
  const { rows } = await sql<Backlog>`SELECT
    (SELECT count(*) FROM (${pending}) AS deliveries) AS "deliveriesPending",
    (SELECT count(*) FROM (${waiting}) AS events) AS "coalescedWaiting"`.execute(state)
  return rows[0] ?? { deliveriesPending: 0, coalescedWaiting: 0 }
}
