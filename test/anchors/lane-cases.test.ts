import { afterAll, beforeAll, describe, test } from 'vitest'
import { KilledLane } from '../support/killed-lane.ts'
import { laneCases } from '../support/lane-cases.ts'
import { Twins } from '../support/twins.ts'

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

describe.each(Object.entries(laneCases))('%s', (_, happen) => {
  test('has each intent on the ledger once', async () => {
    await using lane = new KilledLane(twins)
    await happen(lane)
    await lane.expectAllOnce()
  })
})
