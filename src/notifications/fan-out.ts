import type { Selectable } from 'kysely'
import type { EventId, UserId } from '../core/ids.ts'
import type { EventType } from '../events/event-types.ts'
import type { RecordedEvent } from '../events/events.ts'
import type { StateDatabase, Tell } from '../state/database.ts'
import type { StateSchema } from '../state/schema.ts'

/** One way to tell of an event: writes down what is to be told, and tells nothing yet. */
export type FanOutStep = (transaction: StateDatabase, event: RecordedEvent) => Promise<void>

export interface FanOutNeeds {
  readonly steps: readonly FanOutStep[]
  /** Once it is committed, with whose events were told. */
  readonly onTold: (ownerIds: ReadonlySet<UserId>) => void
}

/** Events that are read at once: one may have a body of megabytes. */
const portion = 50

/** Tells of every event that was written and not told yet, in the transaction that wrote it. */
export function fanOut({ steps, onTold }: FanOutNeeds): Tell {
  return async (transaction) => {
    const owners = new Set<UserId>()
    for (;;) {
      const events = await notTold(transaction)
      for (const event of events) {
        for (const step of steps) await step(transaction, event)
        owners.add(event.ownerId)
        await transaction
          .updateTable('events')
          .set({ fanned_out: 1 })
          .where('id', '=', event.id)
          .execute()
      }
      if (events.length < portion) break
    }
    return () => {
      if (owners.size > 0) onTold(owners)
    }
  }
}

async function notTold(transaction: StateDatabase): Promise<readonly RecordedEvent[]> {
  const rows = await transaction
    .selectFrom('events')
    .selectAll()
    // The literal value: an index over these rows alone is not used for a parameter.
    .where((where) => where('fanned_out', '=', where.lit(0)))
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
    data: row.data,
    body: row.body,
  }
}
