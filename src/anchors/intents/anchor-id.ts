import { createHash } from 'node:crypto'
import type { AnchorId } from '../../core/ids.ts'

/**
 * The id of an intent follows from what it is for (a uuid of version 8, RFC 9562): an intent that is written anew, because an older
 * state was restored, is found on the ledger if it was done before.
 */
export function anchorIdOf(resourceId: string, operation: string): AnchorId {
  const hash = createHash('sha256')
    .update(JSON.stringify([resourceId, operation]))
    .digest()
  hash[6] = 0x80 | ((hash[6] ?? 0) & 0x0f)
  hash[8] = 0x80 | ((hash[8] ?? 0) & 0x3f)
  const hex = hash.toString('hex', 0, 16)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ]
  return parts.join('-') as AnchorId
}
