import { categoryOf } from '../../outbox/events/categories.ts'
import type { RecordedEvent } from '../../outbox/events/events.ts'

/**
 * Whether somebody else has brought an event about by what is theirs: a permission that a user is granted, and did not
 * ask for. However much of it there is, it must not take the place of what the user's own tells
 * (decisions.md#the-inbox).
 */
export function isByAnother({
  type,
  ownerId,
  data,
}: Pick<RecordedEvent, 'type' | 'ownerId' | 'data'>): boolean {
  if (categoryOf(type) !== 'permission_notifications') return false
  const { user_id: holderId } = JSON.parse(data) as { readonly user_id?: unknown }
  return holderId === ownerId
}
