import type { LostAccount } from '../../anchors/figures/network-figures.ts'
import type { AccountLook } from '../../anchors/networks/ledger-look.ts'
import { systemClock } from '../../core/clock.ts'
import { formatUs } from '../../core/time.ts'
import { type Check, fail, ok, type Surroundings, warn } from './check.ts'
import { type LedgerStatus, ledgerStatuses } from './real-ledgers.ts'

/** Blocks are further apart than clocks may be, and nowhere further than this. */
const apartUsMax = 300_000_000

/** Real ledgers that are set: the network of their nodes, the contract, the clock, and the money. */
export async function checkNetworkLedgers({ config }: Surroundings): Promise<readonly Check[]> {
  return (await ledgerStatuses(config)).flatMap(checksOf)
}

function checksOf(status: LedgerStatus): readonly Check[] {
  const { look, unit, accounts } = status
  const { settings, problem, figures } = look
  const name = `ledger ${settings.ledger}`
  const lost = status.lostAccounts.map((one) => checkLost(name, one))
  if (problem !== undefined || figures === undefined) {
    return [fail(name, problem ?? 'no node answers', adviceOf(status)), ...lost]
  }
  const money = accounts.map(({ role, account, balance = 0n }) => {
    const whose = role === 'issuer' ? account : `its ${role} ${account}`
    return `${whose} has ${balance} ${unit}`
  })
  const cost = `an anchor costs ${figures.feeOfAnchor}`
  const found = ok(name, `${settings.network} answers; ${money.join(', ')}, and ${cost}`)
  const needed = accounts.filter(({ role }) => role === 'issuer' || status.hasAssets)
  const funds = needed.flatMap((account) => checkFunds(name, account))
  const time = checkBlockTime(name, figures.blockTimeUs)
  return [found, ...time, ...funds, ...checkAssets(status), ...lost]
}

function checkLost(name: string, { account, transactions }: LostAccount): Check {
  const message = `${transactions} transactions of ${account}, which has no key here any more, are under way: the service does not follow them`
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

function checkFunds(
  name: string,
  { role, account, anchorsLeft, isLow }: AccountLook,
): readonly Check[] {
  if (!isLow) return []
  const advice = `fund the account ${account}`
  if (role === 'issuer') {
    return [warn(`${name}, funds`, `there is money for ${anchorsLeft} more anchors`, advice)]
  }
  const message = `there is money for ${anchorsLeft} more assets`
  return [warn(`${name}, funds of the ${role}`, message, `${advice} before assets are issued`)]
}

function checkAssets({ look: { settings, figures } }: LedgerStatus): readonly Check[] {
  const { ledger } = settings
  if (figures?.knowsAssets !== false) return []
  const message = 'the contract is from before there were assets: none can be issued'
  return [
    warn(
      `ledger ${ledger}, assets`,
      message,
      `streamvault ledger deploy ${ledger}, once nothing is under way`,
    ),
  ]
}

function adviceOf({ look: { settings, answers, isOther, accounts } }: LedgerStatus): string {
  const setting = `STREAMVAULT_LEDGER_${settings.ledger}`
  if (isOther) return `set ${setting} to a node of ${settings.network}, or ${setting}_NETWORK`
  if (!answers) return `look at ${setting}, at the network, and at the node`
  if (accounts.issuer === undefined) return 'make a key, and fund its account: see docs/ledgers.md'
  return 'see docs/ledgers.md'
}
