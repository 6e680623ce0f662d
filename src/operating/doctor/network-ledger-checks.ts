import type { LostAccount } from '../../anchors/figures/network-figures.ts'
import { systemClock } from '../../core/clock.ts'
import { formatUs } from '../../core/time.ts'
import { type Check, fail, ok, type Surroundings, warn } from './check.ts'
import { type LedgerStatus, ledgerStatuses } from './real-ledgers.ts'

/** Blocks are further apart than clocks may be, and nowhere further than this. */
const apartUsMax = 300_000_000

/** With fewer anchors left the account should be filled up. */
const anchorsMin = 100

/** Real ledgers that are set: the network of their nodes, the contract, the clock, and the money. */
export async function checkNetworkLedgers({ config }: Surroundings): Promise<readonly Check[]> {
  return (await ledgerStatuses(config)).flatMap(checksOf)
}

function checksOf(status: LedgerStatus): readonly Check[] {
  const { look, unit, anchorsLeft } = status
  const { settings, problem, figures, account } = look
  const name = `ledger ${settings.ledger}`
  const lost = status.lostAccounts.map((one) => checkLost(name, one))
  if (problem !== undefined || figures === undefined) {
    return [fail(name, problem ?? 'nobody answers', adviceOf(status)), ...lost]
  }
  const { balance = 0n, feeOfAnchor } = figures
  const money = `${account} has ${balance} ${unit}, and an anchor costs ${feeOfAnchor}`
  const found = ok(name, `${settings.network} answers; ${money}`)
  const time = checkBlockTime(name, figures.blockTimeUs)
  return [found, ...time, ...checkFunds(name, anchorsLeft), ...lost]
}

function checkLost(name: string, { account, transactions }: LostAccount): Check {
  const message = `${transactions} transactions of ${account}, which has no key here any more, are under way: nobody follows them`
  const advice = 'put back the data folder, or a backup, that has its key: see docs/ledgers.md'
  return warn(`${name}, accounts`, message, advice)
}

function checkBlockTime(name: string, blockTimeUs: number): readonly Check[] {
  const nowUs = systemClock.nowUs()
  if (Math.abs(nowUs - blockTimeUs) <= apartUsMax) return []
  const message = `its newest block is of ${formatUs(blockTimeUs)}, and it is ${formatUs(nowUs)} here`
  const advice = 'look at the clock of this machine, and whether the node is behind'
  return [warn(`${name}, clock`, message, advice)]
}

function checkFunds(name: string, left: number | undefined): readonly Check[] {
  if (left === undefined || left >= anchorsMin) return []
  const advice = 'fund the account: streamvault ledger keys address names it'
  return [warn(`${name}, funds`, `there is money for ${left} more anchors`, advice)]
}

function adviceOf({ look: { settings, answers, isOther, account } }: LedgerStatus): string {
  const setting = `STREAMVAULT_LEDGER_${settings.ledger}`
  if (isOther) return `set ${setting} to a node of ${settings.network}, or ${setting}_NETWORK`
  if (!answers) return `look at ${setting}, at the network, and at the node`
  if (account === undefined) return 'make a key, and fund its account: see docs/ledgers.md'
  return 'see docs/ledgers.md'
}
