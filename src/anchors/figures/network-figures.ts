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
  return { inFlight, oldestS: ageUs / 1_000_000 }
}
