import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KilledLane } from '../../support/killed-lane.ts'
import { laneCases } from '../../support/lane-cases.ts'
import { Twins } from '../../support/twins.ts'

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

describe.each(Object.entries(laneCases))('%s', (_, happen) => {
  test('has each intent on the ledger once, wherever the lane is killed', async () => {
    let kills = 0
    for (; ; kills++) {
      await using lane = new KilledLane(twins, kills)
      try {
        await happen(lane)
        await lane.expectAllOnce()
      } catch (error) {
        throw new Error(`killed at step ${kills}`, { cause: error })
      }
      if (!lane.isKilled) break
    }
    // A transaction alone has more: it is signed, written down, sent and looked at.
    expect(kills).toBeGreaterThan(10)
  })
})
