import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { KeyDirectory } from '../../access/auth/key-directory.ts'
import type { Clock } from '../../core/clock.ts'
import type { VaultId } from '../../core/ids.ts'
import { assertMayGive } from './device-rights.ts'
import type { ProvisioningStore } from './provisioning-store.ts'

/** The provisioning keys of vaults, and what it takes to judge who may end one. */
export interface KeysOfVault {
  readonly provisioning: Pick<ProvisioningStore, 'list'>
  readonly directory: Pick<KeyDirectory, 'find'>
  readonly clock: Clock
}

/**
 * Refuses those who may not end the keys that devices register with in a vault: deleting it ends
 * them, so it takes what to end each of them takes. Those that have ended already are nobody's
 * concern.
 *
 * @throws DomainError `insufficient_permissions`, or `invalid_api_key` for a key that has ended
 */
export async function assertMayEndKeys(
  { provisioning, directory, clock }: KeysOfVault,
  caller: AuthenticatedCaller,
  vaultId: VaultId,
): Promise<void> {
  const nowUs = clock.nowUs()
  for (const { revokedAtUs, expiresAtUs } of await provisioning.list(vaultId)) {
    const hasEnded = revokedAtUs !== undefined || (expiresAtUs ?? nowUs + 1) <= nowUs
    if (!hasEnded) assertMayGive(directory, caller, expiresAtUs)
  }
}
