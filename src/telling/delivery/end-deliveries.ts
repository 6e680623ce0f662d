import type { Compilable } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DeliveryChannel } from './delivery.ts'

/**
 * The changes after which a receiver is told nothing, be it switched off or gone: no event is
 * looked at for it, and nothing that waits is sent later, either
 * (decisions.md#attempts-and-passes).
 */
export function endDeliveries(
  state: StateDatabase,
  receiverId: string,
  channel: DeliveryChannel,
): readonly Compilable[] {
  const waiting = state
    .updateTable('deliveries')
    .set({ state: 'cancelled', due_at: null })
    .where('receiver_id', '=', receiverId)
    .where('due_at', 'is not', null)
  if (channel === 'mail') return [waiting]
  return [state.deleteFrom('webhook_subscriptions').where('webhook_id', '=', receiverId), waiting]
}
