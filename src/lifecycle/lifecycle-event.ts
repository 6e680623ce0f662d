import type { UserId } from '../core/ids.ts'
import type { FieldMap } from '../pipeline/stream-schema.ts'

/** What happens to the resources of a user, by the name that a reading of it carries. */
export type LifecycleEventName =
  | `stream.${'created' | 'updated' | 'paused' | 'resumed' | 'deleted'}`
  | `vault.${'created' | 'updated' | 'deleted'}`
  | `template.${'created' | 'updated' | 'deleted'}`
  | `key.${'created' | 'rotated' | 'revoked'}`

export interface LifecycleEvent {
  readonly event: LifecycleEventName
  /** Whose resource it is: only streams of this user hear of it. */
  readonly ownerId: UserId
  readonly resourceId: string
  /** The name of the resource, after the change. */
  readonly name: string
  /** Who made the change. */
  readonly actor: { readonly userId: string; readonly apiKeyId: string }
}

/** The schema of every stream of such events: it is ours, so nobody else gives one. */
export const lifecycleFields: FieldMap = {
  event: { type: 'string', required: true },
  resourceType: { type: 'string', required: true },
  resourceId: { type: 'string', required: true },
  name: { type: 'string', required: true },
  apiKeyId: { type: 'string' },
}

/** The reading of an event, without its time: that is the time of its receipt. */
export function readingOf({ event, ownerId, resourceId, name, actor }: LifecycleEvent): object {
  return {
    event,
    resourceType: event.slice(0, event.indexOf('.')),
    resourceId,
    name,
    // The keys of somebody else, such as an administrator, are none of the owner's business.
    ...(actor.userId === ownerId && { apiKeyId: actor.apiKeyId }),
  }
}
