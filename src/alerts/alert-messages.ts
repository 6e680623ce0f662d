import type { EventId, StreamId, UserId } from '../core/ids.ts'
import { formatUs } from '../core/time.ts'
import type { RecordedEvent } from '../outbox/events/events.ts'
import { type Outbox, Relay } from '../outbox/relay/relay.ts'
import type { StateDatabase, StateWriter } from '../storage/state/database.ts'

/** It is woken by what is told; this is for what a restart has left behind. */
const lookMs = 2_000

/** An event of a stream, for those who have subscribed to it over MQTT. */
export interface StreamMessage {
  readonly ownerId: UserId
  readonly streamId: StreamId
  readonly payload: Uint8Array
}

interface PendingMessage extends StreamMessage {
  readonly eventId: EventId
}

export interface AlertMessagesNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  /** Resolves when it is kept for subscribers that are away, and on its way to the others. */
  readonly publish: (message: StreamMessage) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Writes down that an event of an alert is to be published, in the transaction that tells of it. */
export async function messageStep(
  transaction: StateDatabase,
  { id, type }: Pick<RecordedEvent, 'id' | 'type'>,
): Promise<number> {
  if (!type.startsWith('stream.alert_')) return 0
  await transaction.insertInto('alert_messages').values({ event_id: id }).execute()
  return 1
}

/**
 * Begins to publish events of alerts over MQTT, in their order; it is to be woken when events were told.
 * One that is published again after a crash has the same id.
 */
export function startAlertMessages(needs: AlertMessagesNeeds): Relay<PendingMessage> {
  const { publish, onFailure } = needs
  return new Relay({
    outbox: messagesIn(needs),
    async handOver(messages) {
      for (const message of messages) await publish(message)
    },
    lookMs,
    onFailure,
  })
}

function messagesIn({ state, writer }: AlertMessagesNeeds): Outbox<PendingMessage> {
  return {
    async next(limit) {
      const rows = await state
        .selectFrom('alert_messages as message')
        // SQLite keeps the order of a CROSS JOIN (sqlite.org/lang_select.html); of another join it would read
        // all events, to have them in the order of their times.
        .crossJoin('events as event')
        .whereRef('event.id', '=', 'message.event_id')
        .select(['event.id', 'event.owner_id', 'event.stream_id', 'event.type', 'event.at'])
        .select('event.data')
        .orderBy('event.at')
        .orderBy('event.id')
        .limit(limit)
        .execute()
      return rows.map(({ id, owner_id, stream_id, type, at, data }) => {
        const head = JSON.stringify({ eventType: type, eventId: id, timestamp: formatUs(at) })
        return {
          eventId: id as EventId,
          ownerId: owner_id as UserId,
          streamId: stream_id as StreamId,
          payload: Buffer.from(`${head.slice(0, -1)},"data":${data}}`),
        }
      })
    },
    async remove(messages) {
      const ids = messages.map(({ eventId }) => eventId)
      await writer.commit(state.deleteFrom('alert_messages').where('event_id', 'in', ids))
    },
  }
}
