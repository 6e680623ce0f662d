import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  allSteps,
  expectIssued,
  newAssetFor,
  stepsOnChain,
  xrplLanes,
} from '../../support/issued-by-lanes.ts'
import { Twins } from '../../support/twins.ts'

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

test('an asset of several steps is issued once, wherever its lanes are killed', async () => {
  let kills = 0
  for (; ; kills++) {
    await using lanes = xrplLanes(twins, kills)
    try {
      const asset = await newAssetFor(twins, lanes)
      await lanes.settle()
      await lanes.finish()
      expect(stepsOnChain(lanes)).toEqual(allSteps)
      await expectIssued(twins, lanes, asset)
    } catch (error) {
      throw new Error(`killed at step ${kills}`, { cause: error })
    }
    if (!lanes.isKilled) break
  }
  // Each of its transactions is signed, written down, sent and looked at.
  expect(kills).toBeGreaterThan(30)
})
