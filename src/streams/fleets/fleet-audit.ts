import type { Compilable } from 'kysely'
import type { Actor, AuditAction, AuditLog } from '../../access/audit/audit-log.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Fleet } from './fleet.ts'

const partNames = [
  'name',
  'streamsMax',
  'definition',
  'tags',
] as const satisfies readonly (keyof Fleet)[]

/** What is written down of fleets, in the transactions of their changes: each is a change of thousands of streams. */
export class FleetAudit {
  readonly #audit: AuditLog
  readonly #actor: Actor

  constructor(audit: AuditLog, actor: Actor) {
    this.#audit = audit
    this.#actor = actor
  }

  created(fleet: Fleet): Compilable {
    return this.#entry('fleet.created', fleet)
  }

  /** The names of the parts say what was changed. */
  changed(before: Fleet, after: Fleet): Compilable {
    const changed = partNames.filter(
      (name) => canonicalJson(before[name]) !== canonicalJson(after[name]),
    )
    return this.#entry('fleet.changed', after, { changed: changed.join(', ') })
  }

  deleted(fleet: Fleet, streams: string): Compilable {
    return this.#entry('fleet.deleted', fleet, { streams })
  }

  /** @param details with the name of the device */
  ofDevice(
    deed: 'allowed' | 'denied' | 'renamed',
    fleet: Fleet,
    details: Readonly<Record<string, string>>,
  ): Compilable {
    return this.#entry(`fleet.device_${deed}`, fleet, details)
  }

  #entry(
    action: AuditAction,
    { id, ownerId, name }: Fleet,
    details: Readonly<Record<string, string>> = {},
  ): Compilable {
    const subject = { subjectId: id, userId: ownerId }
    return this.#audit.entry({
      action,
      actor: this.#actor,
      ...subject,
      details: { name, ...details },
    })
  }
}
