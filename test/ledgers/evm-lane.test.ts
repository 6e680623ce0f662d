import { afterAll, beforeAll, describe, test } from 'vitest'
import { EvmLane } from '../support/evm-lane.ts'
import { evmLaneCases } from '../support/evm-lane-cases.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { Twins } from '../support/twins.ts'

describe.skipIf(areNodesMissing)('a lane onto anvil', () => {
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

  test.each(Object.entries(evmLaneCases))('lives through %s', async (_, happen) => {
    const said = { feeMax: '20000000000' }
    await using lane = await EvmLane.open({ twins, node, said })
    const failed = await happen(lane)
    await lane.expectAllOnce(failed ?? [])
  })
})

describe.skipIf(areNodesMissing)('a lane onto a network without EIP-1559', () => {
  let twins: Twins
  let node: Anvil

  beforeAll(async () => {
    twins = await Twins.open()
    node = await Anvil.start('--hardfork', 'berlin')
  })

  afterAll(async () => {
    await node?.[Symbol.asyncDispose]()
    await twins?.[Symbol.asyncDispose]()
  })

  test.each([
    'a transaction that is outbid twice, and whose first one is included',
    'a block that is taken back, and never comes again',
    'assets, one of which is lost on the way',
  ])('lives through %s', async (name) => {
    const said = { ledger: 'POLYGON_ZKEVM', feeMax: '20000000000' } as const
    await using lane = await EvmLane.open({ twins, node, said })
    const failed = await evmLaneCases[name]?.(lane)
    await lane.expectAllOnce(failed ?? [])
  })
})
