import { imageUploads } from '../../files/uploads/image-uploads.ts'
import type { UploadKind } from '../../files/uploads/upload-kind.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { VaultStore } from './vault-store.ts'

export interface VaultUploadsNeeds {
  readonly vaults: VaultStore
  readonly state: StateDatabase
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
}

/** What is uploaded for vaults: an image of their own. */
export function vaultUploads({ vaults, state, lifecycle }: VaultUploadsNeeds): UploadKind {
  return imageUploads('vaults', {
    state,
    async also(resourceId) {
      const vault = await vaults.load(resourceId)
      if (!vault) return []
      const { ownerId, name } = vault
      return lifecycle.record({
        event: 'vault.updated',
        ownerId,
        resourceId,
        name,
        actor: undefined,
      })
    },
  })
}
