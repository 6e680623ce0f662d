import { sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { newId, type UserId, type VaultId, type VerificationId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { stillAllowed } from '../rights/shared-rows.ts'
import type { SeenVault } from '../vaults/vault.ts'
import type { Verification } from './verification.ts'

/** Vaults that wait to be verified: each may have gigabytes that are to be hashed. */
const waitingMax = 10_000

export interface VerificationStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/** Verifications that are asked for; each stays until it has its end, whatever happens to the service. */
export class VerificationStore {
  readonly #needs: VerificationStoreNeeds
  #tell: (() => void) | undefined

  constructor(needs: VerificationStoreNeeds) {
    this.#needs = needs
  }

  /** Calls back when one was asked for. */
  onAsked(listener: () => void): void {
    this.#tell = listener
  }

  /**
   * Has a vault verified; one that is under way already is meant, too. Undefined when too many wait, or the user may
   * have it verified no more.
   */
  async ask(
    userId: UserId,
    { id: vaultId, right }: Pick<SeenVault, 'id' | 'right'>,
  ): Promise<Verification | undefined> {
    const underWay = await this.#find(vaultId)
    if (underWay) return underWay
    const { state, writer, clock } = this.#needs
    const id = newId<VerificationId>()
    const asked: Verification = { id, vaultId, requestedAtUs: clock.nowUs() }
    const insertion = state
      .insertInto('verifications')
      .columns(['id', 'vault_id', 'requested_at'])
      .expression(
        sql`SELECT ${id}, ${vaultId}, ${asked.requestedAtUs}
          WHERE (SELECT count(*) FROM verifications) < ${waitingMax}`,
      )
      .onConflict((conflict) => conflict.column('vault_id').doNothing())
    const looking = { userId, right, nowUs: asked.requestedAtUs }
    if (await writer.attempt(insertion, ...stillAllowed(state, looking, vaultId))) {
      this.#tell?.()
      return asked
    }
    return await this.#find(vaultId)
  }

  /** Whether any is under way. */
  async isThere(): Promise<boolean> {
    const verifications = this.#needs.state.selectFrom('verifications')
    return (await verifications.select('id').limit(1).executeTakeFirst()) !== undefined
  }

  async #find(vaultId: VaultId): Promise<Verification | undefined> {
    const row = await this.#needs.state
      .selectFrom('verifications')
      .selectAll()
      .where('vault_id', '=', vaultId)
      .executeTakeFirst()
    if (!row) return undefined
    return { id: row.id as VerificationId, vaultId, requestedAtUs: row.requested_at }
  }
}
