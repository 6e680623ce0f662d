import { sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DeliveryChannel } from './delivery.ts'
import type { RecordedAttempt } from './recorded-attempts.ts'

/** A receiver that is not sent anything any more, because it has failed too often. */
export interface DisabledReceiver {
  readonly channel: DeliveryChannel
  readonly id: string
  readonly ownerId: UserId
  readonly consecutiveFailures: number
}

/** Where the failures of a receiver are counted, and what follows from them. */
interface Ledger {
  readonly table: 'webhooks' | 'email_recipients'
  /**
   * A receiver that has failed so often in a row is not sent anything any more
   * (decisions.md#failures-in-a-row, decisions.md#mail).
   */
  readonly failuresMax: number
  /** The states that this ends. */
  readonly endedStates: readonly string[]
}

const ledgers: Readonly<Record<DeliveryChannel, Ledger>> = {
  webhook: { table: 'webhooks', failuresMax: 10, endedStates: ['ACTIVE'] },
  mail: {
    table: 'email_recipients',
    failuresMax: 5,
    endedStates: ['ACTIVE', 'PENDING_VERIFICATION'],
  },
}

interface ReceiverRow {
  readonly owner_id: string
  readonly status: string
  readonly consecutive_failures: number
}

/** Counts the failures of a receiver in a row. Resolves with it when they have disabled it. */
export async function countFailures(
  transaction: StateDatabase,
  { channel, id }: { readonly channel: DeliveryChannel; readonly id: string },
  attempts: readonly RecordedAttempt[],
): Promise<DisabledReceiver | undefined> {
  const { table, failuresMax, endedStates } = ledgers[channel]
  const { rows } = await sql<ReceiverRow>`SELECT owner_id, status, consecutive_failures
    FROM ${sql.table(table)} WHERE id = ${id}`.execute(transaction)
  const row = rows[0]
  if (!row) return undefined
  const { failures, isTooMany } = failuresAfter(row.consecutive_failures, attempts, failuresMax)
  const isDisabled = isTooMany && endedStates.includes(row.status)
  const deliveredAt = Math.max(
    ...attempts.map(({ ended }) => (ended.delivered ? ended.endedAtUs : 0)),
  )
  await sql`UPDATE ${sql.table(table)} SET
      consecutive_failures = ${failures},
      recorded_attempts = recorded_attempts + ${attempts.length},
      status = ${isDisabled ? 'DISABLED' : row.status},
      last_delivery_at = ${deliveredAt > 0 ? deliveredAt : sql.ref('last_delivery_at')}
    WHERE id = ${id}`.execute(transaction)
  if (!isDisabled) return undefined
  return { channel, id, ownerId: row.owner_id as UserId, consecutiveFailures: failures }
}

/**
 * Counts failures in the order of the attempts; once there were too many, nothing that follows
 * changes that.
 */
function failuresAfter(before: number, attempts: readonly RecordedAttempt[], max: number) {
  let failures = before
  for (const { ended, counts } of attempts) {
    const { failures: change } = ended
    if (!counts || change === 'same') continue
    failures = change === 'reset' ? 0 : failures + 1
    if (failures >= max) return { failures, isTooMany: true }
  }
  return { failures, isTooMany: false }
}
