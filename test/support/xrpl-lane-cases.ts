import { expect } from 'vitest'
import type { XrplLane } from './xrpl-lane.ts'
import { sendByHand } from './xrpl-ledger.ts'

const minuteUs = 60_000_000
const hourUs = 60 * minuteUs

/** Something that happens to a lane; resolves with the intents that must have failed by it. It must hold also when the lane is killed at any step. */
export type XrplLaneCase = (lane: XrplLane) => Promise<readonly string[] | undefined>

/** Each by a whole title. */
export const xrplLaneCases: Readonly<Record<string, XrplLaneCase>> = {
  'a send that fails before the node has it, with later ones in flight': async (lane) => {
    lane.node.cut = 'before'
    for (const name of ['one', 'two', 'three']) await lane.plan(name)
    await lane.settle()
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'a connection that breaks when the node has it, before the answer': async (lane) => {
    lane.node.cut = 'after'
    await lane.plan('one')
    await lane.settle()
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'an answer that it is too late for what the node has taken': async (lane) => {
    Object.assign(lane.node, { answersNext: 'tefMAX_LEDGER', takesNext: true })
    await lane.plan('one')
    await lane.settle()
    lane.chain.closeMany(50)
    await lane.finish()
    expect(await lane.transactions()).toHaveLength(1)
    return undefined
  },

  'a node that lags behind, after it has said that it is included': async (lane) => {
    const { node, chain } = lane
    await lane.plan('one')
    await lane.settle()
    chain.close()
    const before = chain.newest.index - 1
    await lane.pass(minuteUs / 10)
    await lane.plan('two')
    await lane.settle()
    chain.closeMany(50)
    await lane.pass(minuteUs / 10)
    const rows = (await lane.transactions()).length
    const sent = node.countOf('submit')
    node.stopsAt = before
    await lane.pass(hourUs, { everyUs: minuteUs })
    expect((await lane.transactions()).length).toBe(rows)
    expect(node.countOf('submit')).toBe(sent)
    node.stopsAt = undefined
    await lane.finish()
    return undefined
  },

  'a node that has stopped, and is asked before the one that goes on': async (lane) => {
    const stale = await lane.addNodeBefore()
    stale.stopsAt = lane.chain.newest.index
    for (const name of ['one', 'two']) await lane.plan(name)
    await lane.settle()
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'a node that lags behind what is final, when there is more to be anchored': async (lane) => {
    const stale = await lane.addNodeBefore()
    stale.stopsAt = lane.chain.newest.index
    await lane.plan('one')
    await lane.settle()
    await lane.finish()
    await lane.node.down()
    const before = stale.countOf('submit')
    const { length } = await lane.transactions()
    await lane.plan('two')
    await lane.pass(hourUs, { everyUs: minuteUs, before: () => lane.chain.closeMany(15) })
    expect(lane.figures?.problem).toMatch(/it lags behind, or its chain was begun again/)
    expect(stale.countOf('submit')).toBe(before)
    expect(await lane.transactions()).toHaveLength(length)
    await lane.node.up()
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'somebody who sends from the account by hand': async (lane) => {
    await lane.plan('one')
    await lane.settle()
    await lane.finish()
    sendByHand(lane.chain)
    lane.chain.close()
    await lane.plan('two')
    await lane.settle()
    await lane.plan('three')
    await lane.finish()
    return undefined
  },

  'somebody who sends in the place of what waits': async (lane) => {
    for (const name of ['one', 'two']) await lane.plan(name)
    await lane.settle()
    lane.chain.dropWaiting()
    sendByHand(lane.chain)
    lane.chain.close()
    await lane.plan('three')
    await lane.finish()
    return undefined
  },

  'nodes that forget what waits until it is over': async (lane) => {
    for (const name of ['one', 'two']) await lane.plan(name)
    await lane.settle()
    lane.chain.dropWaiting()
    lane.chain.closeMany(50)
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'a history with a gap, where something is over': async (lane) => {
    const { node, chain } = lane
    await lane.plan('one')
    await lane.settle()
    chain.dropWaiting()
    chain.closeMany(50)
    node.forget(chain.newest.index - 47, chain.newest.index - 46)
    const rows = (await lane.transactions()).length
    await lane.pass(10 * minuteUs, { everyUs: minuteUs })
    if (rows > 0) expect((await lane.transactions()).length).toBe(rows)
    node.remember()
    await lane.finish()
    return undefined
  },

  'a failure that is on the ledger, with later ones in flight': async (lane) => {
    const { chain } = lane
    const failed = await lane.plan('one')
    await lane.plan('two')
    await lane.settle()
    await lane.settle()
    const hash = (await lane.transactions()).find((one) => one.intent_id === failed)?.hash ?? ''
    chain.failures.set(hash, 'tecOBJECT_NOT_FOUND')
    await lane.plan('three')
    await lane.finish()
    const [first] = await lane.anchors()
    const message = 'the network refuses it: tecOBJECT_NOT_FOUND'
    expect(JSON.parse(first?.failure ?? '')).toEqual({ error: 'ledger_refused', message })
    return [failed]
  },

  'fees over the cap for an hour': async (lane) => {
    const { chain } = lane
    await lane.plan('before')
    await lane.settle()
    chain.openFee = 1_000_000n
    chain.dropWaiting()
    await lane.plan('meanwhile')
    await lane.pass(hourUs, { everyUs: minuteUs, before: () => chain.closeMany(15) })
    expect((await lane.anchors()).map(({ state }) => state)).not.toContain('failed')
    chain.openFee = 10n
    await lane.finish()
    return undefined
  },

  'more than the queue has room for': async (lane) => {
    const { chain } = lane
    chain.openFee = 1_000n
    for (let at = 0; at < 14; at++) await lane.plan(`${at}`)
    await lane.settle()
    chain.openFee = 2_000n
    await lane.pass(4_000_000, { before: () => chain.close() })
    chain.openFee = 10n
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'a node that is down for ten minutes, and has forgotten all that waits': async (lane) => {
    const { node, chain } = lane
    for (const name of ['one', 'two']) await lane.plan(name)
    await lane.settle()
    await node.down()
    chain.forgetWaiting()
    await lane.plan('three')
    await lane.pass(10 * minuteUs, { everyUs: minuteUs, before: () => chain.closeMany(15) })
    await node.up()
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },

  'a clock that is set back by an hour, and forward by two': async (lane) => {
    await lane.plan('one')
    await lane.settle()
    lane.clock.step(-hourUs)
    await lane.plan('two')
    await lane.pass(minuteUs, { everyUs: minuteUs / 4, before: () => lane.chain.close() })
    lane.clock.step(2 * hourUs)
    await lane.finish()
    await expectNoGap(lane)
    return undefined
  },
}

/** All that ours have done is in places that follow each other, in one transaction each. */
async function expectNoGap(lane: XrplLane): Promise<void> {
  const sequences = (await lane.done()).map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.map((_, at) => (sequences[0] ?? 0) + at))
}
