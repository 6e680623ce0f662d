import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { type EventId, newId, type UserId } from '../../core/ids.ts'
import { notifying, type StateDatabase } from '../../storage/state/database.ts'
import { portionsOf } from '../../storage/state/portions.ts'
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
  /** Ids that filters of webhooks look at. */
  readonly vaultId?: string
  readonly streamId?: string
  readonly templateId?: string
  /** How serious an alert is. */
  readonly severity?: string
  /** The resource as the API shows it. */
  readonly data: object
  /** Webhooks are told of it, and nobody by mail or in the inbox. */
  readonly isQuiet?: boolean
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
  readonly isQuiet: boolean
}

const columns = [
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
  'quiet',
] as const

const always = sql<SqlBool>`1 = 1`

/**
 * Writes down what has happened, as a part of the transaction in which it happens
 * (decisions.md#events-and-their-changes).
 */
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
    const row = this.#row(event)
    const values = sql.join(columns.map((column) => sql`${row[column]}`))
    const insertion = this.#state
      .insertInto('events')
      .columns([...columns])
      .expression(sql`SELECT ${values} WHERE ${when}`)
    return [notifying(insertion)]
  }

  /** Writes many events, within the transaction of what has brought them about. */
  async recordAll(events: readonly NewEvent[]): Promise<void> {
    const rows = events.map((event) => this.#row(event))
    for (const some of portionsOf(rows)) {
      await this.#state.insertInto('events').values(some).execute()
    }
  }

  #row(event: NewEvent) {
    const { id = newId<EventId>(), type, ownerId, resourceType, resourceId, data } = event
    const { vaultId = null, streamId = null, templateId = null, severity = null } = event
    const { isQuiet = false } = event
    return {
      id,
      owner_id: ownerId,
      type,
      at: this.#clock.nowUs(),
      resource_type: resourceType,
      resource_id: resourceId,
      vault_id: vaultId,
      stream_id: streamId,
      template_id: templateId,
      severity,
      data: JSON.stringify(data),
      quiet: isQuiet ? 1 : 0,
    }
  }
}
