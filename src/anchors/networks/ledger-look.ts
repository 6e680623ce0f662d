import { messageOf } from '../../core/errors.ts'
import { familyOf, type LedgerSettings } from '../../core/ledger-settings.ts'
import { LedgerUnreachable } from '../../ledgers/ledger.ts'
import { gasOfAnchor } from '../../ledgers/nodes/evm-node.ts'
import type { LedgerAccountFigures } from '../../ledgers/nodes/node-figures.ts'
import { rightNode, WrongNetwork } from '../../ledgers/nodes/right-node.ts'
import type { Patience } from '../../ledgers/nodes/wording.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** What was seen of a real ledger, as it is set. */
export interface LedgerLook {
  readonly settings: LedgerSettings
  /** The account that signs; undefined where no key was made. */
  readonly account: string | undefined
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
    account: undefined,
    answers: false,
    isOther: false,
    problem: 'no node has answered yet',
    figures: undefined,
  }
}

/** Asks the nodes of a ledger. */
export async function lookAtLedger(
  settings: LedgerSettings,
  account: string | undefined,
  patience: Patience,
): Promise<LedgerLook> {
  const unanswered = { ...notAskedYet(settings), account }
  try {
    const { node } = await rightNode(settings, patience)
    const figures = await node.figures(account)
    const problem = problemOf(settings, account, figures)
    return { settings, account, answers: true, isOther: false, problem, figures }
  } catch (error) {
    if (!(error instanceof LedgerUnreachable)) throw error
    const isOther = error instanceof WrongNetwork
    return { ...unanswered, answers: isOther, isOther, problem: messageOf(error) }
  }
}

/** The account of a network that signs, as the keystore has it. */
export async function signingAccount(
  state: StateDatabase,
  network: string,
): Promise<string | undefined> {
  const row = await state
    .selectFrom('ledger_keys')
    .select('account')
    .where('network', '=', network)
    .where('role', '=', 'issuer')
    .executeTakeFirst()
  return row?.account
}

/** How many anchors the account can pay for at the price of now; undefined where nobody knows. */
export function anchorsLeft({ figures }: Pick<LedgerLook, 'figures'>): number | undefined {
  if (figures?.balance === undefined) return undefined
  const { balance, feeOfAnchor } = figures
  const left = feeOfAnchor > 0n ? balance / feeOfAnchor : BigInt(Number.MAX_SAFE_INTEGER)
  return Number(left < BigInt(Number.MAX_SAFE_INTEGER) ? left : BigInt(Number.MAX_SAFE_INTEGER))
}

/** What amounts of a ledger are counted in. */
export function unitOf({ ledger }: LedgerSettings): 'drops' | 'wei' {
  return familyOf(ledger) === 'xrpl' ? 'drops' : 'wei'
}

function problemOf(
  settings: LedgerSettings,
  account: string | undefined,
  figures: LedgerAccountFigures,
): string | undefined {
  const { ledger, contract } = settings
  if (account === undefined) return `there is no key: streamvault ledger keys create ${ledger}`
  const isEvm = familyOf(ledger) === 'evm'
  const setting = `STREAMVAULT_LEDGER_${ledger}_CONTRACT`
  if (isEvm && contract === undefined) return `there is no contract: set ${setting}`
  if (figures.hasContract === false) return `there is no contract at the address of ${setting}`
  if (figures.feeOfAnchor > feeAllowed(settings)) {
    return `an anchor costs more than STREAMVAULT_LEDGER_${ledger}_FEE_MAX allows`
  }
  if (figures.balance !== undefined && figures.balance < figures.feeOfAnchor) {
    return `the account ${account} has not enough for an anchor`
  }
  return undefined
}

const unlimited = 2n ** 256n

function feeAllowed({ ledger, feeMax }: LedgerSettings): bigint {
  if (feeMax === undefined) return unlimited
  return BigInt(feeMax) * (familyOf(ledger) === 'evm' ? gasOfAnchor : 1n)
}
