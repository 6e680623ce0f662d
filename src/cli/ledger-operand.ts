import { type Ledger, ledgers } from '../core/ledger.ts'
import { type Input, type Operand, UsageError } from './command.ts'

export const ledgerOperand: Operand = {
  name: 'LEDGER',
  summary: `One of: ${ledgers.join(', ')}.`,
}

/** @throws UsageError */
export function ledgerIn({ operands }: Input): Ledger {
  const given = operands['LEDGER'] ?? ''
  const found = ledgers.find((one) => one === given.toUpperCase())
  if (found === undefined) throw new UsageError(`LEDGER must be ${ledgers.join(' or ')}`)
  return found
}
