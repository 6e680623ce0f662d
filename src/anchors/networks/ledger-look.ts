import { messageOf } from '../../core/errors.ts'
import { familyOf, type LedgerSettings } from '../../core/ledger-settings.ts'
import { type KeyRole, keyRoles, rolesOf } from '../../ledgers/keys/ledger-key.ts'
import { LedgerUnreachable } from '../../ledgers/ledger.ts'
import { gasOfAnchor } from '../../ledgers/nodes/evm-node.ts'
import type { LedgerAccountFigures, OwnAccounts } from '../../ledgers/nodes/node-figures.ts'
import { rightNode, WrongNetwork } from '../../ledgers/nodes/right-node.ts'
import type { Patience } from '../../ledgers/nodes/wording.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** What was seen of a real ledger, as it is set. */
export interface LedgerLook {
  readonly settings: LedgerSettings
  readonly accounts: OwnAccounts
  /** Whether a node has answered, of whatever network. */
  readonly answers: boolean
  /** Whether it is of another network than the settings say. */
  readonly isOther: boolean
  /** Why nothing can be anchored, in words; undefined where it can. */
  readonly problem: string | undefined
  readonly figures: LedgerAccountFigures | undefined
}

/** What there is to know before anybody was asked. */
export function notAskedYet(settings: LedgerSettings): LedgerLook {
  return {
    settings,
    accounts: {},
    answers: false,
    isOther: false,
    problem: 'no node has answered yet',
    figures: undefined,
  }
}

/** Asks the nodes of a ledger. */
export async function lookAtLedger(
  settings: LedgerSettings,
  accounts: OwnAccounts,
  patience: Patience,
): Promise<LedgerLook> {
  const unanswered = { ...notAskedYet(settings), accounts }
  try {
    const { node } = await rightNode(settings, patience)
    const figures = await node.figures(accounts)
    const problem = problemOf(settings, accounts, figures)
    return { settings, accounts, answers: true, isOther: false, problem, figures }
  } catch (error) {
    if (!(error instanceof LedgerUnreachable)) throw error
    const isOther = error instanceof WrongNetwork
    return { ...unanswered, answers: isOther, isOther, problem: messageOf(error) }
  }
}

/** Our accounts on a network, as the keystore has them. */
export async function ownAccounts(state: StateDatabase, network: string): Promise<OwnAccounts> {
  const rows = await state
    .selectFrom('ledger_keys')
    .select(['role', 'account'])
    .where('network', '=', network)
    .execute()
  return Object.fromEntries(rows.map(({ role, account }) => [role, account]))
}

/** Whether an asset was ever to be issued on a network: before that a distributor needs no money. */
export async function hasAssets(state: StateDatabase, network: string): Promise<boolean> {
  const assets = state.selectFrom('assets').select('id').where('network', '=', network)
  return (await assets.limit(1).executeTakeFirst()) !== undefined
}

/** One of our accounts on a network, with what it has. */
export interface AccountLook {
  readonly role: KeyRole
  readonly account: string
  /** Undefined where nobody knows. */
  readonly balance: bigint | undefined
  /** How many more anchors it can pay for at the price of now, each with the reserve that an asset takes where that is all it is for. */
  readonly anchorsLeft: number | undefined
  /** Whether that is so few that it should be filled up. */
  readonly isLow: boolean
}

/** With fewer anchors left an account should be filled up. A distributor of XRPL stops at ten assets. */
const anchorsMin: Readonly<Record<KeyRole, number>> = { issuer: 100, distributor: 20 }

/** Our accounts that have a key, the issuer first. */
export function accountsOf({
  accounts,
  figures,
}: Pick<LedgerLook, 'accounts' | 'figures'>): readonly AccountLook[] {
  return keyRoles.flatMap((role) => {
    const account = accounts[role]
    if (account === undefined) return []
    const balance = figures?.balances[role]
    const left = anchorsLeft(role, figures)
    const isLow = left !== undefined && left < anchorsMin[role]
    return [{ role, account, balance, anchorsLeft: left, isLow }]
  })
}

/** Whether there is so much again that nobody is to be told soon: prices go up and down. */
export function isEnough({ role, anchorsLeft: left = 0 }: AccountLook): boolean {
  return left >= 2 * anchorsMin[role]
}

const many = BigInt(Number.MAX_SAFE_INTEGER)

function anchorsLeft(role: KeyRole, figures: LedgerLook['figures']): number | undefined {
  const balance = figures?.balances[role]
  if (!figures || balance === undefined) return undefined
  const { feeOfAnchor, reserveEach } = figures
  const cost = role === 'distributor' ? feeOfAnchor + reserveEach : feeOfAnchor
  const left = cost > 0n ? balance / cost : many
  return Number(left < many ? left : many)
}

/** What amounts of a ledger are counted in. */
export function unitOf({ ledger }: LedgerSettings): 'drops' | 'wei' {
  return familyOf(ledger) === 'xrpl' ? 'drops' : 'wei'
}

function problemOf(
  settings: LedgerSettings,
  accounts: OwnAccounts,
  figures: LedgerAccountFigures,
): string | undefined {
  const { ledger, contract } = settings
  const { issuer, distributor } = accounts
  if (issuer === undefined) return `there is no key: streamvault ledger keys create ${ledger}`
  if (distributor === undefined && rolesOf(familyOf(ledger)).includes('distributor')) {
    return `there is no key of the distributor: streamvault ledger keys create ${ledger}`
  }
  const isEvm = familyOf(ledger) === 'evm'
  const setting = `STREAMVAULT_LEDGER_${ledger}_CONTRACT`
  if (isEvm && contract === undefined) return `there is no contract: set ${setting}`
  if (figures.hasContract === false) return `there is no contract at the address of ${setting}`
  if (figures.feeOfAnchor > feeAllowed(settings)) {
    return `an anchor costs more than STREAMVAULT_LEDGER_${ledger}_FEE_MAX allows`
  }
  const { issuer: balance } = figures.balances
  if (balance !== undefined && balance < figures.feeOfAnchor) {
    return `the account ${issuer} has not enough for an anchor`
  }
  return undefined
}

const unlimited = 2n ** 256n

function feeAllowed({ ledger, feeMax }: LedgerSettings): bigint {
  if (feeMax === undefined) return unlimited
  return BigInt(feeMax) * (familyOf(ledger) === 'evm' ? gasOfAnchor : 1n)
}
