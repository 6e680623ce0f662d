import { parseEmail } from '../../core/email-address.ts'
import type { EventType } from '../../outbox/events/event-types.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { MakeAttempt } from '../delivery/attempt.ts'
import type { DueDelivery } from '../delivery/delivery.ts'
import { eventContent, type MailContent, verificationContent } from './mail-content.ts'
import type { MailLinks } from './mail-links.ts'
import { mailAttemptsMax } from './mail-policy.ts'
import { isMailed, type Recipient, verificationType } from './recipient.ts'
import { findRecipient } from './recipient-store.ts'
import { rendered } from './rendered-mail.ts'
import type { SentMail, SmtpTransport } from './smtp-transport.ts'

/** The message of what cannot be mailed because there is no server. */
const skippedMessage = 'skipped: no mail server'

export interface MailAttemptsNeeds {
  readonly state: StateDatabase
  readonly links: MailLinks
  /** Undefined where no server is configured. */
  readonly smtp: Pick<SmtpTransport, 'send'> | undefined
  /** Time for one mail, from the connection to the last answer. */
  readonly timeoutMs: number
  /** Called with a failure of the mail server. */
  readonly onTrouble: (error: unknown) => void
}

/** How the delivery of a mail is attempted. */
export class MailAttempts {
  readonly #needs: MailAttemptsNeeds

  constructor(needs: MailAttemptsNeeds) {
    this.#needs = needs
  }

  readonly make: MakeAttempt = async (delivery, ending) => {
    // The recipient is looked up each time: nothing may go to who has said no meanwhile.
    const recipient = await findRecipient(this.#needs.state, delivery.receiverId)
    if (recipient === undefined || !mayBeSent(delivery, recipient)) return undefined
    const address = parseEmail(recipient.email)
    const content = await this.#contentOf(delivery, recipient)
    if (address === undefined || content === undefined) return undefined
    const sent = await this.#send({ delivery, recipient, content, to: address.wire }, ending)
    const { outcome, statusCode, message, trouble } = sent
    // An attempt that our own end has broken off says nothing of the server.
    if (trouble !== undefined) this.#needs.onTrouble(trouble)
    return {
      result: { outcome, statusCode, message, requestHeaders: {}, responseExcerpt: '' },
      retryCount: mailAttemptsMax - 1,
      retryDelayUs: 0,
    }
  }

  async #send(
    {
      delivery,
      recipient,
      content,
      to,
    }: {
      readonly delivery: DueDelivery
      readonly recipient: Recipient
      readonly content: MailContent
      readonly to: string
    },
    ending: AbortController,
  ): Promise<SentMail> {
    const { smtp, links, timeoutMs } = this.#needs
    if (!smtp) return { outcome: 'skipped', statusCode: undefined, message: skippedMessage }
    const unsubscribe = links.unsubscribing(recipient.id)
    const mail = rendered(content, { to, id: delivery.id, unsubscribe })
    const timer = setTimeout(() => ending.abort(new Error('no answer in time')), timeoutMs)
    try {
      return await smtp.send(mail, ending.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Nothing for an event that is too old to be kept. */
  async #contentOf(
    { id, eventId, eventType }: DueDelivery,
    { id: recipientId, email }: Recipient,
  ): Promise<MailContent | undefined> {
    const { state, links } = this.#needs
    if (eventType === verificationType) {
      const asked = await state
        .selectFrom('deliveries')
        .select('created_at')
        .where('id', '=', id)
        .executeTakeFirst()
      if (asked === undefined) return undefined
      const href = links.verification(recipientId, asked.created_at)
      return verificationContent(email, { href, host: links.host })
    }
    const event = await state
      .selectFrom('events')
      .select(['at', 'resource_id', 'data'])
      .where('id', '=', eventId)
      .executeTakeFirst()
    if (event === undefined) return undefined
    const { at: atUs, resource_id: resourceId, data } = event
    return eventContent({ type: eventType as EventType, atUs, resourceId, data }, links)
  }
}

/**
 * The question goes to who has not answered it, and everything else to who has said yes
 * (decisions.md#mail).
 */
function mayBeSent({ eventType }: DueDelivery, recipient: Recipient): boolean {
  return eventType === verificationType
    ? recipient.status === 'PENDING_VERIFICATION'
    : isMailed(recipient)
}
