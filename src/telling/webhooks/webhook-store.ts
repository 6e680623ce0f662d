import { type Compilable, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { newId, type UserId, type WebhookId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { endDeliveries } from '../delivery/end-deliveries.ts'
import { type Webhook, type WebhookFilter, type WebhookSettings, webhooksMax } from './webhook.ts'
import { WebhookReader } from './webhook-reader.ts'
import { type Cipher, settingsColumns, webhookOf } from './webhook-rows.ts'

export interface WebhookStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly cipher: Cipher
  readonly clock: Clock
}

/** The one table behind both ways to register (decisions.md#two-views-of-one-table). */
export class WebhookStore {
  readonly #needs: WebhookStoreNeeds

  constructor(needs: WebhookStoreNeeds) {
    this.#needs = needs
  }

  /** A new webhook, and the changes that store it: they find no room when the user has too many. */
  plan(
    ownerId: UserId,
    settings: WebhookSettings,
    by: 'bearer' | 'header-key',
  ): { readonly webhook: Webhook; readonly changes: readonly Compilable[] } {
    const { state, cipher, clock } = this.#needs
    const id = newId<WebhookId>()
    const createdAtUs = clock.nowUs()
    const webhook: Webhook = {
      ...settings,
      id,
      ownerId,
      createdAtUs,
      previousSecret: undefined,
      version: 1,
      consecutiveFailures: 0,
      lastDeliveryAtUs: undefined,
      recordedAttempts: 0,
    }
    const row = settingsColumns(webhook, cipher)
    const columns = Object.keys(row) as (keyof typeof row)[]
    const values = sql.join(columns.map((column) => row[column]))
    const insert = state
      .insertInto('webhooks')
      .columns(['id', 'owner_id', 'interface', 'created_at', ...columns])
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${by}, ${createdAtUs}, ${values}
              WHERE (SELECT count(*) FROM webhooks WHERE owner_id = ${ownerId}) < ${webhooksMax}`,
      )
    return { webhook, changes: [insert, ...this.#subscribed(webhook)] }
  }

  async find(ownerId: UserId, id: WebhookId): Promise<Webhook | undefined> {
    const { state, cipher } = this.#needs
    const webhook = await new WebhookReader(state, cipher).find(id)
    return webhook?.ownerId === ownerId ? webhook : undefined
  }

  async listPage(
    ownerId: UserId,
    filter: WebhookFilter,
    { offset, limit }: Slice,
  ): Promise<{ readonly webhooks: readonly Webhook[]; readonly total: number }> {
    const { cipher } = this.#needs
    const rows = await this.#listed(ownerId, filter).limit(limit).offset(offset).execute()
    const { total } = await this.#met(ownerId, filter)
      .select((count) => count.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { webhooks: rows.map((row) => webhookOf(row, cipher)), total }
  }

  async listAfter(
    ownerId: UserId,
    filter: WebhookFilter,
    { after, limit }: { readonly after: ListCursor | undefined; readonly limit: number },
  ): Promise<readonly Webhook[]> {
    let query = this.#listed(ownerId, filter).limit(limit)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map((row) => webhookOf(row, this.#needs.cipher))
  }

  /**
   * The changes that make a webhook what it is to be. They find nothing when it was changed
   * meanwhile by somebody else, or is gone. Whatever waits is cancelled when it is not active any
   * more, and its failures are forgotten when it is to be active (decisions.md#failures-in-a-row).
   */
  change(before: Webhook, after: Webhook): readonly Compilable[] {
    const { state, cipher } = this.#needs
    const { id, version } = before
    const isActive = after.status === 'ACTIVE'
    const isActivated = isActive && before.status !== 'ACTIVE'
    const isAskedElse = isActivated || after.eventTypes !== before.eventTypes
    return [
      state
        .updateTable('webhooks')
        .set({
          ...settingsColumns(after, cipher),
          version: version + 1,
          ...(isActivated && { consecutive_failures: 0 }),
        })
        .where('id', '=', id)
        .where('version', '=', version)
        // The webhook may have been disabled meanwhile, which is no change by a user.
        .where('status', '=', before.status),
      ...(isActive ? [] : endDeliveries(state, id, 'webhook').map(optional)),
      ...(isActive && isAskedElse
        ? [optional(this.#unsubscribe(id)), ...this.#subscribed(after)]
        : []),
    ]
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await this.#needs.writer.attempt(...changes)
  }

  /**
   * The changes that remove a webhook; what it was sent is removed when it has become old. They find
   * nothing when it is gone.
   */
  remove({ id, ownerId }: Webhook): readonly Compilable[] {
    const { state } = this.#needs
    return [
      state.deleteFrom('webhooks').where('id', '=', id).where('owner_id', '=', ownerId),
      ...endDeliveries(state, id, 'webhook').map(optional),
    ]
  }

  #listed(ownerId: UserId, filter: WebhookFilter) {
    return this.#met(ownerId, filter).selectAll().orderBy('created_at').orderBy('id')
  }

  #met(ownerId: UserId, { status, failing = false }: WebhookFilter) {
    let query = this.#needs.state.selectFrom('webhooks').where('owner_id', '=', ownerId)
    if (status !== undefined) query = query.where('status', '=', status)
    if (failing) query = query.where('status', '=', 'ACTIVE').where('consecutive_failures', '>', 0)
    return query
  }

  /** Subscriptions of an active webhook: no events need be written down for any other. */
  #subscribed({ id, ownerId, eventTypes, status }: Webhook): readonly Compilable[] {
    if (status !== 'ACTIVE') return []
    const rows = eventTypes.map((type) => ({ owner_id: ownerId, event_type: type, webhook_id: id }))
    return [this.#needs.state.insertInto('webhook_subscriptions').values(rows)]
  }

  #unsubscribe(id: string): Compilable {
    return this.#needs.state.deleteFrom('webhook_subscriptions').where('webhook_id', '=', id)
  }
}
