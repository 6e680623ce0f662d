import { ledgerAccount } from '../../anchors/keys/ledger-key-store.ts'
import { messageOf } from '../../core/errors.ts'
import type { KeyRole } from '../../ledgers/keys/ledger-key.ts'
import { LedgerUnreachable } from '../../ledgers/ledger.ts'
import type { Cipher } from '../../ledgers/sandbox/keys.ts'
import type { Signer } from '../../ledgers/signer.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

export interface SignerNeeds {
  readonly state: StateDatabase
  readonly cipher: Pick<Cipher, 'decrypt'>
}

/**
 * What signs for an account of ours on a network.
 *
 * @throws LedgerUnreachable that says what to do
 */
export async function signerIn(
  { state, cipher }: SignerNeeds,
  network: string,
  role: KeyRole,
): Promise<Signer> {
  let account: Awaited<ReturnType<typeof ledgerAccount>>
  try {
    account = await ledgerAccount(state, cipher, { network, role })
  } catch (error) {
    throw new LedgerUnreachable(messageOf(error), { cause: error })
  }
  if (account) return account.signer
  throw new LedgerUnreachable(
    `${network} has no key for its ${role}: make one with ledger keys create`,
  )
}
