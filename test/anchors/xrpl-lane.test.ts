import { afterAll, beforeAll, describe, test } from 'vitest'
import { Twins } from '../support/twins.ts'
import { xrplAssetCases } from '../support/xrpl-asset-cases.ts'
import { XrplLane } from '../support/xrpl-lane.ts'
import { xrplLaneCases } from '../support/xrpl-lane-cases.ts'

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

describe.each(Object.entries({ ...xrplLaneCases, ...xrplAssetCases }))('%s', (_, happen) => {
  test('has each intent on the XRP Ledger once', async () => {
    await using lane = await XrplLane.open(twins)
    await lane.expectAllOnce(await happen(lane))
  })
})
