import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { Events } from '../../outbox/events/events.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { anchorsLeft, type LedgerLook, unitOf } from './ledger-look.ts'

/** With fewer anchors left somebody is told. */
const anchorsMin = 100

/** This many are enough again: prices go up and down, and nobody is to be told of that each time. */
const anchorsEnough = 2 * anchorsMin

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
      const left = anchorsLeft(look)
      if (left === undefined) continue
      if (left < anchorsMin) await this.#tell(look, left)
      else if (left >= anchorsEnough) await this.#forget(look)
    }
  }

  async #tell(look: LedgerLook, left: number): Promise<void> {
    const { state, writer, clock } = this.#needs
    const { settings, account = '', figures } = look
    const { ledger, network } = settings
    if (await this.#isTold(network)) return
    const data = {
      id: network,
      name: `${ledger} ${account}`,
      ledger,
      network,
      account,
      anchors_left: left,
      balance: String(figures?.balance ?? 0n),
      unit: unitOf(settings),
    }
    const about = { resourceType: 'ledger', resourceId: network, data }
    const owners = await this.#operators()
    await writer.commit(
      state.insertInto('ledger_warnings').values({ network, told_at: clock.nowUs() }),
      ...owners.flatMap((ownerId) =>
        this.#events.record({ type: 'security.ledger_funds_low', ownerId, ...about }),
      ),
    )
  }

  async #forget({ settings: { network } }: LedgerLook): Promise<void> {
    const { state, writer } = this.#needs
    if (!(await this.#isTold(network))) return
    await writer.commit(state.deleteFrom('ledger_warnings').where('network', '=', network))
  }

  async #isTold(network: string): Promise<boolean> {
    const row = await this.#needs.state
      .selectFrom('ledger_warnings')
      .select('network')
      .where('network', '=', network)
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
