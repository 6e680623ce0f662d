import { type NetworkFigures, networkFigures } from '../../anchors/figures/network-figures.ts'
import { ledgerAccount } from '../../anchors/keys/ledger-key-store.ts'
import { ledgerRoutes } from '../../anchors/networks/ledger-routes.ts'
import { LedgerWatch } from '../../anchors/networks/ledger-watch.ts'
import { LowFunds } from '../../anchors/networks/low-funds.ts'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../core/clock.ts'
import { keyRoles } from '../../ledgers/keys/ledger-key.ts'
import type { Cipher } from '../../ledgers/sandbox/keys.ts'
import type { MeasuredLedgers } from '../../operating/observability/ledger-facts.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Engine } from './engine.ts'

export interface LedgersNeeds extends Pick<Config, 'ledgers'> {
  readonly cipher: Pick<Cipher, 'decrypt'>
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/** What is known of real ledgers without their libraries. */
export interface Ledgers {
  /** @param laneProblems what is wrong with the lanes, by the names that a health check has for them */
  readonly routes: (
    laneProblems: () => Promise<Readonly<Record<string, string>>>,
  ) => readonly GuardedRoutes[]
  readonly measured: MeasuredLedgers
  /** What is wrong with networks now, by the names that a health check has for them. */
  readonly problems: () => Readonly<Record<string, string>>
  /** Resolves half a second later at the latest. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Composition of what looks at the nodes of real ledgers.
 *
 * @throws Error when the key of a network that is set does not fit the master key
 */
export async function openLedgers(engine: Engine, needs: LedgersNeeds): Promise<Ledgers> {
  const { state, worker } = engine
  await assertReadable(state, needs)
  const lowFunds = new LowFunds({ state, writer: worker, clock: systemClock })
  const { ledgers, onFailure } = needs
  const onLooks = (looks: LedgerWatch['looks']) => lowFunds.judge(looks)
  const watch = new LedgerWatch({ state, ledgers, onLooks, onFailure })
  return {
    routes: (laneProblems) => [(callerOf) => ledgerRoutes({ watch, laneProblems, callerOf })],
    measured: measuredBy(watch, state),
    problems: () => watch.problems,
    start: () => watch.start(),
    stop: () => watch.stop(),
  }
}

/** Keys of networks that no ledger is set to are in nobody's way. */
async function assertReadable(
  state: StateDatabase,
  { ledgers, cipher }: LedgersNeeds,
): Promise<void> {
  for (const { network } of ledgers) {
    for (const role of keyRoles) await ledgerAccount(state, cipher, { network, role })
  }
}

function measuredBy(watch: LedgerWatch, state: StateDatabase): MeasuredLedgers {
  const underWay = new Map<string, NetworkFigures>()
  return {
    get looks() {
      return watch.looks
    },
    spent: watch.spent,
    underWay,
    async count() {
      for (const { settings } of watch.looks) {
        const { network } = settings
        underWay.set(network, await networkFigures(state, network, systemClock))
      }
    },
  }
}
