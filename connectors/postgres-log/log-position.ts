import type { SourcePosition } from '../../src/contracts/source-position.ts'

/** How far the log of a server has been read. Places in it are counted in bytes since its beginning. */
export interface LogPosition {
  /** Which server it is: places in the log of another one mean something else. */
  readonly system: string
  /** All that was committed before this place is durable here. */
  readonly lsn: bigint
  /** Where the transaction was committed of which a part is durable, and how many of its changes that are. */
  readonly part?: { readonly commitLsn: bigint; readonly changes: number } | undefined
}

/** @throws Error for a text that is no pg_lsn, such as 16/B374D848 */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([\dA-F]{1,8})\/([\dA-F]{1,8})$/i.exec(text) ?? []
  if (high === undefined || low === undefined) throw new Error(`${text} is not a place in a log`)
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export function formatLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase()
}

/** Position as it is kept. */
interface KeptPosition {
  readonly system: string
  readonly lsn: string
  readonly commit?: string
  readonly changes?: number
}

export function readPosition(position: SourcePosition | undefined): LogPosition | undefined {
  if (position === undefined) return undefined
  const { system, lsn, commit, changes = 0 } = position as unknown as KeptPosition
  const part = commit === undefined ? undefined : { commitLsn: parseLsn(commit), changes }
  return { system, lsn: parseLsn(lsn), part }
}

export function writePosition({ system, lsn, part }: LogPosition): SourcePosition {
  return {
    system,
    lsn: formatLsn(lsn),
    ...(part && { commit: formatLsn(part.commitLsn), changes: part.changes }),
  } satisfies KeptPosition
}
