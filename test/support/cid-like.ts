import { createHash } from 'node:crypto'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** A name that looks like the CID of these bytes, and is another one for other bytes. */
export function cidLike(bytes: Uint8Array): string {
  const digest = createHash('sha256').update(bytes).digest()
  return `bafkrei${Array.from(digest, (byte) => letters[byte % 32]).join('')}`
}
