import { DomainError, invalidParameter } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import { parseEmail } from './email-address.ts'
import type { Recipient, RecipientStatus, Severity } from './recipient.ts'
import type { NewRecipient } from './recipient-store.ts'

interface Filters {
  readonly severities?: readonly Severity[]
}

export interface NewRecipientBody {
  readonly email: string
  readonly filters?: Filters
}

export interface RecipientChangeBody {
  readonly status?: 'ACTIVE' | 'DISABLED'
  readonly filters?: Filters
}

/** @throws DomainError `invalid_request` for what is no address */
export function newRecipient({ email, filters }: NewRecipientBody): NewRecipient {
  const address = parseEmail(email)
  if (!address) {
    const shape = 'must be an address such as ada@plant.example, in ASCII before the @'
    throw invalidParameter('email', shape)
  }
  return { email, address, severities: [...new Set(filters?.severities)] }
}

/**
 * A recipient with what a body says in the place of what was there before.
 *
 * @throws DomainError `conflict` for one that is to be told before it has said yes
 */
export function changedRecipient(before: Recipient, body: RecipientChangeBody): Recipient {
  const { status, filters } = body
  if (status === 'ACTIVE' && before.verifiedAtUs === undefined) {
    const way = 'follow the link in its mail, or have another one sent'
    throw new DomainError('conflict', `the address is not confirmed: ${way}`)
  }
  return {
    ...before,
    ...(status && { status: status satisfies RecipientStatus }),
    ...(filters?.severities && { severities: [...new Set(filters.severities)] }),
  }
}

/** A recipient as the API shows it. */
export function recipientBody(recipient: Recipient): object {
  const { verifiedAtUs, lastDeliveryAtUs } = recipient
  return {
    id: recipient.id,
    created_at: formatUs(recipient.createdAtUs),
    email: recipient.email,
    status: recipient.status,
    verified_at: verifiedAtUs === undefined ? null : formatUs(verifiedAtUs),
    filters: { severities: recipient.severities },
    consecutive_failures: recipient.consecutiveFailures,
    last_delivery_at: lastDeliveryAtUs === undefined ? null : formatUs(lastDeliveryAtUs),
  }
}
