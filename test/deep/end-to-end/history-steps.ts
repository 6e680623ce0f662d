import * as fc from 'fast-check'
import type { Rules } from './stream-history.ts'

export const secondsMax = 120

/** A reading to be sent. */
export interface Pick {
  readonly value: number
  readonly hasPlace: boolean
  /** Seconds from the newest time that was sent; below zero it is late. */
  readonly ahead: number
  /** Where there are so many before, one of them is sent again instead. */
  readonly again: number | undefined
}

/** Something that is done to a stream, and whether the service is killed while it does it. */
export type Step = { readonly killAfterTurns: number | undefined } & (
  | { readonly kind: 'push'; readonly picks: readonly Pick[] }
  | { readonly kind: 'put'; readonly rules: Rules }
  | { readonly kind: 'redrive' | 'clearQuarantine' | 'pause' | 'resume' | 'replace' }
  /** What alerts are about: nothing of it may be counted. */
  | { readonly kind: 'act' | 'fleetRule' }
  | { readonly kind: 'clearRange'; readonly from: number; readonly to: number }
)

const rules = fc.record({
  valueMax: fc.constantFrom(20, 50, 100),
  knowsPlace: fc.boolean(),
  filtersBelow: fc.option(fc.constantFrom(5, 30), { nil: undefined }),
  deduplicate: fc.boolean(),
})

/** Mostly what comes in order and says the same as others. */
const pick: fc.Arbitrary<Pick> = fc.record({
  // One on each side of what rules are about.
  value: fc.constantFrom(2, 12, 12, 40, 40, 90),
  hasPlace: fc.constantFrom(false, false, false, false, true),
  ahead: fc.oneof(
    { weight: 6, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.integer({ min: -30, max: -1 }) },
  ),
  again: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.nat(100) },
  ),
})

/** About one step in five is cut off by a kill. */
const killAfterTurns = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 }) },
)

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('push' as const),
      picks: fc.array(pick, { minLength: 1, maxLength: 15 }),
      killAfterTurns,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('put' as const), rules, killAfterTurns }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clearRange' as const),
      from: fc.nat(secondsMax),
      to: fc.nat(secondsMax),
      killAfterTurns,
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'redrive',
        'redrive',
        'redrive',
        'redrive',
        'clearQuarantine',
        'clearQuarantine',
        'pause',
        'resume',
        'resume',
        'replace',
      ),
      killAfterTurns,
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('act', 'fleetRule'), killAfterTurns }),
  },
)
