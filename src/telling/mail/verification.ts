import { randomUUID } from 'node:crypto'
import { type Compilable, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { mailRow } from './mail-delivery.ts'
import { verificationType } from './recipient.ts'

/**
 * Mails that ask for consent, in 24 hours: nobody has asked for them, so no user may have us send many, and no
 * address is sent many, whoever names it.
 */
const verificationsMax = { ofUser: 100, ofAddress: 10 }
const dayUs = 86_400_000_000

/** Rows that one commit removes. */
const forgottenMax = 1_000

interface AskedAddress {
  readonly recipientId: string
  readonly ownerId: UserId
  readonly folded: string
  readonly atUs: number
  /** `atUs` in steady time. */
  readonly dueAtUs: number
}

/** The changes that ask an address for its consent. They find no room when that was done too often. */
export function planVerification(
  state: StateDatabase,
  { recipientId, ownerId, folded, atUs, dueAtUs }: AskedAddress,
): readonly Compilable[] {
  const delivery = mailRow({
    recipientId,
    ownerId,
    eventId: randomUUID(),
    eventType: verificationType,
    resourceId: recipientId,
    createdAtUs: atUs,
    dueAtUs,
  })
  const sinceUs = dueAtUs - dayUs
  const { ofUser, ofAddress } = verificationsMax
  return [
    state
      .insertInto('email_verifications')
      .columns(['delivery_id', 'owner_id', 'email_folded', 'sent_at'])
      .expression(
        sql`SELECT ${delivery.id}, ${ownerId}, ${folded}, ${dueAtUs}
            WHERE (SELECT count(*) FROM email_verifications
                WHERE owner_id = ${ownerId} AND sent_at > ${sinceUs}) < ${ofUser}
              AND (SELECT count(*) FROM email_verifications
                WHERE email_folded = ${folded} AND sent_at > ${sinceUs}) < ${ofAddress}`,
      ),
    state.insertInto('deliveries').values(delivery),
  ]
}

/** Forgets some of what limits nothing any more. Resolves with whether there is more. */
export async function forgetVerifications(
  { state, writer }: { readonly state: StateDatabase; readonly writer: StateWriter },
  steadyUs: number,
): Promise<boolean> {
  const old = await state
    .selectFrom('email_verifications')
    .select('delivery_id')
    .where('sent_at', '<=', steadyUs - dayUs)
    .limit(forgottenMax)
    .execute()
  if (old.length === 0) return false
  const ids = old.map(({ delivery_id: id }) => id)
  await writer.commit(state.deleteFrom('email_verifications').where('delivery_id', 'in', ids))
  return old.length === forgottenMax
}
