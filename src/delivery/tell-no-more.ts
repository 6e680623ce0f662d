import type { Compilable } from 'kysely'
import type { StateDatabase } from '../state/database.ts'

/**
 * The changes after which a webhook is told nothing, be it switched off or gone: no event is looked at for
 * it, and nothing that waits is sent later, either (D39).
 */
export function tellNoMore(state: StateDatabase, webhookId: string): readonly Compilable[] {
  return [
    state.deleteFrom('webhook_subscriptions').where('webhook_id', '=', webhookId),
    state
      .updateTable('deliveries')
      .set({ state: 'cancelled', due_at: null })
      .where('webhook_id', '=', webhookId)
      .where('due_at', 'is not', null),
  ]
}
