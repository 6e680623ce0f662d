import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { type EventId, newId, type UserId } from '../core/ids.ts'
import { type StateDatabase, telling } from '../state/database.ts'
import type { EventType } from './event-types.ts'

/** What has happened to something that a user owns. */
export interface NewEvent {
  /** Where something else is to name it. */
  readonly id?: EventId
  readonly type: EventType
  /** Who is told. */
  readonly ownerId: UserId
  readonly resourceType: string
  readonly resourceId: string
  /** What filters of webhooks look at. */
  readonly vaultId?: string
  readonly streamId?: string
  readonly templateId?: string
  /** Of an alert. */
  readonly severity?: string
  /** The resource as the API shows it. */
  readonly data: object
}

/** An event as it was written down. */
export interface RecordedEvent {
  readonly id: EventId
  readonly type: EventType
  readonly ownerId: UserId
  /** Microseconds. */
  readonly atUs: number
  readonly resourceType: string
  readonly resourceId: string
  readonly vaultId: string | undefined
  readonly streamId: string | undefined
  readonly templateId: string | undefined
  readonly severity: string | undefined
  /** JSON object. */
  readonly data: string
}

const always = sql<SqlBool>`1 = 1`

/** Writes down what has happened, as a part of the transaction in which it happens (D37). */
export class Events {
  readonly #state: StateDatabase
  readonly #clock: Clock

  constructor(state: StateDatabase, clock: Clock) {
    this.#state = state
    this.#clock = clock
  }

  /**
   * The changes that write an event, for the transaction of the change itself: with a condition, only
   * where that holds.
   */
  record(event: NewEvent, when: Expression<SqlBool> = always): readonly Compilable[] {
    const { type, ownerId, resourceType, resourceId, vaultId, streamId, templateId, severity } =
      event
    const { id = newId<EventId>() } = event
    const atUs = this.#clock.nowUs()
    const data = JSON.stringify(event.data)
    const insertion = this.#state
      .insertInto('events')
      .columns([
        'id',
        'owner_id',
        'type',
        'at',
        'resource_type',
        'resource_id',
        'vault_id',
        'stream_id',
        'template_id',
        'severity',
        'data',
      ])
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${type}, ${atUs}, ${resourceType}, ${resourceId},
              ${vaultId ?? null}, ${streamId ?? null}, ${templateId ?? null},
              ${severity ?? null}, ${data}
            WHERE ${when}`,
      )
    return [telling(insertion)]
  }
}
