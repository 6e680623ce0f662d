import { LedgerUnreachable } from '../ledger.ts'
import type { NodeAnswer, NodeCall } from '../nodes/xrpl-commands.ts'
import { countOf, dropsOf, type Members, membersOf } from './answers.ts'
import { foundIn, type NodeState } from './xrpl-nodes.ts'

/** An account as a ledger has it. */
export interface AccountState {
  /** Sequence of its next transaction. */
  readonly sequence: number
  /** Drops. */
  readonly balance: bigint
  /** Things that it owns, and has to keep a reserve for. */
  readonly owned: bigint
  /** The ledger that this was read in. */
  readonly ledger: number
}

/** Asks for an account, in the newest validated ledger or in the open one. */
export function accountCall(account: string, ledger: 'validated' | 'current'): NodeCall {
  return { command: 'account_info', params: { account, ledger_index: ledger } }
}

/** @throws LedgerUnreachable where nobody has given it money yet: then it is none */
export function accountIn(answer: NodeAnswer | undefined, account: string): AccountState {
  const result = foundIn(answer, 'actNotFound')
  if (!result) throw new LedgerUnreachable(`${account} is not an account yet: it has to be funded`)
  const data: Members = membersOf(result['account_data'])
  return {
    sequence: countOf(data['Sequence']),
    balance: dropsOf(data['Balance']),
    owned: BigInt(countOf(data['OwnerCount'])),
    ledger: countOf(result['ledger_index'] ?? result['ledger_current_index']),
  }
}

/** @throws LedgerUnreachable while an account has too little for so many transactions, and for what each of them makes */
export function requireMoney(
  account: string,
  { balance, owned }: AccountState,
  { reserveBase, reserveEach }: NodeState,
  wanted: { readonly fee: bigint; readonly transactions: number; readonly isMaking: boolean },
): void {
  const count = BigInt(wanted.transactions)
  const reserve = reserveBase + (owned + count) * reserveEach
  const needed = count * wanted.fee + (wanted.isMaking ? reserve : 0n)
  if (balance >= needed) return
  throw new LedgerUnreachable(`${account} has ${balance} drops, and needs ${needed}`)
}
