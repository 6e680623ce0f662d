import { sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DeliveryChannel, DueDelivery, Phase } from './delivery.ts'
import type { DeliveryReader } from './desk.ts'

/** Reads what is due in one channel. */
export class StateDeliveryReader implements DeliveryReader {
  readonly channel: DeliveryChannel
  readonly #state: StateDatabase

  constructor(state: StateDatabase, channel: DeliveryChannel) {
    this.#state = state
    this.channel = channel
  }

  async due(receiverId: string, nowUs: number, limit: number): Promise<readonly DueDelivery[]> {
    const rows = await this.#state
      .selectFrom('deliveries')
      .select(['id', 'event_id', 'receiver_id', 'owner_id', 'event_type', 'resource_id', 'phase'])
      .select(['attempts', 'attempts_max', 'last_attempt_at'])
      .select(sql<number>`body IS NOT NULL`.as('has_own_body'))
      .where('receiver_id', '=', receiverId)
      .where('due_at', '<=', nowUs)
      .orderBy('due_at')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      id: row.id,
      eventId: row.event_id,
      receiverId: row.receiver_id,
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

  async nextDueUs(receiverId: string, nowUs: number): Promise<number | undefined> {
    const row = await this.#state
      .selectFrom('deliveries')
      .select('due_at')
      .where('receiver_id', '=', receiverId)
      .where('due_at', '>', nowUs)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    return row?.due_at ?? undefined
  }

  async receiversWithDue(untilUs: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#state
      .selectFrom('deliveries')
      .select('receiver_id')
      .where('channel', '=', this.channel)
      .where('due_at', '<=', untilUs)
      .groupBy('receiver_id')
      .orderBy((row) => row.fn.min('due_at'))
      .limit(limit)
      .execute()
    return rows.map(({ receiver_id }) => receiver_id)
  }
}
