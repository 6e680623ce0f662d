import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamId, UserId } from '../core/ids.ts'
import { race } from '../core/race.ts'
import { formatUs } from '../core/time.ts'
import type { RecordedEvent } from '../outbox/events/events.ts'
import type { StateDatabase, StateWriter } from '../storage/state/database.ts'

/** Messages that are published and taken out together. */
const messagesPerRound = 200

/** It is woken by what is told; this is for what a restart, or a failure, has left behind. */
const lookMs = 2_000

/** An event of a stream, for those who have subscribed to it over MQTT. */
export interface StreamMessage {
  readonly ownerId: UserId
  readonly streamId: StreamId
  readonly payload: Uint8Array
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
 * Publishes events of alerts over MQTT, in their order. One leaves the outbox when it is published: a
 * crash in between publishes it again, with the same id.
 */
export class AlertMessages {
  readonly #needs: AlertMessagesNeeds
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #woken = Promise.withResolvers<void>()

  constructor(needs: AlertMessagesNeeds) {
    this.#needs = needs
    this.#running = this.#run()
  }

  /** To be called when events were told. */
  wake(): void {
    this.#woken.resolve()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers()
      const published = await this.#round().catch((error: unknown) => {
        this.#needs.onFailure(error)
        return 0
      })
      if (published === messagesPerRound) continue
      const rest = sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
      await race([this.#woken.promise, rest, stopped])
    }
  }

  /** Resolves with how many were published. */
  async #round(): Promise<number> {
    const { state, writer, publish } = this.#needs
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
      .limit(messagesPerRound)
      .execute()
    if (rows.length === 0) return 0
    for (const { id, owner_id: ownerId, stream_id: streamId, type, at, data } of rows) {
      const head = JSON.stringify({ eventType: type, eventId: id, timestamp: formatUs(at) })
      await publish({
        ownerId: ownerId as UserId,
        streamId: streamId as StreamId,
        payload: Buffer.from(`${head.slice(0, -1)},"data":${data}}`),
      })
    }
    const ids = rows.map(({ id }) => id)
    await writer.commit(state.deleteFrom('alert_messages').where('event_id', 'in', ids))
    return rows.length
  }
}
