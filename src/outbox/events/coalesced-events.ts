import { setTimeout as sleep } from 'node:timers/promises'
import { type Compilable, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import type { Notify, StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { Events } from './events.ts'

/** How often it is looked for what is due. */
const lookMs = 250

/** Between two events of one type and resource (decisions.md#events-that-are-coalesced). */
const quietUs = 1_000_000

/**
 * Events that one look tells: with four looks a second a fast receiver keeps up with that. What is
 * beyond waits, and counts go on meanwhile, so however many streams there are the rest of the service
 * is not held up.
 */
const notifiedAtOnceMax = 200

/** Streams of one statement: SQLite takes 32,766 parameters in a statement. */
const streamsPerStatement = 500

/** What a stretch of the journal has brought for one stream. */
export interface Arrival {
  readonly streamId: string
  readonly accepted: number
  readonly lastReceivedAtUs: number
}

type Row = Selectable<StateSchema['coalesced_events']>

/**
 * Writes down that readings have arrived, in the transaction that counts them: for streams of users
 * whose webhooks ask for it, and in one look when there are none.
 */
export async function noteArrivals(
  transaction: StateDatabase,
  arrivals: readonly Arrival[],
): Promise<void> {
  const asked = await transaction
    .selectFrom('webhook_subscriptions')
    .select('event_type')
    .where('event_type', 'in', ['stream.data_received', 'vault.data_updated'])
    .limit(1)
    .executeTakeFirst()
  if (asked === undefined) return
  const streams = arrivals.filter(({ accepted }) => accepted > 0)
  for (let from = 0; from < streams.length; from += streamsPerStatement) {
    const some = streams.slice(from, from + streamsPerStatement)
    const found = sql.join(
      some.map(
        ({ streamId, accepted, lastReceivedAtUs }) =>
          sql`(${streamId}, ${accepted}, ${lastReceivedAtUs})`,
      ),
    )
    for (const type of ['stream.data_received', 'vault.data_updated'] as const) {
      await addedUp(type, found).execute(transaction)
    }
  }
}

/** One row for each stream, or for each vault, whose owner has asked for it. */
function addedUp(
  type: 'stream.data_received' | 'vault.data_updated',
  arrivals: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const isOfStream = type === 'stream.data_received'
  const resource = sql.ref(isOfStream ? 'data_streams.id' : 'data_streams.vault_id')
  return sql`
    WITH arrivals(id, accepted, last_at) AS (VALUES ${arrivals})
    INSERT INTO coalesced_events
      (type, resource_id, owner_id, vault_id, stream_id, count, last_at, due_at)
    SELECT ${type}, ${resource}, owner_id, min(vault_id),
        ${isOfStream ? sql.ref('data_streams.id') : sql`NULL`},
        sum(accepted), max(last_at), 0
      FROM arrivals JOIN data_streams ON data_streams.id = arrivals.id
      WHERE owner_id IN (SELECT owner_id FROM webhook_subscriptions WHERE event_type = ${type})
      GROUP BY ${resource}, owner_id
    ON CONFLICT (type, resource_id) DO UPDATE SET
      count = coalesced_events.count + excluded.count, last_at = excluded.last_at`
}

/** A vault that somebody else than its owner has looked at. */
export interface AccessedVault {
  readonly id: string
  readonly ownerId: UserId
}

/** The change that writes down an access, if the owner has asked for it; undefined if not. */
export async function noteAccess(
  state: StateDatabase,
  { id, ownerId }: AccessedVault,
  atUs: number,
): Promise<Compilable | undefined> {
  const asked = await state
    .selectFrom('webhook_subscriptions')
    .select('event_type')
    .where('owner_id', '=', ownerId)
    .where('event_type', '=', 'vault.accessed')
    .limit(1)
    .executeTakeFirst()
  if (asked === undefined) return undefined
  const row = { type: 'vault.accessed', resource_id: id, owner_id: ownerId, vault_id: id }
  return state
    .insertInto('coalesced_events')
    .values({ ...row, stream_id: null, count: 1, last_at: atUs, due_at: 0 })
    .onConflict((conflict) =>
      conflict.columns(['type', 'resource_id']).doUpdateSet({
        count: sql<number>`coalesced_events.count + 1`,
        last_at: atUs,
      }),
    )
}

export interface CoalescedEventsNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  readonly notify: Notify
}

/** Makes events of what was written down, at most one a second of each type and resource. */
export class CoalescedEvents {
  readonly #needs: CoalescedEventsNeeds

  constructor(needs: CoalescedEventsNeeds) {
    this.#needs = needs
  }

  /** Tells what is due, again and again, until the signal says to stop. A failure is tried again. */
  async run(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      await this.flush().catch(onFailure)
      await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Tells what is due by now, the longest due first. */
  async flush(): Promise<void> {
    const { state, clock, notify } = this.#needs
    const nowUs = clock.steadyUs()
    const isDue = await this.#due(state, nowUs).limit(1).executeTakeFirst()
    if (isDue === undefined) return
    const afterwards = await state.transaction().execute(async (transaction) => {
      const due = await this.#due(transaction, nowUs).limit(notifiedAtOnceMax).execute()
      for (const row of due) await this.#takeOne(transaction, row, nowUs)
      return await notify(transaction)
    })
    afterwards()
  }

  #due(state: StateDatabase, nowUs: number) {
    return state
      .selectFrom('coalesced_events')
      .selectAll()
      .where('due_at', '<=', nowUs)
      .orderBy('due_at')
  }

  /** Tells one, and leaves its row for as long as the next one has to wait. */
  async #takeOne(transaction: StateDatabase, row: Row, nowUs: number): Promise<void> {
    const { type, resource_id: resourceId, count } = row
    if (count === 0) {
      await transaction
        .deleteFrom('coalesced_events')
        .where('type', '=', type)
        .where('resource_id', '=', resourceId)
        .execute()
      return
    }
    for (const change of this.#recorded(transaction, row)) {
      await transaction.executeQuery(change.compile())
    }
    await transaction
      .updateTable('coalesced_events')
      .set({ count: 0, due_at: nowUs + quietUs })
      .where('type', '=', type)
      .where('resource_id', '=', resourceId)
      .execute()
  }

  #recorded(transaction: StateDatabase, row: Row): readonly Compilable[] {
    const { stream_id: streamId, vault_id: vaultId, count } = row
    const about = { ...(streamId !== null && { streamId }), vaultId }
    return new Events(transaction, this.#needs.clock).record({
      ...about,
      type: row.type as 'stream.data_received' | 'vault.data_updated' | 'vault.accessed',
      ownerId: row.owner_id as UserId,
      resourceType: streamId === null ? 'vault' : 'stream',
      resourceId: row.resource_id,
      data: { ...about, count, lastAt: formatUs(row.last_at) },
    })
  }
}
