import type { StateDatabase } from '../state/database.ts'

/** Of a webhook that is not sent anything any more: nothing of it is sent later, either (D39). */
export function cancelPending(state: StateDatabase, webhookId: string) {
  return state
    .updateTable('deliveries')
    .set({ state: 'cancelled', due_at: null })
    .where('webhook_id', '=', webhookId)
    .where('due_at', 'is not', null)
}
