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

/** Drops are texts, because there are more of them than JSON has exact numbers for. */
export function dropsOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d+$/.test(value)) throw unreadable()
  return BigInt(value)
}

/** Nodes write some amounts in XRP, as numbers: a drop is the millionth part. */
export function dropsOfXrp(value: unknown): bigint {
  return BigInt(Math.ceil(Number((numberOf(value) * 1_000_000).toFixed(3))))
}

function unreadable(): LedgerUnreachable {
  return new LedgerUnreachable('the node answers something that cannot be read')
}
