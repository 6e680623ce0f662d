import { type Compilable, sql } from 'kysely'
import { type PlanAnchorNeeds, plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import type { Clocks } from '../../core/clock.ts'
import type { VaultId } from '../../core/ids.ts'
import { imageUploads } from '../../files/uploads/image-uploads.ts'
import type { UploadKind } from '../../files/uploads/upload-kind.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { stillWritable } from '../rights/shared-rows.ts'
import type { Vault } from './vault.ts'
import type { VaultStore } from './vault-store.ts'

export interface VaultUploadsNeeds {
  readonly vaults: VaultStore
  readonly state: StateDatabase
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly clock: Clocks
}

/** What an image is anchored as: each that comes has its own. */
export function imageOperation(turn: number): string {
  return `image:${turn}`
}

/** The changes that have an image of its own anchored, apart from the vault, which is on the ledger by then. */
export function anchoredImage(
  needs: PlanAnchorNeeds,
  { id, ledger, network }: Vault,
  image: { readonly turn: number; readonly cid: string; readonly isQuiet?: boolean },
): readonly Compilable[] {
  const { turn, cid, isQuiet = false } = image
  return plannedAnchor(needs, {
    resourceType: 'vault',
    resourceId: id,
    operation: imageOperation(turn),
    ledger,
    network,
    kind: 'root',
    parts: [{ name: 'image', cid }],
    isQuiet,
  })
}

/** What is uploaded for vaults: an image of their own. */
export function vaultUploads({ vaults, state, lifecycle, clock }: VaultUploadsNeeds): UploadKind {
  return imageUploads('vaults', {
    state,
    byHolders: {
      async mayUpload(resourceId, holderId) {
        return (await vaults.findVisible(holderId, resourceId as VaultId))?.right === 'write'
      },
      stillMayUpload: (resourceId, userId) =>
        stillWritable(state, { userId, nowUs: clock.nowUs() }, sql`${resourceId}`),
    },
    async also(resourceId, { turn, cid }) {
      const vault = await vaults.load(resourceId)
      if (!vault) return []
      const { ownerId, name } = vault
      const event = { event: 'vault.updated', ownerId, resourceId, name, actor: undefined } as const
      return [...lifecycle.record(event), ...anchoredImage({ state, clock }, vault, { turn, cid })]
    },
  })
}
