import { sql } from 'kysely'
import type { UserId } from '../core/ids.ts'
import type { StateDatabase, Tell } from '../state/database.ts'
import { cancelPending } from './cancel-pending.ts'
import type { DeliveryDesk, DeskRequest, EndedAttempt } from './desk.ts'
import { padded, portionsOf } from './portions.ts'

/** A receiver that has failed so often in a row is not sent anything any more (D40). */
const failuresMax = 10

/** A webhook that is not sent anything any more, because it has failed too often. */
export interface DisabledWebhook {
  readonly id: string
  readonly ownerId: UserId
  readonly url: string
  readonly consecutiveFailures: number
}

export interface StateDeskNeeds {
  readonly state: StateDatabase
  /** Writes down, within a transaction, that a webhook was disabled. */
  readonly recordDisabled: (transaction: StateDatabase, webhook: DisabledWebhook) => Promise<void>
  /** Tells of what was written down; resolves with what is to follow once it is committed. */
  readonly tell: Tell
}

/** The desk at the connection that writes the state: all of a request is one transaction. */
export class StateDesk implements DeliveryDesk {
  readonly #needs: StateDeskNeeds
  /** As many as there are webhooks at most. */
  #new = new Set<string>()
  #arrived = Promise.withResolvers<void>()

  constructor(needs: StateDeskNeeds) {
    this.#needs = needs
  }

  /** Tells the engine of new deliveries, once they are committed. */
  announce(webhookIds: Iterable<string>): void {
    for (const id of webhookIds) this.#new.add(id)
    if (this.#new.size > 0) this.#arrived.resolve()
  }

  async news(): Promise<readonly string[]> {
    await this.#arrived.promise
    const ids = [...this.#new]
    this.#new = new Set()
    this.#arrived = Promise.withResolvers()
    return ids
  }

  /** What a process has taken that is gone; to be called where there can be no other. */
  async takeBack(nowUs: number): Promise<void> {
    await this.#needs.state
      .updateTable('deliveries')
      .set({ due_at: dueAgain(nowUs), lease: null })
      .where('lease', 'is not', null)
      .execute()
  }

  async exchange(request: DeskRequest): Promise<readonly string[]> {
    const { state, tell } = this.#needs
    const { given, afterwards } = await state.transaction().execute(async (transaction) => {
      const taken = await take(transaction, request)
      await release(transaction, request)
      await giveUp(transaction, request.givenUp)
      await record(transaction, request)
      const hasDisabled = await this.#count(transaction, request.ended)
      return { given: taken, afterwards: hasDisabled ? await tell(transaction) : undefined }
    })
    afterwards?.()
    return given
  }

  /** Counts the failures of each receiver in a row. Resolves with whether one was disabled. */
  async #count(transaction: StateDatabase, ended: readonly EndedAttempt[]): Promise<boolean> {
    let hasDisabled = false
    for (const [id, attempts] of Map.groupBy(ended, ({ webhookId }) => webhookId)) {
      const counted = attempts.filter(({ failures }) => failures !== 'same')
      const row = await transaction
        .selectFrom('webhooks')
        .select(['id', 'owner_id', 'url', 'status', 'consecutive_failures'])
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row) continue
      const { failures, isTooMany } = failuresAfter(row.consecutive_failures, counted)
      const isDisabled = isTooMany && row.status === 'ACTIVE'
      const deliveredAt = Math.max(
        ...attempts.map(({ delivered, endedAtUs }) => (delivered ? endedAtUs : 0)),
      )
      await transaction
        .updateTable('webhooks')
        .set((webhook) => ({
          consecutive_failures: failures,
          recorded_attempts: webhook('recorded_attempts', '+', attempts.length),
          ...(isDisabled && { status: 'DISABLED' }),
        }))
        .$if(deliveredAt > 0, (update) => update.set({ last_delivery_at: deliveredAt }))
        .where('id', '=', id)
        .execute()
      if (!isDisabled) continue
      hasDisabled = true
      await cancelPending(transaction, id).execute()
      const ownerId = row.owner_id as UserId
      const webhook = { id, ownerId, url: row.url, consecutiveFailures: failures }
      await this.#needs.recordDisabled(transaction, webhook)
    }
    return hasDisabled
  }
}

