/** Numbers go on after the largest one with 1, and none is 0: OPC 10000-4, section 7.26. */
const sequenceMax = 0xffff_ffff

export function next(sequence: number): number {
  return sequence === sequenceMax ? 1 : sequence + 1
}

export function isNewer(sequence: number, other: number): boolean {
  return sequence !== other && (sequence - other) >>> 0 < 2 ** 31
}

/**
 * Picks the sequence numbers that are newer than one, and older than another, in their order and
 * each once.
 */
export function between(
  sequences: readonly number[],
  after: number,
  before: number | undefined,
): readonly number[] {
  const inside = sequences.filter((sequence) => {
    if (sequence === 0 || !isNewer(sequence, after)) return false
    return before === undefined || isNewer(before, sequence)
  })
  return [...new Set(inside)].toSorted((one, other) => (isNewer(one, other) ? 1 : -1))
}

/** The number before another one. */
export function previous(sequence: number): number {
  return sequence === 1 ? sequenceMax : sequence - 1
}
