import { openMasterKey } from '../../access/auth/bootstrap.ts'
import type { DataFolder } from '../../config/data-folder.ts'
import type { KeyRole } from '../../ledgers/keys/ledger-key.ts'
import type { Signer } from '../../ledgers/signer.ts'
import { openStateForReading } from '../../storage/state/database.ts'
import { signerIn } from '../anchoring/account-signer.ts'
import { assertInUse } from './offline-access.ts'

/** Accounts of ours on real networks, for a command; the service may run beside it. */
export interface OwnAccounts extends AsyncDisposable {
  /** @throws LedgerUnreachable where there is no key */
  signerOf(network: string, role: KeyRole): Promise<Signer>
}

/**
 * Opens the keystore of a data folder to read from it.
 *
 * @throws Error when the folder has never been used, or its master key is not at hand
 */
export function openOwnAccounts(
  folder: Pick<DataFolder, 'path' | 'state' | 'masterKey'>,
  configured: string | undefined,
): OwnAccounts {
  assertInUse(folder, configured)
  const cipher = openMasterKey(folder.path, configured)
  const state = openStateForReading(folder.state)
  return {
    signerOf: (network, role) => signerIn({ state, cipher }, network, role),
    [Symbol.asyncDispose]: () => state.destroy(),
  }
}
