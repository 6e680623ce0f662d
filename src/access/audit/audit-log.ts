import { randomUUID } from 'node:crypto'
import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import { AgeClock } from '../../core/age-clock.ts'
import type { Clock, Clocks } from '../../core/clock.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'

/** Everything that is written down. */
export const auditActions = [
  'key.created',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'user.created',
  'user.deleted',
  'signing_key.rotated',
  'content_key.rotated',
  'ledger_key.created',
  'ledger_key.imported',
  'device.created',
  'device.changed',
  'device.rotated',
  'device.revoked',
  'device.deleted',
  'provisioning_key.created',
  'provisioning_key.revoked',
  'backup.started',
  'webhook.created',
  'webhook.changed',
  'webhook.rotated',
  'webhook.deleted',
  'alert_rule.created',
  'alert_rule.changed',
  'alert_rule.deleted',
  'fleet.created',
  'fleet.changed',
  'fleet.deleted',
  'fleet.device_allowed',
  'fleet.device_denied',
  'fleet.device_renamed',
  'email.created',
  'email.changed',
  'email.deleted',
  'email.verified',
  'email.unsubscribed',
  'console_session.created',
  'console_session.ended',
  'permission.granted',
  'permission.changed',
  'permission.ended',
  'login.failed',
] as const

export type AuditAction = (typeof auditActions)[number]

/** Who did something: nobody, when the service did it by itself. */
export interface Actor {
  readonly userId: string
  readonly apiKeyId: string
  readonly address?: string
}

export interface AuditEvent {
  readonly action: AuditAction
  readonly actor?: Actor | undefined
  /** The id of the key, user or signing key that it was done to. */
  readonly subjectId?: string | undefined
  /** The user that it is about. */
  readonly userId?: string | undefined
  readonly address?: string | undefined
  /** Never a secret: who may read the log may not act as those who are in it. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

export interface AuditEntry extends AuditEvent {
  readonly details: NonNullable<AuditEvent['details']>
  readonly id: string
  readonly createdAtUs: number
}

export interface AuditFilter {
  readonly userId?: string | undefined
  readonly action?: string | undefined
}

const usPerDay = 86_400_000_000

/**
 * What is older is removed; and beyond so many entries the oldest: nobody fills the disk. Failed
 * logins have a share of their own, and so has each user: neither who can fail to log in nor who
 * makes and revokes keys all day may wash away what is told of others.
 */
const keptAtMost = { days: 400, entries: 1_000_000, failedLogins: 100_000, aboutUser: 10_000 }

/** Changes that matter to security, in the order of their happening. */
export class AuditLog {
  readonly #state: StateDatabase
  readonly #clock: Clock
  readonly #ages: AgeClock
  readonly #kept: typeof keptAtMost
  /** Users that something was written about since their shares were looked at: all users at most. */
  readonly #writtenAbout = new Set<string>()

  constructor(state: StateDatabase, clock: Clocks, kept = keptAtMost) {
    this.#state = state
    this.#clock = clock
    this.#ages = new AgeClock(clock)
    this.#kept = kept
  }

  /**
   * The statement that writes an event, for the transaction of the change itself. With a condition,
   * it is written only where that holds, so that a change that did not come about leaves no trace.
   */
  entry(event: AuditEvent, when?: Expression<SqlBool>): Compilable {
    const { action, actor, subjectId, userId, address, details = {} } = event
    if (userId !== undefined && action !== 'login.failed') this.#writtenAbout.add(userId)
    const values = this.#state.selectNoFrom([
      text(randomUUID()).as('id'),
      sql<number>`cast(${this.#clock.nowUs()} as bigint)`.as('at'),
      text(action).as('action'),
      text(actor?.userId).as('actor_user_id'),
      text(actor?.apiKeyId).as('actor_key_id'),
      text(subjectId).as('subject_id'),
      text(userId).as('user_id'),
      text(address ?? actor?.address).as('address'),
      text(JSON.stringify(details)).as('details'),
    ])
    return this.#state
      .insertInto('audit_log')
      .columns([...columns])
      .expression(when === undefined ? values : values.where(when))
  }

  /** Newest first. */
  async list(
    { userId, action }: AuditFilter,
    after: ListCursor | undefined,
    limit: number,
  ): Promise<AuditEntry[]> {
    let query = this.#state
      .selectFrom('audit_log')
      .selectAll()
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
    if (userId !== undefined) query = query.where('user_id', '=', userId)
    if (action !== undefined) query = query.where('action', '=', action)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('at', 'id'), '<', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map(fromRow)
  }

  /** Removes what users have beyond their shares. Looks only at those whom something was written about. */
  async trimShares(writer: StateWriter): Promise<void> {
    for (const userId of this.#writtenAbout) {
      const beyond = await this.#state
        .selectFrom('audit_log')
        .select(['at', 'id'])
        .where('user_id', '=', userId)
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .offset(this.#kept.aboutUser)
        .limit(1)
        .executeTakeFirst()
      if (beyond) {
        await writer.commit(
          this.#state
            .deleteFrom('audit_log')
            .where('user_id', '=', userId)
            .where((where) =>
              where(where.refTuple('at', 'id'), '<=', where.tuple(beyond.at, beyond.id)),
            ),
        )
      }
      this.#writtenAbout.delete(userId)
    }
  }

  /** Removes what is too old or too much. To be called now and then. */
  async trim(writer: StateWriter): Promise<void> {
    const { entries, failedLogins } = this.#kept
    await this.#trimShare(writer, '!=', entries)
    await this.#trimShare(writer, '=', failedLogins)
  }

  /** Failed logins (`=`), or everything else (`!=`). */
  async #trimShare(writer: StateWriter, share: '=' | '!=', entriesMax: number): Promise<void> {
    const oldestUs = this.#ages.nowUs() - this.#kept.days * usPerDay
    const beyond = await this.#state
      .selectFrom('audit_log')
      .select('at')
      .where('action', share, 'login.failed')
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .offset(entriesMax)
      .limit(1)
      .executeTakeFirst()
    const untilUs = Math.max(oldestUs, beyond?.at ?? 0)
    await writer.commit(
      this.#state
        .deleteFrom('audit_log')
        .where('action', share, 'login.failed')
        .where('at', '<=', untilUs),
    )
  }
}

const columns = [
  'id',
  'at',
  'action',
  'actor_user_id',
  'actor_key_id',
  'subject_id',
  'user_id',
  'address',
  'details',
] as const

function text(value: string | undefined) {
  return sql<string>`cast(${value ?? null} as text)`
}

function fromRow(row: StateSchema['audit_log']): AuditEntry {
  return {
    id: row.id,
    createdAtUs: row.at,
    action: row.action as AuditAction,
    actor:
      row.actor_user_id === null
        ? undefined
        : { userId: row.actor_user_id, apiKeyId: row.actor_key_id ?? '' },
    subjectId: row.subject_id ?? undefined,
    userId: row.user_id ?? undefined,
    address: row.address ?? undefined,
    details: JSON.parse(row.details) as AuditEntry['details'],
  }
}
