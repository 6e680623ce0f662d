import type { FilesAddress } from '../../config/files.ts'
import type { UploadId } from '../uploads/upload-id.ts'
import type { TakenUpload, UploadForm, UploadLimits } from './content.ts'

/** What the thread is started with. */
export interface ContentThreadData {
  /** `filesAddress` of the settings. */
  readonly address: FilesAddress
  /** `files` of the data folder. */
  readonly folder: string
}

/** An upload that has arrived, and what it has to be. */
export interface TakeRequest {
  readonly upload: UploadId
  readonly form: UploadForm
  readonly limits: UploadLimits
}

/** What other threads may ask of the one that looks at uploads. */
export interface ContentProcedures {
  /**
   * Looks at the staged bytes of an upload, and keeps what is in them. They stay staged: whoever asks
   * discards them when it is known what has become of them. The same may be asked for again.
   *
   * @throws DomainError `file_rejected`, `body_too_large`, `disk_full`; what the store throws
   */
  take(request: TakeRequest): Promise<TakenUpload>
}
