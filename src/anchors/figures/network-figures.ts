import type { SteadyClock } from '../../core/clock.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { restingStates } from '../intents/anchor.ts'
import { firstBegun } from './anchor-figures.ts'

/** What is under way on one network. */
export interface NetworkFigures {
  /** Transactions that were signed, and are in no block for good yet. */
  readonly inFlight: number
  /** Seconds since the oldest anchor under way was begun, or begun again; 0 when there is none. */
  readonly oldestS: number
  /** Accounts that have signed what is under way, and that nobody can sign for any more. */
  readonly lostAccounts: readonly LostAccount[]
}

/** An account without a key: what it has signed is neither looked for nor signed again. */
export interface LostAccount {
  readonly account: string
  /** That are under way. */
  readonly transactions: number
}

export async function networkFigures(
  state: StateDatabase,
  network: string,
  clock: SteadyClock,
): Promise<NetworkFigures> {
  const { inFlight } = await state
    .selectFrom('anchor_transactions')
    .select((select) => select.fn.countAll<number>().as('inFlight'))
    .where('network', '=', network)
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow()
  const counts = await state
    .selectFrom('anchor_counts')
    .select('state')
    .where('network', '=', network)
    .where('anchors', '>', 0)
    .execute()
  const under = counts.filter((row) => !restingStates.some((resting) => resting === row.state))
  const begun = await Promise.all(under.map((row) => firstBegun(state, network, row.state)))
  const firstUs = Math.min(...begun)
  const ageUs = Number.isFinite(firstUs) ? Math.max(0, clock.steadyUs() - firstUs) : 0
  const lostAccounts = await accountsWithoutKey(state, network)
  return { inFlight, oldestS: ageUs / 1_000_000, lostAccounts }
}

async function accountsWithoutKey(
  state: StateDatabase,
  network: string,
): Promise<readonly LostAccount[]> {
  const known = state.selectFrom('ledger_keys').select('account').where('network', '=', network)
  return await state
    .selectFrom('anchor_transactions')
    .select((select) => ['account', select.fn.countAll<number>().as('transactions')])
    .where('network', '=', network)
    .where('state', '=', 'open')
    .where('account', 'not in', known)
    .groupBy('account')
    .execute()
}
