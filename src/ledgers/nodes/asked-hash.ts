import { LedgerUnreachable } from '../ledger.ts'

/** An answer that is to another question says nothing. @throws LedgerUnreachable where it is of another transaction than was asked for */
export function requireSame(hash: string, said: unknown): void {
  if (typeof said === 'string' && said.toLowerCase() === hash.toLowerCase()) return
  throw new LedgerUnreachable('the node answers with another transaction than the one asked for')
}
