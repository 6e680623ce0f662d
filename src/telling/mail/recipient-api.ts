import type { Static } from 'typebox'
import { severities } from '../../../processors/alert-rules.ts'
import { conflict } from '../../core/conflict.ts'
import { emailLengthMax, parseEmail } from '../../core/email-address.ts'
import { invalidParameter } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { attemptFields } from '../delivery/attempt-schema.ts'
import { type Recipient, recipientStatuses } from './recipient.ts'
import type { NewRecipient } from './recipient-store.ts'

const filtersSchema = s.partial(
  { severities: s.listOf(s.choice(severities), { maxItems: 3 }) },
  {
    description:
      'Of which alerts it is notified; an empty list leaves nothing out. No other events have a severity.',
  },
)

export const newRecipientSchema = s.component(
  'NewEmailRecipient',
  s.record(
    {
      email: {
        ...s.text,
        minLength: 3,
        maxLength: emailLengthMax,
        description: 'Without a name; the same in any case.',
        examples: ['ada@plant.example'],
      },
      filters: filtersSchema,
    },
    { optional: ['filters'], examples: [{ email: 'ada@plant.example' }] },
  ),
)

export const recipientChangeSchema = s.component(
  'EmailRecipientChange',
  s.partial(
    { status: s.choice(['ACTIVE', 'DISABLED']), filters: filtersSchema },
    { examples: [{ status: 'DISABLED' }] },
  ),
)

export const recipientSchema = s.component(
  'EmailRecipient',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    email: s.text,
    status: s.choice(recipientStatuses, {
      description:
        'PENDING_VERIFICATION: nothing is sent before the link in the mail to it was followed. DISABLED: switched off, unsubscribed, or failed too often.',
    }),
    verified_at: s.nullable(s.dateTime),
    filters: s.record({ severities: s.listOf(s.choice(severities)) }),
    consecutive_failures: s.count,
    last_delivery_at: {
      ...s.nullable(s.dateTime),
      description: 'When the mail server last took one.',
    },
  }),
)

export const mailAttemptSchema = s.component(
  'MailAttempt',
  s.record({
    ...attemptFields,
    event_type: { ...s.text, description: 'Of the question for consent: `email.verification`.' },
    status_code: {
      ...attemptFields.status_code,
      description: 'What the mail server has answered (RFC 5321); none without an answer.',
    },
    message: { ...s.text, description: '`skipped: no mail server` where none is configured.' },
    delivered: { ...s.boolean, description: 'Taken by the mail server.' },
  }),
)

/** @throws DomainError `invalid_request` for what is no address */
export function newRecipient({ email, filters }: Static<typeof newRecipientSchema>): NewRecipient {
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
export function changedRecipient(
  before: Recipient,
  { status, filters }: Static<typeof recipientChangeSchema>,
): Recipient {
  if (status === 'ACTIVE' && before.verifiedAtUs === undefined) {
    const way = 'follow the link in its mail, or have another one sent'
    throw conflict(
      `the address is not confirmed: ${way}`,
      'Follow the link in the mail to this address; POST /notifications/email-configs/{configId}/verification sends another one.',
    )
  }
  return {
    ...before,
    ...(status && { status }),
    ...(filters?.severities && { severities: [...new Set(filters.severities)] }),
  }
}

/** A recipient as the API shows it. */
export function recipientBody(recipient: Recipient): Static<typeof recipientSchema> {
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
