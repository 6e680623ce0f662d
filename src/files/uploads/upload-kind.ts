import type { Compilable } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { TakenUpload, UploadForm } from '../content/content.ts'
import type { UploadPurpose } from '../store/upload-id.ts'

/** A file that a resource waits for. */
export interface ExpectedUpload {
  readonly ownerId: UserId
  /** The only one that is taken now (see `UploadSubject`). */
  readonly turn: number
  readonly form: UploadForm
  readonly bytesMax: number
}

/** Why the bytes of an upload were not taken: a stable name, and a sentence. */
export interface UploadFailure {
  readonly error: string
  readonly message: string
}

/** What others upload, as long as a permission of the owner lets them. */
export interface HolderUploads {
  mayUpload(resourceId: string, holderId: UserId): Promise<boolean>
  /** Part of the changes: it finds no row once they may not. */
  stillMayUpload(resourceId: string, holderId: UserId): Compilable
}

/**
 * What is uploaded for one kind of resource. Everything that an upload changes is one transaction, and what
 * has to hold then is a condition of these changes: they find no row when the resource waits for another
 * file, or for none.
 */
export interface UploadKind {
  readonly purpose: UploadPurpose
  /** Undefined for a resource that waits for no file, or is not there. */
  expected(resourceId: string): Promise<ExpectedUpload | undefined>
  /** Undefined where nobody but the owner ever uploads. */
  readonly byHolders?: HolderUploads | undefined
  /** Changes that make what was uploaded the file of its resource. */
  taken(resourceId: string, turn: number, upload: TakenUpload): Promise<readonly Compilable[]>
  /** Changes that say why it was not taken, where whoever has sent it was not answered that. */
  refused(resourceId: string, turn: number, failure: UploadFailure): Promise<readonly Compilable[]>
}
