import { newSalt } from './encode-metadata.ts'

/** A keyed digest: of no use to who does not have the key. */
interface Digests {
  digest(text: string): string
}

/** What those who give metadata to something from before there were any take for its salt. */
export interface EarlierSalts {
  /** Base64. Without it the salt is random. */
  readonly saltOf?: ((resourceId: string) => string) | undefined
}

/**
 * The salt of a resource from before there were metadata. It follows from the master key: a state from then that is
 * restored, and gets its metadata anew, gets those that are on the ledger already.
 */
export function earlierSalt(digests: Digests, resourceId: string): string {
  const digest = Buffer.from(digests.digest(`salt of the metadata of ${resourceId}`), 'hex')
  return digest.subarray(0, 16).toString('base64')
}

export function saltFor({ saltOf = newSalt }: EarlierSalts, resourceId: string): string {
  return saltOf(resourceId)
}
