import type { AssetStreamId, AttachmentId, UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { NamedContent } from '../../files/content/content.ts'
import type { AssetStream } from '../asset-streams/asset-stream.ts'
import type { Seen } from '../rights/right.ts'

/** What a caller says of a new attachment. */
export interface NewAttachment {
  readonly name: string
  readonly description: string | null
  readonly streamId: AssetStreamId
  readonly ledger: Ledger
  readonly filename: string | null
  /** Whether what is uploaded is an archive, whose entries become the files. */
  readonly uploadAsZip: boolean
}

/** Files that belong to an asset stream. */
export interface Attachment extends NewAttachment {
  readonly id: AttachmentId
  readonly ownerId: UserId
  readonly createdAtUs: number
  /** Where it is anchored. */
  readonly network: string
  readonly status: string
  readonly txHash: string
  /** The CID of the file, or of the folder of the files; empty until they are there. */
  readonly cid: string
  /** Bytes of all files. */
  readonly size: number
  readonly fileCount: number
  /** As they are stored (see `progress.ts`). */
  readonly progress: string
  readonly failure: string | null
}

/** An attachment with what its answers show beside it. */
export interface ShownAttachment {
  readonly attachment: Attachment
  readonly stream: AssetStream
  /** In a list, only the first of them. */
  readonly files: readonly NamedContent[]
}

/** What one user sees: an attachment goes with its asset stream. */
export type SeenAttachment = ShownAttachment & Pick<Seen, 'right'>

/** Waits for its file. */
export const pendingStatus = 'UPLOAD_PENDING'

/** What an event of an attachment is about. */
export function subjectOf({ ownerId, id, name }: Attachment) {
  return { ownerId, resourceId: id, name }
}
