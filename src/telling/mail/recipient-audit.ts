import type { Compilable } from 'kysely'
import type { Actor, AuditAction, AuditLog } from '../../access/audit/audit-log.ts'
import type { Recipient } from './recipient.ts'

/**
 * Actor of a change of a recipient. Who follows a link of a mail has no key, and is known by
 * nothing but an address of the network.
 */
export type MailActor = Actor | { readonly address: string }

/**
 * What is written down of recipients, in the transactions of their changes: where events can go to from
 * now on, and who has said so. Of the address it is the domain: the log outlives the person's account.
 */
export class RecipientAudit {
  readonly #audit: AuditLog
  readonly #actor: MailActor

  constructor(audit: AuditLog, actor: MailActor) {
    this.#audit = audit
    this.#actor = actor
  }

  created(recipient: Recipient): Compilable {
    return this.#entry('email.created', recipient)
  }

  /** Nothing where nothing is changed. */
  changed(before: Recipient, after: Recipient): readonly Compilable[] {
    const changed = (['status', 'severities'] as const).filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    )
    if (changed.length === 0) return []
    const details = { status: after.status, changed: changed.join(', ') }
    return [this.#entry('email.changed', after, details)]
  }

  deleted(recipient: Recipient): Compilable {
    return this.#entry('email.deleted', recipient)
  }

  verified(recipient: Recipient): Compilable {
    return this.#entry('email.verified', recipient)
  }

  unsubscribed(recipient: Recipient): Compilable {
    return this.#entry('email.unsubscribed', recipient)
  }

  #entry(
    action: AuditAction,
    { id, ownerId, email }: Recipient,
    details: Readonly<Record<string, string>> = {},
  ): Compilable {
    const domain = email.slice(email.lastIndexOf('@') + 1)
    return this.#audit.entry({
      action,
      ...('userId' in this.#actor ? { actor: this.#actor } : { address: this.#actor.address }),
      subjectId: id,
      userId: ownerId,
      details: { domain, ...details },
    })
  }
}
