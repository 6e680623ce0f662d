import type { Compilable } from 'kysely'
import type { Actor, AuditAction, AuditLog } from '../../access/audit/audit-log.ts'
import type { Webhook, WebhookSettings } from './webhook.ts'

const settingNames = [
  'url',
  'eventTypes',
  'description',
  'secret',
  'customHeaders',
  'filters',
  'status',
  'timeoutMs',
  'retryCount',
  'retryDelayMs',
] as const satisfies readonly (keyof WebhookSettings)[]

/**
 * What is written down of webhooks, in the transactions of their changes: where readings and events can
 * go to from now on, and who has said so. Of the URL it is the host: paths can be secret, too.
 */
export class WebhookAudit {
  readonly #audit: AuditLog
  readonly #actor: Actor

  constructor(audit: AuditLog, actor: Actor) {
    this.#audit = audit
    this.#actor = actor
  }

  created(webhook: Webhook): Compilable {
    return this.#entry('webhook.created', webhook, { status: webhook.status })
  }

  /** Nothing where nothing is changed. The names of settings tell what, and never their values. */
  changed(before: Webhook, after: Webhook): readonly Compilable[] {
    const changed = settingNames.filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    )
    if (changed.length === 0) return []
    const details = { status: after.status, changed: changed.join(', ') }
    return [this.#entry('webhook.changed', after, details)]
  }

  rotated(webhook: Webhook, overlapS: number): Compilable {
    return this.#entry('webhook.rotated', webhook, { overlapSeconds: overlapS })
  }

  deleted(webhook: Webhook): Compilable {
    return this.#entry('webhook.deleted', webhook, {})
  }

  #entry(
    action: AuditAction,
    { id, ownerId, url }: Webhook,
    details: Readonly<Record<string, string | number>>,
  ): Compilable {
    return this.#audit.entry({
      action,
      actor: this.#actor,
      subjectId: id,
      userId: ownerId,
      details: { host: new URL(url).host, ...details },
    })
  }
}
