import type { FastifyPluginAsync } from 'fastify'
import { type AnchorFigures, anchorFigures } from '../../anchors/figures/anchor-figures.ts'
import { AnchorProofs, type AnchorRecord } from '../../anchors/proofs/anchor-proofs.ts'
import { openRoutes, type PublicResource } from '../../anchors/proofs/open-routes.ts'
import { systemClock } from '../../core/clock.ts'
import { parseId, type VaultId } from '../../core/ids.ts'
import { ledgerKeys } from '../../ledgers/sandbox/keys.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import type { Engine } from './engine.ts'

export interface AnchoringNeeds {
  readonly vaults: Pick<VaultStore, 'load'>
}

export interface Anchoring {
  readonly proofs: AnchorProofs
  readonly openRoutes: readonly FastifyPluginAsync[]
  /** What is wrong with ledgers now, by their names: readings do not wait for them. */
  degraded(): Readonly<Record<string, string>>
  /** For `GET /metrics`. */
  figures(): Promise<AnchorFigures>
}

/** Composition of what tells of anchors. */
export function openAnchoring({ state, folder }: Engine, { vaults }: AnchoringNeeds): Anchoring {
  const proofs = new AnchorProofs(state)
  return {
    proofs,
    degraded: () => ({}),
    figures: () => anchorFigures(state, systemClock),
    openRoutes: [
      openRoutes({
        proofs,
        ledgerKeys: () => ledgerKeys(folder.ledger),
        findPublic: (record) => publicVault(vaults, record),
      }),
    ],
  }
}

/** Nothing but a vault can be public. */
async function publicVault(
  vaults: AnchoringNeeds['vaults'],
  { resourceType, resourceId }: AnchorRecord,
): Promise<PublicResource | undefined> {
  const id = resourceType === 'vault' ? parseId<VaultId>(resourceId) : undefined
  const vault = id && (await vaults.load(id))
  return vault?.public === true ? { type: 'vault', id: vault.id, name: vault.name } : undefined
}
