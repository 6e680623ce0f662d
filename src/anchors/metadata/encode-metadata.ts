import { randomBytes } from 'node:crypto'
import { hashBlock } from '../../files/content/hash-file.ts'

/** What is said in metadata. There are no links: their form is what somebody's text may look like. */
export type MetadataValue = string | null | readonly string[]

/** Metadata as they are kept: once encoded they never change, because their CID is on a ledger. */
export interface Metadata {
  /** CIDv1 in base32 of these very bytes. */
  readonly cid: string
  readonly bytes: Uint8Array
}

/** How metadata are written; another way has another name. */
const format = 'streamvault-metadata-1'

/** Makes a CID that nobody guesses, whatever else is known. */
const saltBytes = 16

/** Random bytes in base64, for the metadata of what is not for everybody. */
export function newSalt(): string {
  return randomBytes(saltBytes).toString('base64')
}

/**
 * Encodes metadata: canonical dag-json, which is JSON without spaces whose keys are in the order of their bytes.
 *
 * @param fields their names are ASCII: others are sorted in another order by some implementations
 */
export async function encodeMetadata(
  type: 'vault' | 'asset_stream' | 'template' | 'signature' | 'asset',
  fields: Readonly<Record<string, MetadataValue>>,
): Promise<Metadata> {
  const { encode } = await import('@ipld/dag-json')
  // A copy: what crosses to another thread takes all of the memory with it that it is a part of.
  const bytes = encode({ ...fields, format, type }).slice()
  const { cid } = await hashBlock(bytes)
  return { cid, bytes }
}
