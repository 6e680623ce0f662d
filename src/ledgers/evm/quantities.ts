import { LedgerUnreachable } from '../ledger.ts'
import { timeUsOf } from '../nodes/block-time.ts'

/** Hex with `0x`, as nodes write numbers and bytes. */
export type Hex = `0x${string}`

/** A block as far as it is of interest. */
export interface ChainBlock {
  readonly height: number
  readonly hash: string
  /** Microseconds. */
  readonly timeUs: number
  /** Wei per gas; zero where the network has none. */
  readonly baseFee: bigint
}

/** @throws LedgerUnreachable when a node answers something else */
export function blockOf(value: unknown): ChainBlock {
  const block = membersOf(value)
  return {
    height: numberOf(block['number']),
    hash: textOf(block['hash']),
    timeUs: timeUsOf(numberOf(block['timestamp']) * 1_000_000),
    baseFee: block['baseFeePerGas'] === undefined ? 0n : bigOf(block['baseFeePerGas']),
  }
}

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw unreadable()
  return value as Readonly<Record<string, unknown>>
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable()
  return value
}

export function numberOf(value: unknown): number {
  const number = Number(bigOf(value))
  if (!Number.isSafeInteger(number)) throw unreadable()
  return number
}

export function bigOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value)) throw unreadable()
  return BigInt(value)
}

/** A number as nodes write and read it. */
export function hexOfNumber(value: number): Hex {
  return `0x${value.toString(16)}`
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw unreadable()
  return value
}

export function hexOf(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) throw unreadable()
  return value as Hex
}

function unreadable(): LedgerUnreachable {
  return new LedgerUnreachable('the node answers something that cannot be read')
}
