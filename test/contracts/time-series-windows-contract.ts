import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hourUs, marchUs } from '../support/stored-readings.ts'
import {
  type Notes,
  type Step,
  WindowHistory,
  windowDefinitions,
} from '../support/window-history.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/**
 * What every store promises about windows.
 *
 * @param histories how many random ones are tried: those of `npm test` are few, and test/deep/time-series/ has more
 */
export function timeSeriesWindowsContract(open: OpenNewStore, histories: number): void {
  describe('windows', () => {
    modelContract(open, histories)
  })
}

/** Times around the turn of a month, few enough that readings meet. */
const timeUs = fc.integer({ min: -60, max: 60 }).map((half) => marchUs + (half * hourUs) / 2)

const readings: fc.Arbitrary<Notes[]> = fc.array(
  fc.record({ stream: fc.nat(1), timestampUs: timeUs, digest: fc.nat(2) }),
  { maxLength: 12 },
)

const anyDefinition = fc.nat(windowDefinitions.length - 1)

const shipping = fc.record({ kind: fc.constant('ship' as const), readings })

const removing = fc.record({
  kind: fc.constant('remove' as const),
  stream: fc.nat(1),
  startUs: timeUs,
  endUs: fc.oneof(timeUs, fc.constant(253_402_300_800_000_000)),
})

const reopening = fc.record({ kind: fc.constant('reopen' as const) })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: shipping },
  { weight: 3, arbitrary: removing },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('define' as const),
      stream: fc.nat(1),
      definition: anyDefinition,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('compute' as const),
      nowUs: timeUs,
      windowsMax: fc.constantFrom(1, 3, 1_000),
      before: fc.option(shipping, { nil: undefined, freq: 2 }),
      /** What comes between the moment at which windows are computed and that at which they are kept. */
      between: fc.option(fc.oneof(shipping, removing, reopening), { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 1, arbitrary: reopening },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lose' as const),
      step: fc.oneof(shipping, removing),
      portion: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fail' as const), readings }),
  },
)

/** The last window of three hours reaches over the first one of the next definition, an hour's. */
const reachingOver: Step[] = [
  { kind: 'ship', readings: [{ stream: 1, timestampUs: marchUs, digest: 0 }] },
  { kind: 'define', stream: 1, definition: 0 },
  { kind: 'ship', readings: [{ stream: 1, timestampUs: marchUs + hourUs, digest: 0 }] },
  {
    kind: 'compute',
    nowUs: marchUs + 2 * hourUs,
    windowsMax: 1,
    before: undefined,
    between: undefined,
  },
]

function modelContract(open: OpenNewStore, histories: number): void {
  test('equal a recomputation after any history, and are never behind it when they are read', async () => {
    let kept = 0
    await withStreams(open, async (opened, newStream) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 4, maxLength: 12 }),
          fc.integer({ min: 2, max: 20 }),
          fc.tuple(anyDefinition, anyDefinition),
          async (steps, limit, defined) => {
            const history = new WindowHistory(opened, [newStream(), newStream()])
            for (const [stream, index] of defined.entries()) {
              history.define(stream, windowDefinitions[index])
            }
            for (const one of steps) {
              await history.take(one)
              // A definition is told with the next reading.
              if (one.kind !== 'define') await history.check(1_000)
            }
            await history.settle()
            await history.check(limit)
            await history.checkKept()
            kept += history.kept
          },
        ),
        { numRuns: histories, examples: [[reachingOver, 2, [0, 3]]] },
      )
    })
    expect(kept).toBeGreaterThan(histories)
  })
}
