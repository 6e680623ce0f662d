import { LedgerUnreachable } from '../ledger.ts'

/** The year 10000, in microseconds: proofs show no later time. */
const timeUsMax = 253_402_300_800_000_000

/** The time that a node says of a block, in microseconds. @throws LedgerUnreachable where nobody could show it */
export function timeUsOf(us: number): number {
  if (us >= 0 && us < timeUsMax) return us
  throw new LedgerUnreachable('the node says a time of a block that cannot be')
}
