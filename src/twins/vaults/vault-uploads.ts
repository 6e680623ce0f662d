import { plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import type { Clocks } from '../../core/clock.ts'
import { imageUploads } from '../../files/uploads/image-uploads.ts'
import type { UploadKind } from '../../files/uploads/upload-kind.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { VaultStore } from './vault-store.ts'

export interface VaultUploadsNeeds {
  readonly vaults: VaultStore
  readonly state: StateDatabase
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly clock: Clocks
}

/** What is uploaded for vaults: an image of their own. */
export function vaultUploads({ vaults, state, lifecycle, clock }: VaultUploadsNeeds): UploadKind {
  return imageUploads('vaults', {
    state,
    async also(resourceId, { turn, cid }) {
      const vault = await vaults.load(resourceId)
      if (!vault) return []
      const { ownerId, name, ledger, network } = vault
      const event = { event: 'vault.updated', ownerId, resourceId, name, actor: undefined } as const
      const anchor = plannedAnchor(
        { state, clock },
        {
          resourceType: 'vault',
          resourceId,
          operation: `image:${turn}`,
          ledger,
          network,
          kind: 'root',
          parts: [{ name: 'image', cid }],
        },
      )
      return [...lifecycle.record(event), ...anchor]
    },
  })
}
