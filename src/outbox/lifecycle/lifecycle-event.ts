import type { FieldMap } from '../../contracts/stream-schema.ts'
import type { UserId } from '../../core/ids.ts'
import type { NewEvent } from '../events/events.ts'

/** What happens to the resources of a user, by the name that a reading of it carries. */
export type LifecycleEventName =
  | `stream.${'created' | 'updated' | 'paused' | 'resumed' | 'deleted'}`
  | `asset_stream.${'created' | 'updated' | 'deleted' | AnchoredWord}`
  | `vault.${'created' | 'updated' | 'deleted' | AnchoredWord}`
  | `template.${'created' | 'updated' | 'deleted'}`
  | `attachment.${'created' | 'stored' | 'deleted' | AnchoredWord}`
  | `signature.${'created' | AnchoredWord}`
  | `asset.${'created' | 'deployed' | 'error'}`
  | `key.${'created' | 'rotated' | 'revoked'}`
  | `${'vault' | 'asset_stream'}.permission.${'granted' | 'updated' | 'revoked'}`

/** What becomes of something that is anchored. */
type AnchoredWord = 'completed' | 'failed' | 'error'

/** Events that the catalogue has, too, by the name that they have there. */
const notifiedAs = {
  'vault.created': 'vault.created',
  'vault.completed': 'vault.completed',
  'vault.failed': 'vault.failed',
  'vault.error': 'vault.error',
  'vault.deleted': 'vault.deleted',
  'stream.created': 'stream.created',
  'stream.deleted': 'stream.deleted',
  'attachment.created': 'data_attachment.created',
  'attachment.completed': 'data_attachment.completed',
  'attachment.failed': 'data_attachment.failed',
  // The catalogue has no other word for it: the status says which it is.
  'attachment.error': 'data_attachment.failed',
  'attachment.deleted': 'data_attachment.deleted',
  'signature.created': 'signature.created',
  'signature.completed': 'signature.completed',
  'signature.failed': 'signature.failed',
  'signature.error': 'signature.error',
  'asset.created': 'asset.created',
  'asset.deployed': 'asset.deployed',
  'asset.error': 'asset.error',
  'asset_stream.created': 'stream.created',
  'asset_stream.completed': 'stream.completed',
  'asset_stream.failed': 'stream.failed',
  'asset_stream.error': 'stream.error',
  'asset_stream.deleted': 'stream.deleted',
  'vault.permission.granted': 'vault.permission.granted',
  'vault.permission.updated': 'vault.permission.updated',
  'vault.permission.revoked': 'vault.permission.revoked',
  'asset_stream.permission.granted': 'stream.permission.granted',
  'asset_stream.permission.updated': 'stream.permission.updated',
  'asset_stream.permission.revoked': 'stream.permission.revoked',
  'key.created': 'security.key_created',
  'key.revoked': 'security.key_revoked',
} as const satisfies Partial<Record<LifecycleEventName, NewEvent['type']>>

export type LifecycleEvent = NotifiedEvent | QuietEvent

interface NotifiedEvent extends Happening {
  readonly event: keyof typeof notifiedAs
  /** What whoever is told of it gets to know: what it is about, and the resource as the API shows it. */
  readonly notice: Pick<NewEvent, 'vaultId' | 'streamId' | 'templateId' | 'data' | 'isQuiet'>
}

interface QuietEvent extends Happening {
  readonly event: Exclude<LifecycleEventName, keyof typeof notifiedAs>
  readonly notice?: undefined
}

interface Happening {
  /** Whose resource it is, or whom it is shared with: only streams of this user hear of it. */
  readonly ownerId: UserId
  readonly resourceId: string
  /** The name of the resource, after the change. */
  readonly name: string
  /** Who made the change; undefined when no key did: an upload, or the end of a time. */
  readonly actor: { readonly userId: string; readonly apiKeyId: string } | undefined
}

/** The schema of every stream of such events: it is ours, so nobody else gives one. */
export const lifecycleFields: FieldMap = {
  event: { type: 'string', required: true },
  resourceType: { type: 'string', required: true },
  resourceId: { type: 'string', required: true },
  name: { type: 'string', required: true },
  apiKeyId: { type: 'string' },
}

/** What to write into the catalogue's own record of it; undefined for what the catalogue does not have. */
export function newEventOf(event: LifecycleEvent): NewEvent | undefined {
  if (event.notice === undefined) return undefined
  const { ownerId, resourceId, notice } = event
  const type = notifiedAs[event.event]
  // What is about safety says so in its type, and what it is about nowhere else.
  const named = type.startsWith('security.') ? event.event : type
  return { ...notice, type, ownerId, resourceType: resourceTypeOf(named), resourceId }
}

/** All but what has happened: `vault`, or `vault_permission`. */
function resourceTypeOf(event: LifecycleEventName | NewEvent['type']): string {
  return event.slice(0, event.lastIndexOf('.')).replace('.', '_')
}

/** The reading of an event, without its time: that is the time of its receipt. */
export function readingOf({ event, ownerId, resourceId, name, actor }: LifecycleEvent): object {
  return {
    event,
    resourceType: resourceTypeOf(event),
    resourceId,
    name,
    // The keys of somebody else, such as an administrator, are none of the owner's business.
    ...(actor?.userId === ownerId && { apiKeyId: actor.apiKeyId }),
  }
}
