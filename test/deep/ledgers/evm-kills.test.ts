import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EvmLane } from '../../support/evm-lane.ts'
import { evmLaneCases } from '../../support/evm-lane-cases.ts'
import { Anvil, areNodesMissing } from '../../support/evm-nodes.ts'
import { Twins } from '../../support/twins.ts'

/** Steps that a case is killed at: those after them are waits that repeat themselves. */
const stepsMax = 40

/** Steps from one kill to the next: a node is set up for each, and some cases wait for minutes of the chain. */
const stride = 8

describe.skipIf(areNodesMissing)('a lane onto anvil that is killed', () => {
  let twins: Twins
  let node: Anvil

  beforeAll(async () => {
    twins = await Twins.open()
    node = await Anvil.start()
  })

  afterAll(async () => {
    await node?.[Symbol.asyncDispose]()
    await twins?.[Symbol.asyncDispose]()
  })

  test.each(Object.entries(evmLaneCases))(
    'here and there among its first steps lives through %s',
    async (_, happen) => {
      for (let killAt = 0; killAt < stepsMax; killAt += stride) {
        await using lane = await EvmLane.open({
          twins,
          node,
          killAt,
          said: { feeMax: '20000000000' },
        })
        const failed = await happen(lane)
        await lane.expectAllOnce(failed ?? [])
        // The one before was the last.
        if (!lane.wasKilled) {
          expect(killAt).toBeGreaterThan(0)
          return
        }
      }
    },
  )
})
