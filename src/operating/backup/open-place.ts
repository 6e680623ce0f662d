import type { BackupAddress, BackupPlace, PlaceRules } from './backup-place.ts'
import { FolderPlace } from './folder-place.ts'

/** The place of an address. @throws DomainError `destination_not_allowed` */
export async function openPlace(address: BackupAddress, rules: PlaceRules): Promise<BackupPlace> {
  if (address.kind === 'folder') return new FolderPlace(address.path)
  // Loaded only where it is needed: it takes as much memory as all the rest of this thread.
  const { openS3Place } = await import('./s3-place.ts')
  return await openS3Place(address, rules)
}
