import { type Compilable, type Selectable, sql } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import { type EmailAddress, parseEmail } from '../../core/email-address.ts'
import { type EmailRecipientId, newId, type UserId } from '../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { endDeliveries } from '../delivery/end-deliveries.ts'
import { type Recipient, type RecipientStatus, recipientsMax, type Severity } from './recipient.ts'
import { planVerification } from './verification.ts'

/** What a user says of a new recipient. */
export interface NewRecipient {
  readonly email: string
  readonly address: EmailAddress
  readonly severities: readonly Severity[]
}

export interface RecipientStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
}

/** The addresses of users. */
export class RecipientStore {
  readonly #needs: RecipientStoreNeeds

  constructor(needs: RecipientStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new recipient, and the changes that store it and ask it for its consent. They find no room when the user
   * has too many, has this one, or has asked too often.
   */
  plan(
    ownerId: UserId,
    { email, address, severities }: NewRecipient,
  ): { readonly recipient: Recipient; readonly changes: readonly Compilable[] } {
    const { state, clock } = this.#needs
    const createdAtUs = clock.nowUs()
    const recipient: Recipient = {
      id: newId<EmailRecipientId>(),
      ownerId,
      createdAtUs,
      email,
      status: 'PENDING_VERIFICATION',
      verifiedAtUs: undefined,
      severities,
      version: 1,
      consecutiveFailures: 0,
      lastDeliveryAtUs: undefined,
      recordedAttempts: 0,
    }
    const insert = state
      .insertInto('email_recipients')
      .columns(['id', 'owner_id', 'created_at', 'email', 'email_folded', 'status', 'severities'])
      .expression(
        sql`SELECT ${recipient.id}, ${ownerId}, ${createdAtUs}, ${email}, ${address.folded},
              ${recipient.status}, ${JSON.stringify(severities)}
            WHERE (SELECT count(*) FROM email_recipients WHERE owner_id = ${ownerId})
              < ${recipientsMax}`,
      )
      .onConflict((conflict) => conflict.doNothing())
    return { recipient, changes: [insert, ...this.#verification(recipient, createdAtUs)] }
  }

  /** The changes that ask a recipient for its consent once more. They find nothing where it was given. */
  planVerification(recipient: Recipient): readonly Compilable[] {
    return [
      this.#changed(recipient)
        .set({
          status: 'PENDING_VERIFICATION',
          ...(recipient.status === 'DISABLED' && { consecutive_failures: 0 }),
        })
        .where('verified_at', 'is', null),
      ...this.#verification(recipient, this.#needs.clock.nowUs()),
    ]
  }

  #verification({ id, ownerId, email }: Recipient, atUs: number): readonly Compilable[] {
    const { state, clock } = this.#needs
    const folded = parseEmail(email)?.folded ?? email
    const dueAtUs = clock.steadyUs()
    return planVerification(state, { recipientId: id, ownerId, folded, atUs, dueAtUs })
  }

  isSame({ email }: Recipient, { folded }: EmailAddress): boolean {
    return parseEmail(email)?.folded === folded
  }

  async find(ownerId: UserId, id: EmailRecipientId): Promise<Recipient | undefined> {
    const recipient = await findRecipient(this.#needs.state, id)
    return recipient?.ownerId === ownerId ? recipient : undefined
  }

  /** Finds a recipient whoever owns it: for links in mails. */
  async findAny(id: EmailRecipientId): Promise<Recipient | undefined> {
    return await findRecipient(this.#needs.state, id)
  }

  async listPage(
    ownerId: UserId,
    { offset, limit }: Slice,
  ): Promise<{ readonly recipients: readonly Recipient[]; readonly total: number }> {
    const rows = await this.#needs.state
      .selectFrom('email_recipients')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return { recipients: rows.slice(offset, offset + limit).map(fromRow), total: rows.length }
  }

  /**
   * The changes that make a recipient what its owner wants. They find nothing when it was changed meanwhile, or
   * is gone. What waits is cancelled when it is switched off, and its failures are forgotten when it is
   * switched on.
   */
  change(before: Recipient, after: Recipient): readonly Compilable[] {
    const isActivated = after.status === 'ACTIVE' && before.status !== 'ACTIVE'
    const changed = this.#changed(before).set({
      status: after.status,
      severities: JSON.stringify(after.severities),
      ...(isActivated && { consecutive_failures: 0 }),
    })
    // Only who reads the mailbox can say that it is theirs.
    const isAllowed = isActivated ? changed.where('verified_at', 'is not', null) : changed
    return [isAllowed, ...(after.status === 'DISABLED' ? this.#endDeliveries(before) : [])]
  }

  /** Who reads the mailbox says yes. */
  verify({ id }: Recipient): Compilable {
    const { state, clock } = this.#needs
    return state
      .updateTable('email_recipients')
      .set((row) => ({
        status: 'ACTIVE' satisfies RecipientStatus,
        verified_at: clock.nowUs(),
        version: row('version', '+', 1),
      }))
      .where('id', '=', id)
      .where('status', '=', 'PENDING_VERIFICATION')
  }

  /** Who reads the mailbox says no, and is not to be told again before saying yes again. */
  unsubscribe(recipient: Recipient): readonly Compilable[] {
    return [
      this.#needs.state
        .updateTable('email_recipients')
        .set((row) => ({
          status: 'DISABLED' satisfies RecipientStatus,
          verified_at: null,
          version: row('version', '+', 1),
        }))
        .where('id', '=', recipient.id)
        .where((where) =>
          where.or([where('status', '!=', 'DISABLED'), where('verified_at', 'is not', null)]),
        ),
      ...this.#endDeliveries(recipient),
    ]
  }

  /** The changes that remove a recipient; what it was sent is removed when it has become old. */
  remove(recipient: Recipient): readonly Compilable[] {
    const { id, ownerId } = recipient
    const removal = this.#needs.state.deleteFrom('email_recipients').where('id', '=', id)
    return [removal.where('owner_id', '=', ownerId), ...this.#endDeliveries(recipient)]
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await this.#needs.writer.attempt(...changes)
  }

  #changed({ id, version, status }: Recipient) {
    return (
      this.#needs.state
        .updateTable('email_recipients')
        .set((row) => ({ version: row('version', '+', 1) }))
        .where('id', '=', id)
        .where('version', '=', version)
        // The address may have been disabled meanwhile, which is no change by a person.
        .where('status', '=', status)
    )
  }

  #endDeliveries({ id }: Recipient): readonly Compilable[] {
    return endDeliveries(this.#needs.state, id, 'mail').map(optional)
  }
}

/** A recipient, for whoever sends to it. */
export async function findRecipient(
  state: StateDatabase,
  id: string,
): Promise<Recipient | undefined> {
  const row = await state
    .selectFrom('email_recipients')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

function fromRow(row: Selectable<StateSchema['email_recipients']>): Recipient {
  return {
    id: row.id as EmailRecipientId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    email: row.email,
    status: row.status as RecipientStatus,
    verifiedAtUs: row.verified_at ?? undefined,
    severities: JSON.parse(row.severities) as readonly Severity[],
    version: row.version,
    consecutiveFailures: row.consecutive_failures,
    lastDeliveryAtUs: row.last_delivery_at ?? undefined,
    recordedAttempts: row.recorded_attempts,
  }
}
