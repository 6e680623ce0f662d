import type { UserId } from '../../core/ids.ts'
import type { EgressGuard } from '../../egress/egress-guard.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { knownProblemOf } from './webhook-destination.ts'

/** Whether events of a type reach any webhook of this user at the moment: how many, or why none. */
export async function webhookReach(
  { state, guard }: { readonly state: StateDatabase; readonly guard: EgressGuard },
  ownerId: UserId,
  type: string,
): Promise<{ readonly allows: boolean; readonly reason: string }> {
  const rows = await state
    .selectFrom('webhooks')
    .select(['status', 'url', 'event_types'])
    .where('owner_id', '=', ownerId)
    .execute()
  const subscribed = rows.filter(({ event_types: types }) =>
    (JSON.parse(types) as readonly string[]).includes(type),
  )
  if (subscribed.length === 0) return { allows: false, reason: 'no webhook is subscribed to it' }
  const byState = Map.groupBy(subscribed, ({ status, url }) => {
    if (status !== 'ACTIVE') return status
    return knownProblemOf(url, guard) === undefined ? status : 'leading to where none may'
  })
  const active = byState.get('ACTIVE')?.length ?? 0
  if (active > 0) {
    const reason = `subscribed and ACTIVE: ${active}; preferences never hold back webhooks`
    return { allows: true, reason }
  }
  const counts = [...byState].map(([of, some]) => `${some.length} ${of}`).toSorted()
  return { allows: false, reason: `no subscribed webhook can be notified: ${counts.join(', ')}` }
}
