import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'

/**
 * For a change of something that the user can see: others' public things can be seen, not changed.
 * What one cannot see at all is 404 (decisions.md#what-others-show).
 *
 * @throws DomainError `insufficient_permissions`
 */
export function assertOwn(
  userId: UserId,
  { ownerId }: { readonly ownerId: UserId },
  what: string,
): void {
  if (ownerId === userId) return
  throw new DomainError(
    'insufficient_permissions',
    `you can see this ${what}, but only its owner can change it`,
    { remedy: 'Ask its owner, or use a key of the owner; GET /users says whose key is in use.' },
  )
}
