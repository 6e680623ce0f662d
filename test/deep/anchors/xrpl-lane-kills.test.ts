import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Twins } from '../../support/twins.ts'
import { xrplAssetCases } from '../../support/xrpl-asset-cases.ts'
import { XrplLane } from '../../support/xrpl-lane.ts'
import { xrplLaneCases } from '../../support/xrpl-lane-cases.ts'

/** Steps from one kill to the next: to kill it at every one of some hundreds takes a quarter of an hour. */
const stride = 9

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

describe.each(Object.entries({ ...xrplLaneCases, ...xrplAssetCases }))('%s', (_, happen) => {
  test('has each intent on the XRP Ledger once, wherever the lane is killed', async () => {
    let kills = 0
    for (; ; kills += stride) {
      await using lane = await XrplLane.open(twins, kills)
      try {
        await lane.expectAllOnce(await happen(lane))
      } catch (error) {
        throw new Error(`killed at step ${kills}`, { cause: error })
      }
      if (!lane.isKilled) break
    }
    // A transaction alone has more: it is signed, written down, sent and looked at.
    expect(kills).toBeGreaterThan(10)
  })
})
