import { LedgerUnreachable } from '../ledger.ts'

export type Members = Readonly<Record<string, unknown>>

/** @throws LedgerUnreachable when a node answers something else; so do all of these */
export function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null) throw unreadable()
  return value as Members
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable()
  return value
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw unreadable()
  return value
}

export function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unreadable()
  return value
}

/** A whole number of 32 bits: counts, sequences and the numbers of ledgers are (https://xrpl.org/docs/references/protocol/binary-format). */
export function countOf(value: unknown): number {
  const count = numberOf(value)
  if (count >>> 0 !== count) throw unreadable()
  return count
}

/** A code of a result (https://xrpl.org/docs/references/protocol/transactions/transaction-results): whatever else a node says may show its address. */
export function codeOf(value: unknown): string {
  if (typeof value !== 'string' || !/^te[cflmrs][A-Z][A-Z_\d]{0,40}$/.test(value))
    throw unreadable()
  return value
}

/** What is read by code of others, which is not made for answers of any kind. */
export function readBy<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw error instanceof LedgerUnreachable ? error : unreadable()
  }
}

/** Drops are texts, because there are more of them than JSON has exact numbers for. */
export function dropsOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d+$/.test(value)) throw unreadable()
  return BigInt(value)
}

/** Nodes write some amounts in XRP, as numbers: a drop is the millionth part. */
export function dropsOfXrp(value: unknown): bigint {
  const drops = Math.ceil(Number((numberOf(value) * 1_000_000).toFixed(3)))
  if (!Number.isSafeInteger(drops)) throw unreadable()
  return BigInt(drops)
}

function unreadable(): LedgerUnreachable {
  return new LedgerUnreachable('the node answers something that cannot be read')
}
