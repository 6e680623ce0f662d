import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EvmLane } from '../../support/evm-lane.ts'
import { baseFee, sendByHand, spike, usual } from '../../support/evm-lane-cases.ts'
import { Anvil, areNodesMissing } from '../../support/evm-nodes.ts'
import { Twins } from '../../support/twins.ts'

/** One seed, so that whoever runs this sees the same. */
const seed = 20_261
const runs = 30

/** Steps that a lane is killed at: it has hardly more. */
const stepsMax = 60

const hourUs = 3_600_000_000

type Fault = (lane: EvmLane) => Promise<void> | void

/** All that can go wrong with nodes, and with who uses them. */
const faults: Readonly<Record<string, Fault>> = {
  'the connection breaks before the node has it': ({ proxies }) => {
    for (const proxy of proxies) proxy.lose('eth_sendRawTransaction', 'request')
  },
  'the connection breaks after the node has it': ({ proxies }) => {
    for (const proxy of proxies) proxy.lose('eth_sendRawTransaction', 'answer')
  },
  'fees rise over the cap': (lane) => baseFee(lane, spike),
  'fees fall': (lane) => baseFee(lane, usual),
  'the pool is emptied': async ({ node }) => void (await node.call('anvil_dropAllTransactions')),
  // One that was started again knows no block that could be taken back.
  'a block is taken back': ({ node }) => node.takeBlockBack().catch(() => undefined),
  'the first node hears of nothing any more': async ({ proxies, node }) =>
    proxies[0].stayBehind(Number(await node.call('eth_blockNumber'))),
  'the first node is away': ({ proxies }) => proxies[0].cut(),
  'the nodes are away': ({ proxies }) => {
    for (const proxy of proxies) proxy.cut()
  },
  'the node is started again with an empty pool': async ({ node }) => {
    await node.stop()
    await node.start()
    await node.call('evm_setAutomine', false)
  },
  'somebody sends by hand': (lane) => sendByHand(lane),
  'somebody sends in the place of what waits': async (lane) => {
    await lane.node.call('anvil_dropAllTransactions')
    await sendByHand(lane)
    await lane.node.mine()
  },
  'the clock is set back': ({ clock }) => clock.step(-hourUs),
  'the clock is set forward': ({ clock }) => clock.step(hourUs),
  'more is to be anchored': async (lane) => void (await lane.plan('more')),
}

const one = fc.tuple(
  fc.constantFrom(...Object.keys(faults)),
  fc.integer({ min: 1, max: 12 }),
  fc.boolean(),
)

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

  test('has each intent on the chain once, whichever two faults and a kill there are', async () => {
    let killed = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(one, { minLength: 2, maxLength: 2 }),
        fc.integer({ min: 0, max: stepsMax }),
        async (pair, killAt) => {
          const said = { feeMax: '20000000000' }
          await using lane = await EvmLane.open({ twins, node, killAt, said })
          for (const name of ['one', 'two']) await lane.plan(name)
          // The block of the contract is not to be taken back.
          await node.mine()
          lane.start()
          for (const [name, looks, isMining] of pair) {
            await faults[name]?.(lane)
            let left = looks
            await lane.until(() => left-- <= 0, isMining ? 1 : 0)
          }
          for (const proxy of lane.proxies) proxy.mend()
          await baseFee(lane, usual)
          await lane.finish()
          await lane.expectAllOnce()
          if (lane.wasKilled) killed++
        },
      ),
      { seed, numRuns: runs },
    )
    expect(killed).toBeGreaterThan(runs / 4)
  })
})
