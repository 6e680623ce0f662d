import { existsSync } from 'node:fs'
import { type NetworkFigures, networkFigures } from '../../anchors/figures/network-figures.ts'
import {
  type AccountLook,
  accountsOf,
  hasAssets,
  type LedgerLook,
  lookAtLedger,
  ownAccounts,
  unitOf,
} from '../../anchors/networks/ledger-look.ts'
import type { Config } from '../../config/config.ts'
import { filesIn } from '../../config/data-folder.ts'
import { systemClock } from '../../core/clock.ts'
import type { LedgerSettings } from '../../core/ledger-settings.ts'
import { openStateForReading, type StateDatabase } from '../../storage/state/database.ts'

/** How long a node may take for one question. */
const patience = { timeoutMs: 5_000 }

/** What is seen of a real ledger beside a service, or without one. */
export interface LedgerStatus extends NetworkFigures {
  readonly look: LedgerLook
  /** Our accounts that have a key, the issuer first. */
  readonly accounts: readonly AccountLook[]
  /** Whether assets were ever to be issued there. */
  readonly hasAssets: boolean
  readonly unit: 'drops' | 'wei'
}

/** Asks the nodes of all ledgers that are set, and looks into the state of a data folder. */
export async function ledgerStatuses({
  ledgers,
  dataDir,
}: Pick<Config, 'ledgers' | 'dataDir'>): Promise<readonly LedgerStatus[]> {
  if (ledgers.length === 0) return []
  const { state: path } = filesIn(dataDir)
  const state = existsSync(path) ? openStateForReading(path) : undefined
  try {
    return await Promise.all(ledgers.map((settings) => statusOf(settings, state)))
  } finally {
    await state?.destroy()
  }
}

async function statusOf(
  settings: LedgerSettings,
  state: StateDatabase | undefined,
): Promise<LedgerStatus> {
  const { network } = settings
  const own = state && (await orNothing(ownAccounts(state, network)))
  const isIssuing = state && (await orNothing(hasAssets(state, network)))
  const counted = state && (await orNothing(networkFigures(state, network, systemClock)))
  const look = await lookAtLedger(settings, own ?? {}, patience)
  const figures = counted ?? { inFlight: 0, oldestS: 0, lostAccounts: [] }
  const accounts = accountsOf(look)
  const issuing = { hasAssets: isIssuing ?? false }
  return { look, accounts, ...issuing, unit: unitOf(settings), ...figures }
}

/** A state that an older version has made has no such tables yet. */
async function orNothing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch {
    return undefined
  }
}
