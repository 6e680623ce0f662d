import type { Json } from '../../contracts/definitions/problems.ts'

const unitUs = { s: 1_000_000, m: 60_000_000, h: 3_600_000_000, d: 86_400_000_000 } as const

/** Where no `frequency` is given. */
const windowUsDefault = unitUs.h

/**
 * In which windows of event time, aligned to the epoch, at least one reading is kept although
 * nothing has changed (decisions.md#readings-that-are-unchanged), in microseconds; nothing for a
 * stream that keeps all of them.
 */
export function keptEveryUs(processing: Json): number | undefined {
  return isDeduplicated(processing) ? windowUs(processing) : undefined
}

export function isDeduplicated({ deduplicate }: Json): boolean {
  return deduplicate === true
}

/** The length of a stream's windows in microseconds. */
export function windowUs({ frequency }: Json): number {
  if (typeof frequency !== 'string') return windowUsDefault
  return Number(frequency.slice(0, -1)) * unitUs[frequency.slice(-1) as keyof typeof unitUs]
}

/**
 * For how many windows a reading holds at most. A device that sends leaves no longer gap: the first
 * reading of each window is kept, and two of these are less than two windows apart.
 */
const windowsHeld = 2

/** For how long a reading counts in averages by time, in microseconds; nothing where each counts once. */
export function heldUs(processing: Json): number | undefined {
  return isDeduplicated(processing) ? longestHoldUs(processing) : undefined
}

/** For how long a reading would count, in microseconds, if the stream dropped what is unchanged. */
export function longestHoldUs(processing: Json): number {
  return windowsHeld * windowUs(processing)
}
