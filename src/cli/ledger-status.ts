import { readConfig } from '../config/config.ts'
import type { LedgerStatus } from '../operating/doctor/real-ledgers.ts'
import type { Command } from './command.ts'
import { dataDirOption } from './ledger-folder.ts'
import { table } from './table.ts'

/** Asks the nodes itself, so it needs no running service. */
export const ledgerStatus: Command = {
  name: 'ledger status',
  summary: 'Show the real ledgers of the settings: account, balance, and transactions under way.',
  description:
    'It asks the nodes and reads the state, also beside a running service. The exit code is 1 when a ledger cannot anchor anything.',
  operands: [],
  options: [dataDirOption],
  async run({ options }) {
    const config = readConfig(process.env)
    const dataDir = options['data-dir'] ?? config.dataDir
    const { ledgerStatuses } = await import('../operating/doctor/real-ledgers.ts')
    const statuses = await ledgerStatuses({ ...config, dataDir })
    const json = statuses.map(recordOf)
    const rows = json.flatMap(rowsOf)
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

const headings = [
  'LEDGER',
  'NETWORK',
  'ACCOUNT',
  'ADDRESS',
  'BALANCE',
  'FEE NOW',
  'IN FLIGHT',
  'OLDEST',
  'PROBLEM',
]

/** One for each account: what is true of the network stands in the first. */
function rowsOf(record: ReturnType<typeof recordOf>): readonly (readonly string[])[] {
  const { ledger, network, accounts, unit, fee, in_flight: inFlight, problem } = record
  const ofNetwork = [
    fee === null ? 'unknown' : `${fee} ${unit}`,
    String(inFlight),
    `${Math.round(record.oldest_seconds)} s`,
    problem ?? (record.assets === false ? 'the contract issues no assets' : 'none'),
  ]
  const ofAccounts = accounts.map(({ role, account, balance }) => [
    role,
    account,
    balance === null ? 'unknown' : `${balance} ${unit}`,
  ])
  const [first = ['none', '', ''], ...others] = ofAccounts
  return [
    [ledger, network, ...first, ...ofNetwork],
    ...others.map((other) => ['', '', ...other, ...ofNetwork.map(() => '')]),
  ]
}

function noticeOf(lost: LedgerStatus['lostAccounts']): string {
  const accounts = lost.map(({ account, transactions }) => `${account} (${transactions})`)
  return `Transactions of accounts without a key are not followed: ${accounts.join(', ')}. docs/ledgers.md says what to do.`
}

function recordOf({ look, accounts, unit, inFlight, oldestS, lostAccounts }: LedgerStatus) {
  const { settings, answers, problem, figures } = look
  return {
    ledger: settings.ledger,
    network: settings.network,
    accounts: accounts.map(({ role, account, balance, anchorsLeft }) => ({
      role,
      account,
      balance: balance === undefined ? null : String(balance),
      anchors_left: anchorsLeft ?? null,
    })),
    unit,
    fee: figures === undefined ? null : String(figures.feeOfAnchor),
    in_flight: inFlight,
    oldest_seconds: oldestS,
    lost_accounts: lostAccounts,
    answers,
    assets: figures?.knowsAssets ?? null,
    problem: problem ?? null,
  }
}
