import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KilledLane } from '../../support/killed-lane.ts'
import { Twins } from '../../support/twins.ts'

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

/** One seed, so that whoever runs this sees the same. */
const seed = 20_260
const runs = 300

type Fault = (lane: KilledLane) => Promise<void> | void

/** All that can go wrong with a node, and with who uses it. */
const faults: Readonly<Record<string, Fault>> = {
  'the connection breaks before the node has it': ({ ledger }) => void (ledger.cut = 'before'),
  'the connection breaks after the node has it': ({ ledger }) => void (ledger.cut = 'after'),
  'fees rise': ({ node }) => void (node.price = 50),
  'fees rise over the cap': ({ node }) => void (node.price = 500),
  'fees fall': ({ node }) => void (node.price = 10),
  'the pool is emptied': ({ node }) => node.empty(),
  'a block is taken back': ({ node }) => {
    if (node.height > node.finalHeight) node.reorg(1)
  },
  'the first that was sent gets in': ({ node, ledger }) => {
    const nonce = node.count(ledger.account)
    const first = node.sent.find((one) => one.from === ledger.account && one.nonce === nonce)
    if (first) node.include(first.hash)
  },
  'a node answers that hears of nothing any more': ({ node, ledger }) =>
    void (ledger.node = node.replica()),
  'somebody sends by hand': ({ node, ledger }) => {
    const price = 1_000 + node.sent.length * 1_000
    node.include(node.sendByHand(ledger.account, price).hash)
  },
  'the node is down': ({ ledger }) => void (ledger.isDown = true),
  'the clock is set back': ({ clock }) => clock.step(-3_600_000_000),
  'the clock is set forward': ({ clock }) => clock.step(3_600_000_000),
  'more is to be anchored': async (lane) => void (await lane.plan('more')),
}

const one = fc.tuple(fc.constantFrom(...Object.keys(faults)), fc.integer({ min: 1, max: 90 }))

test('two faults and a kill, whichever they are, leave each intent on the ledger once', async () => {
  let killed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(one, { minLength: 2, maxLength: 2 }),
      fc.integer({ min: 0, max: 120 }),
      async (pair, killAt) => {
        await using lane = new KilledLane(twins, killAt)
        for (const name of ['1', '2', '3']) await lane.plan(name)
        await lane.settle()
        for (const [name, seconds] of pair) {
          await faults[name]?.(lane)
          await lane.pass(seconds * 1_000_000)
          lane.node.mine()
          await lane.pass(seconds * 1_000_000)
        }
        lane.ledger.isDown = false
        lane.ledger.node = lane.node
        lane.node.price = 10
        await lane.finish()
        await lane.expectAllOnce()
        if (lane.isKilled) killed++
      },
    ),
    { seed, numRuns: runs },
  )
  expect(killed).toBeGreaterThan(runs / 4)
})
