import type { FilesAddress } from '../../config/files.ts'
import type { Clock } from '../../core/clock.ts'
import type { FileStore } from './file-store.ts'
import { openFolderStore } from './folder-file-store.ts'

export interface FileStoreNeeds {
  /** `filesAddress` of the settings. */
  readonly address: FilesAddress
  /** `files` of the data folder: of a bucket only what is being looked at lies there. */
  readonly folder: string
  readonly clock: Clock
  /** Free space of the disk that is left to others: what arrives is refused before. */
  readonly spareBytes: number
  /**
   * Whether what a crash has left is removed. The first who opens it in a process does that, before
   * others have it as well.
   */
  readonly clearsLeftovers: boolean
}

/** Opens the store of files. A bucket is not connected to before it is needed. */
export async function openFileStore(needs: FileStoreNeeds): Promise<FileStore> {
  const { address, ...others } = needs
  if (address.kind === 'folder') return await openFolderStore(others)
  const { openS3FileStore } = await import('./s3-file-store.ts')
  return await openS3FileStore({ ...others, address })
}
