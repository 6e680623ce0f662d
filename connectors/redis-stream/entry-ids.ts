import type { SourcePosition } from '../../src/contracts/source-position.ts'

/** The id before all others: of no entry. */
export const firstId = '0-0'

/** How far a stream has been read. */
export interface StreamPosition {
  /** All up to this entry that was sent to us is durable. */
  readonly id: string
  /** Entries taken over from others that are durable and may not be acknowledged yet. */
  readonly claimed: readonly string[]
}

/**
 * Compares ids: below 0 where the first entry comes before the other.
 *
 * @throws Error for what is no id of an entry
 */
export function compareIds(one: string, other: string): number {
  const [first, second] = [partsOf(one), partsOf(other)]
  const difference = first.time - second.time || first.sequence - second.sequence
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** Two numbers of 64 bits each. */
function partsOf(id: string): { readonly time: bigint; readonly sequence: bigint } {
  const [, time, sequence] = /^(\d{1,20})-(\d{1,20})$/.exec(id) ?? []
  if (time === undefined || sequence === undefined) {
    throw new Error('the server sends an entry without an id')
  }
  return { time: BigInt(time), sequence: BigInt(sequence) }
}

export function readPosition(position: SourcePosition | undefined): StreamPosition | undefined {
  if (position === undefined) return undefined
  const { id, claimed = [] } = position as unknown as Partial<StreamPosition> & { id: string }
  return { id, claimed }
}

export function writePosition({ id, claimed }: StreamPosition): SourcePosition {
  return claimed.length === 0 ? { id } : { id, claimed: [...claimed] }
}
