import type { AllowedDestination } from '../../egress/allowed-destinations.ts'
import type { BackupAddress, BackupPlace } from './backup-place.ts'
import { FolderPlace } from './folder-place.ts'

/** Where a place may be. */
export interface PlaceRules {
  /** Private destinations that may be reached; undefined: whoever asks may reach everything. */
  readonly egressAllowed: readonly AllowedDestination[] | undefined
}

/** The place of an address. @throws DomainError `destination_not_allowed` */
export async function openPlace(address: BackupAddress, rules: PlaceRules): Promise<BackupPlace> {
  if (address.kind === 'folder') return new FolderPlace(address.path)
  // Loaded only where it is needed: it takes as much memory as all the rest of this thread.
  const { openS3Place } = await import('./s3-place.ts')
  return await openS3Place(address, rules)
}
