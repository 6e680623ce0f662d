import { sql } from 'kysely'
import type { UserId } from '../../../core/ids.ts'
import type { StateDatabase } from '../../../storage/state/database.ts'
import { hourOf } from './lifetime.ts'

/** How far an inbox is read and archived as a whole. */
export interface Marks {
  readonly newest: number
  readonly readThrough: number
  readonly archivedThrough: number
}

interface Counts {
  readonly listed: number
  readonly unread: number
}

export async function marksOf(view: StateDatabase, ownerId: UserId): Promise<Marks> {
  const row = await view
    .selectFrom('inboxes')
    .select(['newest', 'read_through', 'archived_through'])
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
  return {
    newest: row?.newest ?? 0,
    readThrough: row?.read_through ?? 0,
    archivedThrough: row?.archived_through ?? 0,
  }
}

/**
 * Counts whole hours from their counts, and the hour that is expiring now entry by entry. The plus
 * signs keep the database from looking at all entries in their order instead of those of one hour.
 */
export async function countsOf(
  view: StateDatabase,
  ownerId: UserId,
  { marks, nowUs }: { readonly marks: Marks; readonly nowUs: number },
): Promise<Counts> {
  const hour = hourOf(nowUs)
  const { rows } = await sql<Counts>`
    SELECT sum(listed) AS listed, sum(unread) AS unread FROM (
      SELECT listed, unread FROM inbox_counts WHERE owner_id = ${ownerId} AND hour > ${hour}
      UNION ALL
      SELECT 1, CASE WHEN read_at IS NULL AND +position > ${marks.readThrough} THEN 1 ELSE 0 END
        FROM inbox_entries
        WHERE owner_id = ${ownerId} AND hour = ${hour} AND +expires_at > ${nowUs}
          AND archived_at IS NULL AND +position > ${marks.archivedThrough}
    ) AS counted`.execute(view)
  return { listed: rows[0]?.listed ?? 0, unread: rows[0]?.unread ?? 0 }
}
