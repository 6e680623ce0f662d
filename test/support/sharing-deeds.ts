import * as fc from 'fast-check'

export type SharedKind = 'vault' | 'stream'

/** People who share with each other. */
export const people = 3

export const minuteMs = 60_000

/** What somebody does. Whoever and whatever is meant is given by a number, of those that there are. */
export type SharingDeed =
  | { readonly does: 'make'; readonly kind: SharedKind; readonly actor: number }
  | { readonly does: 'attach'; readonly actor: number; readonly what: number }
  | {
      readonly does: 'grant' | 'change'
      readonly actor: number
      readonly what: number
      readonly to: number
      readonly role: 'READ' | 'WRITE'
      readonly lastsMs: number | undefined
    }
  | {
      readonly does: 'revoke'
      readonly actor: number
      readonly what: number
      readonly to: number
    }
  | { readonly does: 'publish'; readonly what: number; readonly isPublic: boolean }
  | { readonly does: 'delete'; readonly actor: number; readonly what: number }
  | { readonly does: 'wait'; readonly passMs: number }
  | { readonly does: 'leave'; readonly who: number }

const person = fc.nat({ max: people - 1 })
const thing = fc.nat({ max: 30 })
/** Ends lie between the times at which the clock stands: what passes while the test runs moves nobody across one. */
const lastsMs = fc.option(
  fc.nat({ max: 6 }).map((tens) => (10 * tens + 5) * minuteMs),
  { nil: undefined },
)
const role = fc.constantFrom('READ' as const, 'WRITE' as const)

/** Deeds in the shares in which they keep the world busy. */
export const sharingDeed: fc.Arbitrary<SharingDeed> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('make' as const),
      kind: fc.constantFrom('vault' as const, 'stream' as const),
      actor: person,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('attach' as const), actor: person, what: thing }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      does: fc.constant('grant' as const),
      actor: person,
      what: thing,
      to: person,
      role,
      lastsMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      actor: person,
      what: thing,
      to: person,
      role,
      lastsMs,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('revoke' as const),
      actor: person,
      what: thing,
      to: person,
    }),
  },
  fc.record({ does: fc.constant('publish' as const), what: thing, isPublic: fc.boolean() }),
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('delete' as const), actor: person, what: thing }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('wait' as const),
      passMs: fc.integer({ min: 1, max: 4 }).map((tens) => 10 * tens * minuteMs),
    }),
  },
  fc.record({ does: fc.constant('leave' as const), who: person }),
)
