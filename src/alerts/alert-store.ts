import { sql } from 'kysely'
import type { AlertId, StreamId, UserId, VaultId } from '../core/ids.ts'
import type { ListCursor } from '../core/list-cursor.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import type { AlertRow, HistoryRow } from './alert.ts'

/** Which alerts are asked for: those that meet all of it. */
export interface AlertFilter {
  readonly state?: string
  readonly severity?: string
  readonly ruleId?: string
  readonly streamId?: StreamId
  readonly vaultId?: VaultId
  /** A range of alert time: those that were triggered in it, or before it and went on at its start. */
  readonly range?: { readonly startUs: number; readonly endUs: number }
}

/** An alert in the order of a list. */
export type ListedAlert = AlertRow & ListCursor

/** How many alerts go on, of one vault, state and severity. */
export interface AlertCount {
  readonly vaultId: string
  readonly state: string
  readonly severity: string
  readonly alerts: number
}

/** What was told because of a step. */
export interface NoticeDelivery {
  readonly eventId: string
  readonly deliveryId: string
  /** The address that it was mailed to; where there is none, it went to a webhook. */
  readonly recipientId: string | undefined
  readonly webhookId: string | undefined
  readonly state: string
  readonly attempts: number
  readonly lastAttemptAtUs: number | undefined
}

/** Alerts as their owners see them: those of streams that are there. */
export class AlertStore {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /** The newest first. */
  async list(
    ownerId: UserId,
    filter: AlertFilter,
    { before, limit }: { readonly before: ListCursor | undefined; readonly limit: number },
  ): Promise<readonly ListedAlert[]> {
    const { state, severity, ruleId, streamId, vaultId, range } = filter
    let query = this.#present(ownerId)
    if (state !== undefined) query = query.where('state', '=', state)
    if (severity !== undefined) query = query.where('severity', '=', severity)
    if (ruleId !== undefined) query = query.where('rule_id', '=', ruleId)
    if (streamId !== undefined) query = query.where('stream_id', '=', streamId)
    if (vaultId !== undefined) query = query.where('vault_id', '=', vaultId)
    if (range) {
      query = query
        .where('triggered_at', '<', range.endUs)
        .where((where) =>
          where.or([
            where('triggered_at', '>=', range.startUs),
            where('cleared_at', '>', range.startUs),
            where('cleared_at', 'is', null),
          ]),
        )
    }
    if (before) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '<', where.tuple(before.createdAtUs, before.id)),
      )
    }
    const rows = await query
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ ...row, createdAtUs: row.created_at }))
  }

  async find(ownerId: UserId, id: AlertId): Promise<AlertRow | undefined> {
    return await this.#present(ownerId).where('id', '=', id).executeTakeFirst()
  }

  /** Alerts that go on, counted. */
  async counts(ownerId: UserId): Promise<readonly AlertCount[]> {
    return await this.#state
      .selectFrom('alerts')
      .select(['vault_id as vaultId', 'state', 'severity'])
      .select((row) => row.fn.countAll<number>().as('alerts'))
      .where('owner_id', '=', ownerId)
      .where('state', '<>', sql.lit('cleared'))
      .where('stream_id', 'in', (streams) => streams.selectFrom('data_streams').select('id'))
      .groupBy(['vault_id', 'state', 'severity'])
      .orderBy('vault_id')
      .execute()
  }

  /** What has happened to an alert, the oldest first. */
  async history(
    id: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly HistoryRow[]> {
    return await this.#state
      .selectFrom('alert_history')
      .selectAll()
      .where('alert_id', '=', id)
      .where('step', '>', after)
      .orderBy('step')
      .limit(limit)
      .execute()
  }

  /** Whether what somebody has asked for was done. */
  async wasDone(id: string, actionId: string): Promise<boolean> {
    const row = await this.#state
      .selectFrom('alert_history')
      .select('step')
      .where('alert_id', '=', id)
      .where('action_id', '=', actionId)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Deliveries of events, as far as they are kept. */
  async deliveries(eventIds: readonly string[]): Promise<readonly NoticeDelivery[]> {
    if (eventIds.length === 0) return []
    const rows = await this.#state
      .selectFrom('deliveries')
      .select(['id', 'event_id', 'channel', 'receiver_id', 'state', 'attempts'])
      .select((row) =>
        row
          .selectFrom('delivery_attempts')
          .whereRef('delivery_attempts.delivery_id', '=', 'deliveries.id')
          .select((attempt) => attempt.fn.max('attempted_at').as('at'))
          .as('attempted_at'),
      )
      .where('event_id', 'in', eventIds)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map((row) => ({
      eventId: row.event_id,
      deliveryId: row.id,
      webhookId: row.channel === 'webhook' ? row.receiver_id : undefined,
      recipientId: row.channel === 'mail' ? row.receiver_id : undefined,
      state: row.state,
      attempts: row.attempts,
      lastAttemptAtUs: row.attempted_at ?? undefined,
    }))
  }

  /** A stream that was deleted takes its alerts with it at once, though their rows go later. */
  #present(ownerId: UserId) {
    return this.#state
      .selectFrom('alerts')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .where(
        sql<boolean>`EXISTS (SELECT 1 FROM data_streams WHERE data_streams.id = alerts.stream_id)`,
      )
  }
}
