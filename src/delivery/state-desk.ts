import { sql } from 'kysely'
import type { UserId } from '../core/ids.ts'
import type { StateDatabase, Tell } from '../state/database.ts'
import { padded } from '../state/portions.ts'
import type { DeliveryDesk, DeskRequest } from './desk.ts'
import { type RecordedAttempt, recordAttempts } from './recorded-attempts.ts'
import { tellNoMore } from './tell-no-more.ts'

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
      await giveUp(transaction, request)
      const hasDisabled = await this.#count(transaction, await recordAttempts(transaction, request))
      return { given: taken, afterwards: hasDisabled ? await tell(transaction) : undefined }
    })
    afterwards?.()
    return given
  }

  /** Counts the failures of each receiver in a row. Resolves with whether one was disabled. */
  async #count(transaction: StateDatabase, recorded: readonly RecordedAttempt[]): Promise<boolean> {
    let hasDisabled = false
    for (const [id, attempts] of Map.groupBy(recorded, ({ ended }) => ended.webhookId)) {
      const row = await transaction
        .selectFrom('webhooks')
        .select(['id', 'owner_id', 'url', 'status', 'consecutive_failures'])
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row) continue
      const { failures, isTooMany } = failuresAfter(row.consecutive_failures, attempts)
      const isDisabled = isTooMany && row.status === 'ACTIVE'
      const deliveredAt = Math.max(
        ...attempts.map(({ ended }) => (ended.delivered ? ended.endedAtUs : 0)),
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
      for (const change of tellNoMore(transaction, id)) {
        await transaction.executeQuery(change.compile())
      }
      const ownerId = row.owner_id as UserId
      const webhook = { id, ownerId, url: row.url, consecutiveFailures: failures }
      await this.#needs.recordDisabled(transaction, webhook)
    }
    return hasDisabled
  }
}

/** In the order of the attempts; once there were too many, nothing that follows changes that. */
function failuresAfter(before: number, attempts: readonly RecordedAttempt[]) {
  let failures = before
  for (const { ended, counts } of attempts) {
    const { failures: change } = ended
    if (!counts || change === 'same') continue
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

/** What was cancelled meanwhile stays so, and is nobody's any more. */
async function giveUp(transaction: StateDatabase, { givenUp, lease }: DeskRequest): Promise<void> {
  if (givenUp.length === 0) return
  await transaction
    .updateTable('deliveries')
    .set({
      state: sql<string>`CASE WHEN due_at IS NULL THEN state ELSE 'failed' END`,
      due_at: null,
      lease: null,
    })
    .where('id', 'in', padded(givenUp))
    .where((where) => where.or([where('lease', 'is', null), where('lease', '=', lease)]))
    .execute()
}