/** In the order of the attempts; once there were too many, nothing that follows changes that. */
function failuresAfter(before: number, counted: readonly EndedAttempt[]) {
  let failures = before
  for (const { failures: change } of counted) {
    failures = change === 'reset' ? 0 : failures + 1
    if (failures >= failuresMax) return { failures, isTooMany: true }
  }
  return { failures, isTooMany: false }
}

async function take(
  transaction: StateDatabase,
  { wanted, lease, nowUs, leasedUntilUs }: DeskRequest,
): Promise<readonly string[]> {
  if (wanted.length === 0) return []
  const rows = await transaction
    .updateTable('deliveries')
    .set({ lease, due_at: leasedUntilUs })
    .where('id', 'in', padded(wanted))
    .where('due_at', '<=', nowUs)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function release(
  transaction: StateDatabase,
  { released, lease, nowUs }: DeskRequest,
): Promise<void> {
  if (released.length === 0) return
  await transaction
    .updateTable('deliveries')
    .set({ lease: null, due_at: dueAgain(nowUs) })
    .where('id', 'in', padded(released))
    .where('lease', '=', lease)
    .execute()
}

/** What was not attempted yet keeps its place in the order; what is not to be sent stays so. */
function dueAgain(nowUs: number) {
  return sql<number | null>`CASE WHEN due_at IS NULL THEN NULL
    WHEN attempts = 0 THEN created_at ELSE ${nowUs} END`
}

async function giveUp(transaction: StateDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await transaction
    .updateTable('deliveries')
    .set({ state: 'failed', due_at: null })
    .where('id', 'in', padded(ids))
    .where('due_at', 'is not', null)
    .execute()
}

async function record(
  transaction: StateDatabase,
  { ended, lease }: Pick<DeskRequest, 'ended' | 'lease'>,
): Promise<void> {
  for (const some of portionsOf(ended)) {
    await transaction
      .insertInto('delivery_attempts')
      .values(some.map(attemptRow))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const delivered = ended.filter((one) => one.delivered)
  if (delivered.length > 0) {
    await transaction
      .updateTable('deliveries')
      .set((row) => ({
        state: 'delivered',
        attempts: row('attempts', '+', 1),
        due_at: null,
        lease: null,
        last_attempt_at: Math.max(...delivered.map(({ endedAtUs }) => endedAtUs)),
      }))
      .where('id', 'in', padded(delivered.map(({ deliveryId }) => deliveryId)))
      .execute()
  }
  for (const one of ended) if (!one.delivered) await recordFailure(transaction, one, lease)
}

/** What was cancelled or taken by another process meanwhile stays as it is, but for the count. */
async function recordFailure(
  transaction: StateDatabase,
  { deliveryId, endedAtUs, state, phase, dueAtUs }: EndedAttempt,
  lease: string,
): Promise<void> {
  const isOurs = sql<boolean>`state = 'pending' AND lease = ${lease}`
  await transaction
    .updateTable('deliveries')
    .set((row) => ({
      attempts: row('attempts', '+', 1),
      last_attempt_at: endedAtUs,
      state: sql<string>`CASE WHEN ${isOurs} THEN ${state} ELSE state END`,
      phase: sql<string>`CASE WHEN ${isOurs} THEN ${phase} ELSE phase END`,
      due_at: sql<number | null>`CASE WHEN ${isOurs} THEN ${dueAtUs ?? null} ELSE due_at END`,
      lease: sql<string | null>`CASE WHEN lease = ${lease} THEN NULL ELSE lease END`,
    }))
    .where('id', '=', deliveryId)
    .execute()
}

function attemptRow(one: EndedAttempt) {
  return {
    delivery_id: one.deliveryId,
    attempt: one.attempt,
    webhook_id: one.webhookId,
    event_id: one.eventId,
    event_type: one.eventType,
    attempted_at: one.attemptedAtUs,
    duration_us: one.endedAtUs - one.attemptedAtUs,
    status_code: one.statusCode ?? null,
    delivered: Number(one.delivered),
    message: one.message,
    next_attempt_at: one.dueAtUs ?? null,
    request_headers: one.requestHeaders,
    response_excerpt: one.responseExcerpt,
  }
}
