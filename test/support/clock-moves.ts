import * as fc from 'fast-check'
import type { HandClock } from './hand-clock.ts'

export const secondUs = 1_000_000
export const dayUs = 86_400 * secondUs

/** Steps of the wall clock: from a second to a day, forward or back. */
export const steps = fc.oneof(
  fc.integer({ min: -dayUs, max: dayUs }),
  fc.integer({ min: -secondUs, max: secondUs }),
)

/** Times that pass, of at most `passUsMax` microseconds, each followed by a step of the wall clock. */
export function movesOf(passUsMax: number) {
  const move = fc.record({ passUs: fc.integer({ min: 0, max: passUsMax }), stepUs: steps })
  return fc.array(move, { minLength: 1, maxLength: 12 })
}

/** A wall clock that is set forward by mistake, and set right within a day. */
export interface Mistake {
  /** Passes before it. */
  readonly passUs: number
  readonly aheadUs: number
  readonly lastsUs: number
}

export const mistakes: fc.Arbitrary<readonly Mistake[]> = fc.array(
  fc.record({
    passUs: fc.integer({ min: 0, max: 2 * dayUs }),
    aheadUs: fc.integer({ min: 0, max: 9_999 * dayUs }),
    lastsUs: fc.integer({ min: 0, max: dayUs - secondUs }),
  }),
  { minLength: 1, maxLength: 8 },
)

/** Makes a mistake; `look` is called while it lasts, and once it is over. */
export async function mistaken(
  clock: HandClock,
  { passUs, aheadUs, lastsUs }: Mistake,
  look: () => Promise<unknown>,
): Promise<void> {
  clock.atUs += passUs
  clock.step(aheadUs)
  await look()
  clock.atUs += lastsUs
  await look()
  clock.step(-aheadUs)
  await look()
}
