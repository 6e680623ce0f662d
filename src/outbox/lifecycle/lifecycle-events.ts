import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { Events } from '../events/events.ts'
import { type LifecycleEvent, newEventOf, readingOf } from './lifecycle-event.ts'

/**
 * Beyond so many events that wait for the journal no change is made: none goes without its event.
 * Only what ends something is always possible, and there is no more of it than there is to end.
 */
const pendingMax = 100_000

const endings = /\.(deleted|revoked)$/

/** An event of one stream that is not in the journal yet, or not known to be. */
export interface PendingEvent {
  readonly streamId: StreamId
  /** Microseconds; no two events of a stream have the same, and a later event has a later one. */
  readonly atUs: number
  /** JSON object. */
  readonly reading: string
}

export interface LifecycleEventsNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/**
 * The outbox of lifecycle events. An event is written by the transaction of its change, once for each
 * stream of the type `service` that the owner has, so neither can be there without the other.
 */
export class LifecycleEvents {
  readonly #needs: LifecycleEventsNeeds
  readonly #events: Events
  #pending = 0

  constructor(needs: LifecycleEventsNeeds) {
    this.#needs = needs
    const { state, clock } = needs
    this.#events = new Events(state, clock)
  }

  /** Events that waited when somebody looked last. */
  get pending(): number {
    return this.#pending
  }

  /**
   * The changes that write an event, for the transaction of the change itself: with a condition, only
   * where that holds. A paused stream is told nothing but what happens to itself. What the catalogue of
   * events has is written there, too, for whoever wants to be told of it.
   *
   * @throws DomainError `overloaded` when too many events wait already
   */
  record(event: LifecycleEvent, when: Expression<SqlBool> = always): readonly Compilable[] {
    const { state, clock } = this.#needs
    if (this.#pending >= pendingMax && !endings.test(event.event)) {
      throw new DomainError('overloaded', 'too many lifecycle events wait for the journal', {
        retryAfter: 1,
      })
    }
    const nowUs = clock.nowUs()
    // The literal type: an index over these rows alone is not used for a parameter.
    const isServiceStream = sql<boolean>`owner_id = ${event.ownerId} AND type = 'service'
      AND (paused_at IS NULL OR id = ${event.resourceId}) AND ${when}`
    const forStreams = [
      // The time of the change, and after that of the event before, whatever the clock says.
      state
        .updateTable('data_streams')
        .set({
          last_event_at: sql<number>`CASE WHEN last_event_at >= ${nowUs} THEN last_event_at + 1
            ELSE ${nowUs} END`,
        })
        .where(isServiceStream),
      state
        .insertInto('lifecycle_events')
        .columns(['stream_id', 'at', 'reading'])
        .expression(
          sql`SELECT id, last_event_at, ${JSON.stringify(readingOf(event))}
                FROM data_streams WHERE ${isServiceStream}`,
        ),
    ]
    const notice = newEventOf(event)
    return [...forStreams.map(optional), ...(notice ? this.#events.record(notice, when) : [])]
  }

  /** For the transaction that deletes a stream: what it was not told yet goes with it. */
  forget(streamId: StreamId): Compilable {
    return optional(
      this.#needs.state.deleteFrom('lifecycle_events').where('stream_id', '=', streamId),
    )
  }

  /** Some of the events that wait: those of one stream in their order. */
  async next(limit: number): Promise<readonly PendingEvent[]> {
    const rows = await this.#needs.state
      .selectFrom('lifecycle_events')
      .selectAll()
      .orderBy('stream_id')
      .orderBy('at')
      .limit(limit)
      .execute()
    this.#pending = rows.length < limit ? rows.length : await this.#count()
    return rows.map((row) => ({
      streamId: row.stream_id as StreamId,
      atUs: row.at,
      reading: row.reading,
    }))
  }

  /** Takes out what `next` has answered, all of it. */
  async remove(events: readonly PendingEvent[]): Promise<void> {
    const { state, writer } = this.#needs
    // What was recorded since then is later than all that was answered of the same stream.
    const lastOf = new Map(events.map(({ streamId, atUs }) => [streamId, atUs]))
    await writer.commit(
      ...[...lastOf].map(([streamId, atUs]) =>
        state
          .deleteFrom('lifecycle_events')
          .where('stream_id', '=', streamId)
          .where('at', '<=', atUs),
      ),
    )
    this.#pending = Math.max(0, this.#pending - events.length)
  }

  async #count(): Promise<number> {
    const { total } = await this.#needs.state
      .selectFrom('lifecycle_events')
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return total
  }
}

const always = sql<SqlBool>`1 = 1`
