import { sql } from 'kysely'
import type { StateDatabase } from '../state/database.ts'
import type { DueDelivery, Phase } from './delivery.ts'
import type { DeliveryReader } from './desk.ts'

/** Reads what is due. */
export class StateDeliveryReader implements DeliveryReader {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  async due(webhookId: string, nowUs: number, limit: number): Promise<readonly DueDelivery[]> {
    const rows = await this.#state
      .selectFrom('deliveries')
      .select(['id', 'event_id', 'webhook_id', 'owner_id', 'event_type', 'resource_id', 'phase'])
      .select(['attempts', 'attempts_max', 'last_attempt_at'])
      .select(sql<number>`body IS NOT NULL`.as('has_own_body'))
      .where('webhook_id', '=', webhookId)
      .where('due_at', '<=', nowUs)
      .orderBy('due_at')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      id: row.id,
      eventId: row.event_id,
      webhookId: row.webhook_id,
      ownerId: row.owner_id,
      eventType: row.event_type,
      resourceId: row.resource_id,
      phase: row.phase as Phase,
      attempts: row.attempts,
      attemptsMax: row.attempts_max,
      lastAttemptAtUs: row.last_attempt_at ?? undefined,
      hasOwnBody: row.has_own_body === 1,
    }))
  }

  async nextDueUs(webhookId: string, nowUs: number): Promise<number | undefined> {
    const row = await this.#state
      .selectFrom('deliveries')
      .select('due_at')
      .where('webhook_id', '=', webhookId)
      .where('due_at', '>', nowUs)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    return row?.due_at ?? undefined
  }

  async webhooksWithDue(untilUs: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#state
      .selectFrom('deliveries')
      .select('webhook_id')
      .where('due_at', '<=', untilUs)
      .groupBy('webhook_id')
      .orderBy((row) => row.fn.min('due_at'))
      .limit(limit)
      .execute()
    return rows.map(({ webhook_id }) => webhook_id)
  }
}
