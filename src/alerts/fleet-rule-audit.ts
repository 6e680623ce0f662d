import type { Compilable } from 'kysely'
import type { Actor, AuditAction, AuditLog } from '../access/audit/audit-log.ts'
import type { FleetRule, FleetRuleContent } from './fleet-rule.ts'

const partNames = [
  'name',
  'vaultId',
  'tags',
  'rule',
] as const satisfies readonly (keyof FleetRuleContent)[]

/**
 * What is written down of rules of many streams, in the transactions of their changes: whoever takes one
 * away, or moves its threshold, has alerts of a whole fleet fall silent.
 */
export class FleetRuleAudit {
  readonly #audit: AuditLog
  readonly #actor: Actor

  constructor(audit: AuditLog, actor: Actor) {
    this.#audit = audit
    this.#actor = actor
  }

  created(rule: FleetRule): Compilable {
    return this.#entry('alert_rule.created', rule)
  }

  /** Nothing where nothing is changed. The names of the parts tell what. */
  changed(before: FleetRule, after: FleetRule): readonly Compilable[] {
    const changed = partNames.filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    )
    if (changed.length === 0) return []
    return [this.#entry('alert_rule.changed', after, { changed: changed.join(', ') })]
  }

  deleted(rule: FleetRule): Compilable {
    return this.#entry('alert_rule.deleted', rule)
  }

  #entry(
    action: AuditAction,
    { id, ownerId, name }: FleetRule,
    details: Readonly<Record<string, string>> = {},
  ): Compilable {
    return this.#audit.entry({
      action,
      actor: this.#actor,
      subjectId: id,
      userId: ownerId,
      details: { name, ...details },
    })
  }
}
