import { sql } from 'kysely'
import { aheadUsOf, type Clocks } from '../../core/clock.ts'
import type { Notify, StateDatabase } from '../../storage/state/database.ts'
import { padded } from '../../storage/state/portions.ts'
import type { DeliveryChannel } from './delivery.ts'
import type { DeskRequest } from './desk.ts'
import { DueReceivers } from './due-receivers.ts'
import { endDeliveries } from './end-deliveries.ts'
import { countFailures, type DisabledReceiver } from './failure-count.ts'
import { type RecordedAttempt, recordAttempts } from './recorded-attempts.ts'

export interface StateDeskNeeds {
  readonly state: StateDatabase
  /** Writes down, within a transaction, that a receiver was disabled. */
  readonly recordDisabled: (transaction: StateDatabase, receiver: DisabledReceiver) => Promise<void>
  /** Tells of what was written down; resolves with what is to follow once it is committed. */
  readonly notify: Notify
}

/** The desk of all channels, at the connection that writes the state: all of a request is one transaction. */
export class StateDesk {
  readonly #needs: StateDeskNeeds
  readonly #due: Readonly<Record<DeliveryChannel, DueReceivers>> = {
    webhook: new DueReceivers(),
    mail: new DueReceivers(),
  }

  constructor(needs: StateDeskNeeds) {
    this.#needs = needs
  }

  /** Tells the engine of a channel of new deliveries, once they are committed. */
  announce(channel: DeliveryChannel, receiverIds: Iterable<string>): void {
    this.#due[channel].add(receiverIds)
  }

  async dueReceivers(channel: DeliveryChannel): Promise<readonly string[]> {
    return await this.#due[channel].next()
  }

  /** What a process has taken that is gone; to be called where there can be no other. */
  async takeBack(clock: Clocks): Promise<void> {
    await this.#needs.state
      .updateTable('deliveries')
      .set({ due_at: dueAgain(clock.steadyUs(), aheadUsOf(clock)), lease: null })
      .where('lease', 'is not', null)
      .execute()
  }

  async exchange(request: DeskRequest): Promise<readonly string[]> {
    const { state, notify } = this.#needs
    const { given, afterwards } = await state.transaction().execute(async (transaction) => {
      const taken = await take(transaction, request)
      await release(transaction, request)
      await giveUp(transaction, request)
      const recorded = await recordAttempts(transaction, request)
      const hasDisabled = await this.#count(transaction, recorded, request.channel)
      return { given: taken, afterwards: hasDisabled ? await notify(transaction) : undefined }
    })
    afterwards?.()
    return given
  }

  /** Counts the failures of each receiver in a row. Resolves with whether one was disabled. */
  async #count(
    transaction: StateDatabase,
    recorded: readonly RecordedAttempt[],
    channel: DeliveryChannel,
  ): Promise<boolean> {
    let hasDisabled = false
    for (const [id, attempts] of Map.groupBy(recorded, ({ ended }) => ended.receiverId)) {
      const disabled = await countFailures(transaction, { channel, id }, attempts)
      if (disabled === undefined) continue
      hasDisabled = true
      for (const change of endDeliveries(transaction, id, channel)) {
        await transaction.executeQuery(change.compile())
      }
      await this.#needs.recordDisabled(transaction, disabled)
    }
    return hasDisabled
  }
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
  { released, lease, nowUs, aheadUs }: DeskRequest,
): Promise<void> {
  if (released.length === 0) return
  await transaction
    .updateTable('deliveries')
    .set({ lease: null, due_at: dueAgain(nowUs, aheadUs) })
    .where('id', 'in', padded(released))
    .where('lease', '=', lease)
    .execute()
}

/** What was not attempted yet keeps its place in the order; what is not to be sent stays so. */
function dueAgain(nowUs: number, aheadUs: number) {
  return sql<number | null>`CASE WHEN due_at IS NULL THEN NULL
    WHEN attempts = 0 AND created_at - ${aheadUs} < ${nowUs} THEN created_at - ${aheadUs}
    ELSE ${nowUs} END`
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
