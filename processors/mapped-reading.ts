import type { TimeProblem } from '../src/core/time.ts'

/** A reading that a mapping has found in a message. Its identity is that of its values. */
export class MappedReading {
  /** Fields by their names, and the members of the item that no path reads. */
  readonly values: Readonly<Record<string, unknown>>
  /** Microseconds since the epoch, or what is wrong with its time; nothing where it claims none. */
  readonly claimedUs: number | TimeProblem | undefined

  constructor(
    values: Readonly<Record<string, unknown>>,
    claimedUs: number | TimeProblem | undefined,
  ) {
    this.values = values
    this.claimedUs = claimedUs
  }
}

/** The members of a reading, however it was found. */
export function membersOf(reading: unknown): unknown {
  return reading instanceof MappedReading ? reading.values : reading
}
