import type { DurableSessions } from './mqtt-sessions/durable-sessions.ts'
import type { StateDatabase } from './state/database.ts'

/** Users that are asked for in one query. */
const usersAtOnce = 500

/**
 * Takes away what is kept for users who are no more: they were deleted while no service ran, or a
 * crash came before their sessions went.
 */
export async function forgetDeletedUsers(
  state: StateDatabase,
  sessions: DurableSessions,
): Promise<void> {
  const userIds = [...sessions.userIds()]
  for (let at = 0; at < userIds.length; at += usersAtOnce) {
    const some = userIds.slice(at, at + usersAtOnce)
    const rows = await state
      .selectFrom('users')
      .select('id')
      .where('id', 'in', some)
      .where('deleted_at', 'is', null)
      .execute()
    const present = new Set(rows.map(({ id }) => id))
    for (const userId of some) if (!present.has(userId)) await sessions.forgetUser(userId)
  }
}
