import { readConfig } from '../config/config.ts'
import type { LedgerStatus } from '../operating/doctor/real-ledgers.ts'
import type { Command } from './command.ts'
import { dataDirOption } from './ledger-folder.ts'
import { table } from './table.ts'

/** Asks the nodes itself, so it needs no running service. */
export const ledgerStatus: Command = {
  name: 'ledger status',
  summary:
    'Say how the real ledgers are doing that are set: account, balance, and what is under way.',
  description:
    'It asks the nodes, and reads the state, also beside a running service. The exit code is 1 when nothing can be anchored on one.',
  operands: [],
  options: [dataDirOption],
  async run({ options }) {
    const config = readConfig(process.env)
    const dataDir = options['data-dir'] ?? config.dataDir
    const { ledgerStatuses } = await import('../operating/doctor/real-ledgers.ts')
    const statuses = await ledgerStatuses({ ...config, dataDir })
    const json = statuses.map(recordOf)
    const rows = json.map(({ ledger, network, account, balance, unit, fee, ...rest }) => [
      ledger,
      network,
      account ?? 'none',
      balance === null ? 'unknown' : `${balance} ${unit}`,
      fee === null ? 'unknown' : `${fee} ${unit}`,
      String(rest.in_flight),
      `${Math.round(rest.oldest_seconds)} s`,
      rest.problem ?? 'none',
    ])
    const headings = [
      'LEDGER',
      'NETWORK',
      'ACCOUNT',
      'BALANCE',
      'FEE NOW',
      'IN FLIGHT',
      'OLDEST',
      'PROBLEM',
    ]
    const none = 'no real ledger is set: everything is anchored on the sandbox'
    const lost = json.flatMap(({ lost_accounts: accounts }) => accounts)
    return {
      json,
      ...(lost.length > 0 && { notice: noticeOf(lost) }),
      text: rows.length === 0 ? none : table(headings, rows),
      isFailure: json.some(({ problem }) => problem !== null),
    }
  },
}

function noticeOf(lost: LedgerStatus['lostAccounts']): string {
  const accounts = lost.map(({ account, transactions }) => `${account} (${transactions})`)
  return `Nobody follows what is under way of accounts without a key: ${accounts.join(', ')}. docs/ledgers.md says what to do.`
}

function recordOf({ look, anchorsLeft, unit, inFlight, oldestS, lostAccounts }: LedgerStatus) {
  const { settings, account, answers, problem, figures } = look
  return {
    ledger: settings.ledger,
    network: settings.network,
    account: account ?? null,
    balance: figures?.balance === undefined ? null : String(figures.balance),
    unit,
    fee: figures === undefined ? null : String(figures.feeOfAnchor),
    anchors_left: anchorsLeft ?? null,
    in_flight: inFlight,
    oldest_seconds: oldestS,
    lost_accounts: lostAccounts,
    answers,
    problem: problem ?? null,
  }
}
