import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import type { KeyRole } from '../../ledgers/keys/ledger-key.ts'
import { Events } from '../../outbox/events/events.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import {
  type AccountLook,
  accountsOf,
  hasAssets,
  isEnough,
  type LedgerLook,
  unitOf,
} from './ledger-look.ts'

export interface LowFundsNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/** Tells those who run the service, once, that an account is nearly empty, and again after it was filled up. */
export class LowFunds {
  readonly #needs: LowFundsNeeds
  readonly #events: Events

  constructor(needs: LowFundsNeeds) {
    this.#needs = needs
    this.#events = new Events(needs.state, needs.clock)
  }

  async judge(looks: readonly LedgerLook[]): Promise<void> {
    for (const look of looks) {
      for (const one of accountsOf(look)) {
        if (one.isLow) await this.#tell(look, one)
        else if (isEnough(one)) await this.#forget(look, one)
      }
    }
  }

  async #tell({ settings }: LedgerLook, one: AccountLook): Promise<void> {
    const { state, writer, clock } = this.#needs
    const { ledger, network } = settings
    const { role, account, balance, anchorsLeft } = one
    if (await this.#isTold(network, role)) return
    if (role === 'distributor' && !(await hasAssets(state, network))) return
    const data = {
      id: network,
      name: `${ledger} ${account}`,
      ledger,
      network,
      account,
      anchors_left: anchorsLeft,
      balance: String(balance),
      unit: unitOf(settings),
    }
    const about = { resourceType: 'ledger', resourceId: network, data }
    const owners = await this.#operators()
    await writer.commit(
      state.insertInto('ledger_warnings').values({ network, role, told_at: clock.nowUs() }),
      ...owners.flatMap((ownerId) =>
        this.#events.record({ type: 'security.ledger_funds_low', ownerId, ...about }),
      ),
    )
  }

  async #forget({ settings: { network } }: LedgerLook, { role }: AccountLook): Promise<void> {
    const { state, writer } = this.#needs
    if (!(await this.#isTold(network, role))) return
    const warnings = state.deleteFrom('ledger_warnings').where('network', '=', network)
    await writer.commit(warnings.where('role', '=', role))
  }

  async #isTold(network: string, role: KeyRole): Promise<boolean> {
    const row = await this.#needs.state
      .selectFrom('ledger_warnings')
      .select('network')
      .where('network', '=', network)
      .where('role', '=', role)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Users with a key that may do everything. */
  async #operators(): Promise<readonly UserId[]> {
    const { state, clock } = this.#needs
    const rows = await state
      .selectFrom('api_keys')
      .select(['user_id', 'scopes'])
      .where('revoked_at', 'is', null)
      .where((where) =>
        where.or([where('expires_at', 'is', null), where('expires_at', '>', clock.nowUs())]),
      )
      .execute()
    const some = rows.filter(({ scopes }) => scopes.split(' ').includes('platform:admin'))
    return [...new Set(some.map((row) => row.user_id as UserId))]
  }
}
