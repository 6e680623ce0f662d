import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import type { EventId, UserId } from '../../core/ids.ts'
import type { EventType } from '../../outbox/events/event-types.ts'
import type { RecordedEvent } from '../../outbox/events/events.ts'
import type { Notify, StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { effectiveChannels } from './preferences/effective.ts'
import { preferencesOf } from './preferences/preference-store.ts'
import type { Channel } from './preferences/preferences.ts'
import { isRepetition } from './repetitions.ts'

/**
 * One way to notify of an event: writes down what is to be delivered, and delivers nothing yet. The
 * channels are those that the owner's preferences leave; webhooks are never gated by them
 * (decisions.md#preferences). What it gives to `afterwards` is done once all of that is committed.
 * Resolves with how many rows it has written.
 */
export type FanOutStep = (
  transaction: StateDatabase,
  event: RecordedEvent,
  channels: ReadonlySet<Channel>,
  afterwards: (deed: () => void) => void,
) => Promise<number>

export interface FanOutNeeds {
  readonly clock: Clocks
  readonly steps: readonly FanOutStep[]
  /** Called once it is committed, with the owners of the events. */
  readonly onNotified: (ownerIds: ReadonlySet<UserId>) => void
}

/** How far users are notified, for who watches the service. */
export interface FanOutStatus {
  /** Users with very many events at once, some of which wait. */
  readonly usersWaiting: number
}

/** Events that are read at once: one may have data of megabytes. */
const portion = 50

/**
 * What one transaction writes, in rows, some 0.1 ms each: nothing else is written meanwhile. An event that
 * goes to more webhooks than that is written whole all the same.
 */
const rowsMax = 400

/** What became of it, and the look-ups. */
const rowsOfEvent = 1

/** Wait after a failure. */
const tryAgainMs = 1_000

/** What became of an event, in `events.fanned_out`; of what waits, its owner is notified in turn with others. */
const outcomes = { notYet: 0, notified: 1, suppressed: 2, waits: 3 } as const

/**
 * Notifies of events: whether one is a repetition and what its owner wants are decided once for all
 * channels. Its own record is written in the same transaction as all else that follows from it, so
 * no event suppresses itself (decisions.md#repetitions-of-an-event).
 */
export class FanOut {
  readonly #needs: FanOutNeeds
  /** Users with events that wait: as many as there are users at most. */
  readonly #behind = new Set<UserId>()
  #arrived = Promise.withResolvers<void>()

  constructor(needs: FanOutNeeds) {
    this.#needs = needs
  }

  status(): FanOutStatus {
    return { usersWaiting: this.#behind.size }
  }

  /** Finds what was written and not told before. It waits for `run`. */
  async open(state: StateDatabase): Promise<void> {
    await state.transaction().execute((transaction) => this.#putOff(transaction))
    const rows = await state
      .selectFrom('events')
      .select('owner_id')
      .distinct()
      .where((where) => where('fanned_out', '=', where.lit(outcomes.waits)))
      .execute()
    this.#fallBehind(rows)
  }

  /**
   * Notifies of every event that a transaction has written, as a part of it
   * (decisions.md#events-and-their-changes). When there are too many, or others of the same user
   * wait already, the rest waits, so that they stay in their order.
   */
  readonly notify: Notify = async (transaction) => {
    const notified: Notified = { ownerIds: new Set(), deeds: [] }
    let rows = 0
    for (let isWhole = false; !isWhole; ) {
      const events = await notYetNotified(transaction)
      isWhole = events.length < portion
      for (const event of events) {
        if (rows >= rowsMax || this.#behind.has(event.ownerId)) {
          await this.#putOff(transaction)
          isWhole = true
          break
        }
        rows += await this.#notifyOf(transaction, event, notified)
      }
    }
    return () => this.#heard(notified)
  }

  /** Tells what waits, one user after the other, until the signal says to stop. */
  async run(
    state: StateDatabase,
    signal: AbortSignal,
    onFailure: (error: unknown) => void,
  ): Promise<void> {
    signal.addEventListener('abort', () => this.#arrived.resolve())
    while (!signal.aborted) {
      for (const ownerId of this.#behind) {
        if (signal.aborted) return
        try {
          await this.catchUp(state, ownerId)
          // What others have asked for meanwhile goes before.
          await nextTurn()
        } catch (error) {
          onFailure(error)
          await sleep(tryAgainMs, undefined, { signal, ref: false }).catch(() => undefined)
        }
      }
      if (this.#behind.size > 0) continue
      await this.#arrived.promise
      if (!signal.aborted) this.#arrived = Promise.withResolvers()
    }
  }

  /** Tells some of what waits of one user. */
  async catchUp(state: StateDatabase, ownerId: UserId): Promise<void> {
    const notified: Notified = { ownerIds: new Set(), deeds: [] }
    await state
      .transaction()
      .execute(async (transaction) => {
        let rows = 0
        for (;;) {
          const events = await waiting(transaction, ownerId)
          for (const event of events) {
            if (rows >= rowsMax) return
            rows += await this.#notifyOf(transaction, event, notified)
          }
          if (events.length === portion) continue
          // The owner is caught up within the transaction: what comes after it is told at once
          // again.
          this.#behind.delete(ownerId)
          return
        }
      })
      .catch((error: unknown) => {
        this.#behind.add(ownerId)
        throw error
      })
    this.#heard(notified)
  }

  /** Leaves whatever the transaction has written and not told for later. */
  async #putOff(transaction: StateDatabase): Promise<void> {
    const rows = await transaction
      .updateTable('events')
      .set({ fanned_out: outcomes.waits })
      .where((where) => where('fanned_out', '=', where.lit(outcomes.notYet)))
      .returning('owner_id')
      .execute()
    this.#fallBehind(rows)
  }

  /**
   * Notes owners who are behind. It may not be true after all when a transaction is taken back:
   * then nothing is found.
   */
  #fallBehind(rows: readonly { readonly owner_id: string }[]): void {
    for (const { owner_id } of rows) this.#behind.add(owner_id as UserId)
    if (this.#behind.size > 0) this.#arrived.resolve()
  }

  /** Notifies those who listen, once it is committed. */
  #heard({ ownerIds, deeds }: Notified): void {
    for (const deed of deeds) deed()
    if (ownerIds.size > 0) this.#needs.onNotified(ownerIds)
  }

  /** Resolves with how many rows that was. */
  async #notifyOf(
    transaction: StateDatabase,
    event: RecordedEvent,
    notified: Notified,
  ): Promise<number> {
    let rows = rowsOfEvent
    const isRepeated = await isRepetition(transaction, event, this.#needs.clock)
    if (!isRepeated) {
      const channels = await channelsOf(transaction, event)
      const afterwards = (deed: () => void) => notified.deeds.push(deed)
      for (const step of this.#needs.steps) {
        rows += await step(transaction, event, channels, afterwards)
      }
      notified.ownerIds.add(event.ownerId)
    }
    await transaction
      .updateTable('events')
      .set({ fanned_out: isRepeated ? outcomes.suppressed : outcomes.notified })
      .where('id', '=', event.id)
      .execute()
    return rows
  }
}

/** The channels that the owner wants: none for what is told to webhooks only. */
async function channelsOf(
  transaction: StateDatabase,
  { ownerId, type, isQuiet }: RecordedEvent,
): Promise<ReadonlySet<Channel>> {
  if (isQuiet) return new Set()
  return effectiveChannels(await preferencesOf(transaction, ownerId), type)
}

/** Users notified in a transaction, and what is to be done once it is committed. */
interface Notified {
  readonly ownerIds: Set<UserId>
  readonly deeds: (() => void)[]
}

/** The literal values: indexes over these rows alone are not used for a parameter. */
async function notYetNotified(transaction: StateDatabase): Promise<readonly RecordedEvent[]> {
  const rows = await transaction
    .selectFrom('events')
    .selectAll()
    .where((where) => where('fanned_out', '=', where.lit(outcomes.notYet)))
    .orderBy('at')
    .orderBy('id')
    .limit(portion)
    .execute()
  return rows.map(fromRow)
}

async function waiting(
  transaction: StateDatabase,
  ownerId: UserId,
): Promise<readonly RecordedEvent[]> {
  const rows = await transaction
    .selectFrom('events')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where((where) => where('fanned_out', '=', where.lit(outcomes.waits)))
    .orderBy('at')
    .orderBy('id')
    .limit(portion)
    .execute()
  return rows.map(fromRow)
}

function fromRow(row: Selectable<StateSchema['events']>): RecordedEvent {
  return {
    id: row.id as EventId,
    type: row.type as EventType,
    ownerId: row.owner_id as UserId,
    atUs: row.at,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    vaultId: row.vault_id ?? undefined,
    streamId: row.stream_id ?? undefined,
    templateId: row.template_id ?? undefined,
    severity: row.severity ?? undefined,
    data: row.data,
    isQuiet: row.quiet === 1,
  }
}
