import { expect } from 'vitest'
import type { NewAnchor } from '../../src/anchors/intents/anchor.ts'
import { newId } from '../../src/core/ids.ts'
import type { IssuedAsset } from '../../src/ledgers/ledger.ts'
import type { EvmLane } from './evm-lane.ts'
import { openEvmLedger } from './evm-ledger.ts'
import { deedOf, gold, putOn } from './sandbox-ledger.ts'

const hourUs = 3_600_000_000

/** Wei for a unit of gas: a hundred times what is allowed in these tests, and what is usual. */
export const [spike, usual] = ['0x1d1a94a2000', '0x3b9aca00']

/** Something that happens to a lane, and resolves with the intents that fail by it. */
export type EvmLaneCase = (lane: EvmLane) => Promise<readonly string[] | void>

/** Each by a whole title. What is planned before the lane is started is signed in one go. */
export const evmLaneCases: Readonly<Record<string, EvmLaneCase>> = {
  'a send that fails before the node has it, with later ones behind it': async (lane) => {
    for (const proxy of lane.proxies) proxy.lose('eth_sendRawTransaction', 'request')
    for (const name of ['one', 'two', 'three']) await lane.plan(name)
    lane.start()
    await lane.finish()
    const sequences = (await lane.transactions()).map(({ sequence }) => sequence)
    expect(new Set(sequences).size).toBe(3)
  },

  'a connection that breaks when the node has it, before the answer': async (lane) => {
    for (const proxy of lane.proxies) proxy.lose('eth_sendRawTransaction', 'answer')
    await lane.plan('one')
    lane.start()
    await lane.finish()
    expect(await lane.transactions()).toHaveLength(1)
  },

  'fees over the cap for an hour, and a pool that forgets it': async (lane) => {
    await lane.plan('before')
    lane.start()
    await lane.until(async () => (await lane.transactions()).length === 1)
    await baseFee(lane, spike)
    await lane.plan('meanwhile')
    await lane.node.call('anvil_dropAllTransactions')
    const endUs = lane.clock.nowUs() + hourUs
    await lane.until(() => {
      lane.clock.atUs += hourUs / 20
      return lane.clock.nowUs() > endUs
    })
    const states = (await lane.anchors()).map(({ state }) => state)
    expect(states.filter((state) => state === 'completed' || state === 'failed')).toEqual([])
    await baseFee(lane, usual)
    await lane.finish()
  },

  'a transaction that is outbid twice, and whose first one is included': async (lane) => {
    await lane.plan('one')
    lane.start()
    await lane.until(async () => (await lane.transactions()).length >= 3)
    for (const proxy of lane.proxies) proxy.cut()
    await lane.node.call('anvil_dropAllTransactions')
    const [first] = await lane.transactions()
    await lane.node.call('eth_sendRawTransaction', first?.blob)
    await lane.node.mine()
    for (const proxy of lane.proxies) proxy.mend()
    await lane.finish()
    expect((await lane.anchors())[0]?.transaction_hash).toBe(first?.hash)
  },

  'a block that is taken back, and never comes again': async (lane) => {
    await lane.plan('one')
    lane.start()
    await lane.until(async () => (await lane.anchors())[0]?.state === 'submitted')
    await lane.node.mine()
    await lane.until(async () => (await lane.anchors())[0]?.state === 'included')
    await lane.node.takeBlockBack()
    await lane.finish()
  },

  'a node that lags behind, after another one has said that it is included': async (lane) => {
    const [fresh, stale] = lane.proxies
    stale.stayBehind(Number(await lane.node.call('eth_blockNumber')))
    await lane.plan('one')
    lane.start()
    await lane.until(async () => (await lane.anchors())[0]?.state === 'submitted')
    await lane.node.mine()
    await lane.until(async () => (await lane.anchors())[0]?.state === 'included')
    const { length } = await lane.transactions()
    fresh.cut()
    const endUs = lane.clock.nowUs() + hourUs
    await lane.until(() => {
      lane.clock.atUs += hourUs / 20
      return lane.clock.nowUs() > endUs
    })
    expect(stale.asked).not.toContain('eth_sendRawTransaction')
    expect(await lane.transactions()).toHaveLength(length)
    fresh.mend()
    await lane.finish()
    expect(new Set((await lane.transactions()).map(({ sequence }) => sequence)).size).toBe(1)
  },

  'a node that has stopped, and is asked before the one that goes on': async (lane) => {
    lane.proxies[0].stayBehind(Number(await lane.node.call('eth_blockNumber')))
    for (const name of ['one', 'two']) await lane.plan(name)
    lane.start()
    await lane.finish()
  },

  'a node that lags behind what is final, when there is more to be anchored': async (lane) => {
    const [stale, fresh] = lane.proxies
    stale.stayBehind(Number(await lane.node.call('eth_blockNumber')))
    const one = await lane.plan('one')
    lane.start()
    await lane.finish()
    fresh.cut()
    const ofOne = async () => (await lane.transactions()).filter((row) => row.intent_id === one)
    const { length } = await ofOne()
    const before = stale.countOf('eth_sendRawTransaction')
    await lane.plan('two')
    const endUs = lane.clock.nowUs() + hourUs
    await lane.until(() => {
      lane.clock.atUs += hourUs / 20
      return lane.clock.nowUs() > endUs && lane.figures?.problem !== undefined
    })
    expect(lane.figures?.problem).toMatch(/it lags behind, or its chain was begun again/)
    expect(stale.countOf('eth_sendRawTransaction')).toBe(before)
    expect(await ofOne()).toHaveLength(length)
    fresh.mend()
    await lane.finish()
    expect(new Set((await lane.transactions()).map(({ sequence }) => sequence)).size).toBe(2)
  },

  'somebody who sends from the account by hand': async (lane) => {
    await lane.plan('one')
    lane.start()
    await lane.finish()
    await sendByHand(lane)
    await lane.node.mine()
    for (const name of ['two', 'three']) await lane.plan(name)
    await lane.finish()
  },

  'somebody who sends in the place of what waits': async (lane) => {
    for (const name of ['one', 'two']) await lane.plan(name)
    lane.start()
    await lane.until(async () => (await lane.transactions()).length >= 2)
    for (const proxy of lane.proxies) proxy.cut()
    await lane.node.call('anvil_dropAllTransactions')
    await sendByHand(lane)
    await lane.node.mine()
    for (const proxy of lane.proxies) proxy.mend()
    await lane.plan('three')
    await lane.finish()
  },

  'what the network reverts before it is signed': async (lane) => {
    const resourceId = newId()
    await lane.node.call('evm_setAutomine', true)
    const other = await openEvmLedger(lane.node, { contract: lane.contract })
    await putOn(other, { ...(await deedOf({ kind: 'nft' })), resourceId })
    await other.close()
    await lane.node.call('evm_setAutomine', false)
    const reverted = await lane.plan('reverted', { resourceId })
    await lane.plan('next')
    lane.start()
    await lane.finish()
    const [failed] = await lane.anchors()
    expect(JSON.parse(failed?.failure ?? '')).toMatchObject({
      error: 'ledger_refused',
      message: expect.stringMatching(/^the contract refuses it: it has a token/),
    })
    return [reverted]
  },

  'assets, one of which is lost on the way': async (lane) => {
    for (const proxy of lane.proxies) proxy.lose('eth_sendRawTransaction', 'answer')
    for (const code of ['GOLD', 'SILVER']) await lane.plan(code, issueOf({ code }))
    lane.start()
    await lane.finish()
    expect(await lane.transactions()).toHaveLength(2)
  },

  'an asset whose block is taken back': async (lane) => {
    await lane.plan('one', issueOf())
    lane.start()
    await lane.until(async () => (await lane.anchors())[0]?.state === 'submitted')
    await lane.node.mine()
    await lane.until(async () => (await lane.anchors())[0]?.state === 'included')
    await lane.node.takeBlockBack()
    await lane.finish()
  },

  'two assets of one stream, which cannot both be': async (lane) => {
    const streamId = newId()
    await lane.plan('one', issueOf({ streamId }))
    const second = await lane.plan('two', issueOf({ streamId, amount: '7' }))
    await lane.plan('next')
    lane.start()
    await lane.finish()
    expect(JSON.parse((await lane.anchors())[1]?.failure ?? '')).toMatchObject({
      error: 'ledger_refused',
      message: expect.stringMatching(/^the contract refuses it: it has an asset of the stream/),
    })
    return [second]
  },

  'a node that is down for ten minutes, and has forgotten all that waits': async (lane) => {
    for (const name of ['one', 'two']) await lane.plan(name)
    lane.start()
    await lane.until(async () => (await lane.transactions()).length >= 2)
    for (const proxy of lane.proxies) proxy.cut()
    await lane.node.call('anvil_dropAllTransactions')
    await lane.plan('three')
    const endUs = lane.clock.nowUs() + hourUs / 6
    await lane.until(() => lane.clock.nowUs() > endUs)
    for (const proxy of lane.proxies) proxy.mend()
    await lane.finish()
  },

  'a node that ends, and is started again after ten minutes with an empty pool': async (lane) => {
    for (const name of ['one', 'two']) await lane.plan(name)
    lane.start()
    await lane.until(async () => (await lane.transactions()).length >= 2)
    await lane.node.stop()
    await lane.plan('three')
    const endUs = lane.clock.nowUs() + hourUs / 6
    await lane.until(() => lane.clock.nowUs() > endUs)
    await lane.node.start()
    await lane.node.call('evm_setAutomine', false)
    await lane.finish()
  },

  'a clock that is set back by an hour, and forward by two': async (lane) => {
    await lane.plan('one')
    lane.start()
    await lane.until(async () => (await lane.transactions()).length >= 1)
    lane.clock.step(-hourUs)
    await lane.plan('two')
    await lane.until(async () => (await lane.transactions()).length >= 2)
    lane.clock.step(2 * hourUs)
    await lane.finish()
  },
}

/** What is planned of an asset. */
function issueOf(said: Partial<IssuedAsset> = {}): Partial<NewAnchor> {
  const asset = { ...gold, streamId: newId(), ...said }
  return { kind: 'token', asset }
}

export async function baseFee({ node }: EvmLane, fee: string): Promise<void> {
  await node.call('anvil_setNextBlockBaseFeePerGas', fee)
  await node.mine()
}

export async function sendByHand({ node }: EvmLane): Promise<void> {
  const [account] = (await node.call('eth_accounts')) as readonly string[]
  await node.call('eth_sendTransaction', { from: account, to: account, value: '0x1' })
}
