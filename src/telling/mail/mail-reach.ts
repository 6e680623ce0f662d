import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** Whether any mail about events reaches this user at the moment: to how many addresses, or why to none. */
export async function mailReach(
  state: StateDatabase,
  hasServer: boolean,
  ownerId: UserId,
): Promise<{ readonly allows: boolean; readonly reason: string }> {
  if (!hasServer) return { allows: false, reason: 'this service has no mail server' }
  const rows = await state
    .selectFrom('email_recipients')
    .select(['status', 'verified_at'])
    .where('owner_id', '=', ownerId)
    .execute()
  if (rows.length === 0) return { allows: false, reason: 'there is no address to send it to' }
  const isMailed = (row: (typeof rows)[number]) =>
    row.status === 'ACTIVE' && row.verified_at !== null
  const mailed = rows.filter(isMailed).length
  if (mailed > 0) return { allows: true, reason: `addresses that are ACTIVE: ${mailed}` }
  const byStatus = Map.groupBy(rows, ({ status }) => status)
  const counts = [...byStatus].map(([status, some]) => `${some.length} ${status}`).toSorted()
  return { allows: false, reason: `no address is ACTIVE: ${counts.join(', ')}` }
}
