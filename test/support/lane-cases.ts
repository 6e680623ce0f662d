import { expect } from 'vitest'
import type { KilledLane } from './killed-lane.ts'

const minuteUs = 60_000_000
const hourUs = 60 * minuteUs

/** Something that happens to a lane, and what must come of it, also when it is killed at any step. */
export type LaneCase = (lane: KilledLane) => Promise<void>

/** Each by a whole title. */
export const laneCases: Readonly<Record<string, LaneCase>> = {
  'a send that fails before the node has it, with later ones in flight': async (lane) => {
    lane.ledger.cut = 'before'
    for (const name of ['one', 'two', 'three']) await lane.plan(name)
    await lane.settle()
    await lane.finish()
    expect(sequencesOf(lane)).toEqual([0, 1, 2])
  },

  'a connection that breaks when the node has it, before the answer': async (lane) => {
    lane.ledger.cut = 'after'
    await lane.plan('one')
    await lane.settle()
    await lane.finish()
    expect(sequencesOf(lane)).toEqual([0])
  },

  'fees over the cap for an hour, and a pool that forgets it': async (lane) => {
    const { node, ledger } = lane
    await lane.plan('before')
    await lane.settle()
    node.price = 1_000
    await lane.plan('meanwhile')
    const before = () => {
      node.mine()
      node.empty()
    }
    await lane.pass(hourUs, { everyUs: 10 * minuteUs, before })
    expect(node.onChain()).toEqual([])
    expect(Math.max(...node.sent.map(({ price }) => price))).toBeLessThanOrEqual(ledger.priceMax)
    expect((await lane.anchors()).map(({ state }) => state)).not.toContain('failed')
    node.price = 20
    await lane.finish()
  },

  'a transaction that is outbid twice, and whose first one is included': async (lane) => {
    const { node } = lane
    await lane.plan('one')
    await lane.settle()
    node.price = 50
    await lane.pass(4 * minuteUs, { everyUs: minuteUs / 2 })
    const [first] = node.sent
    expect(node.sent.length).toBeGreaterThanOrEqual(3)
    expect(new Set(node.sent.map(({ nonce }) => nonce))).toEqual(new Set([0]))
    node.include(first?.hash ?? '')
    await lane.finish()
    expect((await lane.anchors())[0]?.transaction_hash).toBe(first?.hash)
  },

  'a block that is taken back, and never comes again': async (lane) => {
    const { node } = lane
    await lane.plan('one')
    await lane.settle()
    node.mine()
    await lane.pass(minuteUs / 10)
    node.reorg(1)
    expect((await lane.anchors())[0]?.state).not.toBe('completed')
    await lane.pass(minuteUs / 10)
    await lane.pass(minuteUs / 10)
    expect((await lane.transactions()).map(({ hash }) => hash)).toEqual([node.pooled[0]?.hash])
    await lane.finish()
  },

  'several blocks that are taken back': async (lane) => {
    const { node } = lane
    node.depth = 6
    for (const name of ['one', 'two', 'three', 'four']) {
      await lane.plan(name)
      await lane.settle()
      node.mine()
      await lane.pass(minuteUs / 10)
    }
    node.reorg(3)
    await lane.pass(minuteUs / 10)
    expect(node.pooled).toHaveLength(3)
    await lane.finish()
    expect(sequencesOf(lane)).toEqual([0, 1, 2, 3])
  },

  'a block with the first of two that is taken back: the other one may get in as well': async (
    lane,
  ) => {
    const { node } = lane
    await lane.plan('one')
    await lane.settle()
    node.price = 50
    await lane.pass(2 * minuteUs, { everyUs: minuteUs / 2 })
    const [first, ...others] = node.sent
    node.include(first?.hash ?? '')
    await lane.pass(minuteUs / 10)
    node.reorg(1)
    const second = others.at(-1)?.hash ?? ''
    node.include(second)
    await lane.finish()
    expect((await lane.anchors())[0]?.transaction_hash).toBe(second)
  },

  'a node that lags behind, after another one has said that it is included': async (lane) => {
    const { node, ledger } = lane
    const stale = node.replica()
    await lane.plan('one')
    await lane.settle()
    node.mine()
    await lane.pass(minuteUs / 10)
    const { sent } = node
    const rows = (await lane.transactions()).length
    ledger.node = stale
    await lane.pass(hourUs, { everyUs: 10 * minuteUs })
    expect((await lane.transactions()).length).toBe(rows)
    expect(stale.sent).toEqual([])
    ledger.node = node
    await lane.finish()
    expect(node.sent).toEqual(sent)
  },

  'somebody who sends from the account by hand': async (lane) => {
    const { node, ledger } = lane
    await lane.plan('one')
    await lane.settle()
    await lane.finish()
    node.sendByHand(ledger.account, 50)
    node.mine()
    await lane.plan('two')
    await lane.settle()
    await lane.plan('three')
    await lane.finish()
  },

  'somebody who sends in the place of what waits': async (lane) => {
    const { node, ledger } = lane
    node.price = 30
    for (const name of ['one', 'two']) await lane.plan(name)
    await lane.settle()
    node.price = 40
    const byHand = node.sendByHand(ledger.account, 90)
    node.include(byHand.hash)
    await lane.plan('three')
    await lane.finish()
    expect(node.onChain()[0]?.hash).toBe(byHand.hash)
  },

  'somebody who sends in the place of what was outbid': async (lane) => {
    const { node, ledger } = lane
    await lane.plan('one')
    await lane.settle()
    node.price = 50
    await lane.pass(2 * minuteUs, { everyUs: minuteUs })
    const byHand = node.sendByHand(ledger.account, 900)
    node.include(byHand.hash)
    await lane.finish()
    expect(node.onChain()[0]?.hash).toBe(byHand.hash)
  },

  'a block of what somebody has sent that is taken back, with what came after it': async (lane) => {
    const { node, ledger } = lane
    node.sendByHand(ledger.account, 50)
    node.mine()
    await lane.plan('one')
    await lane.settle()
    node.mine()
    node.reorg(2)
    await lane.finish()
  },

  'what the network reverts before it is signed': async (lane) => {
    const { ledger, node } = lane
    const reverted = await lane.plan('reverted')
    ledger.reverted.add(reverted)
    await lane.plan('next')
    await lane.settle()
    await lane.finish()
    const [failed] = await lane.anchors()
    const message = 'the contract reverts it: no such place'
    expect(JSON.parse(failed?.failure ?? '')).toEqual({ error: 'ledger_refused', message })
    expect(node.onChain()).toHaveLength(1)
  },

  'what the network refuses, with later ones in flight and another one that waits': async (
    lane,
  ) => {
    const { ledger, node } = lane
    const [, refused] = [await lane.plan('one'), await lane.plan('two'), await lane.plan('three')]
    ledger.refused.add(refused)
    await lane.settle()
    await lane.plan('four')
    await lane.finish()
    // Whether the next one comes before its place is filled depends on when it is planned.
    expect(sequencesOf(lane)).toEqual(node.onChain().map((_, at) => at))
  },

  'a node that is down for ten minutes, and has forgotten all that waits': async (lane) => {
    const { node, ledger } = lane
    for (const name of ['one', 'two']) await lane.plan(name)
    await lane.settle()
    ledger.isDown = true
    node.empty()
    await lane.plan('three')
    await lane.pass(10 * minuteUs, { everyUs: 2 * minuteUs })
    ledger.isDown = false
    await lane.finish()
    expect(sequencesOf(lane)).toEqual([0, 1, 2])
  },

  'a clock that is set back by an hour, and forward by two': async (lane) => {
    await lane.plan('one')
    await lane.settle()
    lane.clock.step(-hourUs)
    lane.node.price = 20
    await lane.plan('two')
    await lane.pass(4 * minuteUs, { everyUs: 2 * minuteUs })
    lane.clock.step(2 * hourUs)
    await lane.finish()
    expect(sequencesOf(lane)).toEqual([0, 1])
  },
}

/** Places of all that is on the chain, in its order. */
function sequencesOf({ node }: KilledLane): readonly number[] {
  return node.onChain().map(({ nonce }) => nonce)
}
