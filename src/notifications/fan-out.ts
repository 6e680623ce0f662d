import type { Selectable } from 'kysely'
import type { EventId, UserId } from '../core/ids.ts'
import type { EventType } from '../events/event-types.ts'
import type { RecordedEvent } from '../events/events.ts'
import type { StateDatabase, Tell } from '../state/database.ts'
import type { StateSchema } from '../state/schema.ts'
import { addToInbox, isRepetition } from './inbox/inbox-step.ts'
import { effectiveChannels } from './preferences/effective.ts'
import { preferencesOf } from './preferences/preference-store.ts'
import type { Channel } from './preferences/preferences.ts'

/**
 * One way to tell of an event: writes down what is to be told, and tells nothing yet. The channels are
 * those that the owner's preferences leave; webhooks are never gated by them (D47).
 */
export type FanOutStep = (
  transaction: StateDatabase,
  event: RecordedEvent,
  channels: ReadonlySet<Channel>,
) => Promise<void>

export interface FanOutNeeds {
  readonly steps: readonly FanOutStep[]
  /** Once it is committed, with whose events were told. */
  readonly onTold: (ownerIds: ReadonlySet<UserId>) => void
}

/** Events that are read at once: one may have a body of megabytes. */
const portion = 50

/** What became of an event, in `events.fanned_out`. */
const outcomes = { notYet: 0, told: 1, suppressed: 2 } as const

/**
 * Tells of every event that was written and not told yet, in the transaction that wrote it: whether it
 * is a repetition and what its owner wants are decided once for all channels. Its own record is written
 * in the same transaction as all else that is told of it, so no event suppresses itself (D46).
 */
export function fanOut({ steps, onTold }: FanOutNeeds): Tell {
  return async (transaction) => {
    const owners = new Set<UserId>()
    for (;;) {
      const events = await notTold(transaction)
      for (const event of events) {
        const outcome = await tellOf(transaction, event, steps)
        if (outcome === outcomes.told) owners.add(event.ownerId)
        await transaction
          .updateTable('events')
          .set({ fanned_out: outcome })
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

async function tellOf(
  transaction: StateDatabase,
  event: RecordedEvent,
  steps: readonly FanOutStep[],
): Promise<number> {
  if (await isRepetition(transaction, event)) return outcomes.suppressed
  const preferences = await preferencesOf(transaction, event.ownerId)
  const channels = effectiveChannels(preferences, event.type)
  if (channels.has('in_app')) await addToInbox(transaction, event)
  for (const step of steps) await step(transaction, event, channels)
  return outcomes.told
}

async function notTold(transaction: StateDatabase): Promise<readonly RecordedEvent[]> {
  const rows = await transaction
    .selectFrom('events')
    .selectAll()
    // The literal value: an index over these rows alone is not used for a parameter.
    .where((where) => where('fanned_out', '=', where.lit(outcomes.notYet)))
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
  }
}
