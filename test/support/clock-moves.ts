import * as fc from 'fast-check'

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
