import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { EvmLane } from '../support/evm-lane.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { gold } from '../support/sandbox-ledger.ts'
import { Twins } from '../support/twins.ts'

describe.skipIf(areNodesMissing)('a state that is older than what is on anvil', () => {
  let twins: Twins
  let node: Anvil
  let lane: EvmLane

  beforeAll(async () => {
    twins = await Twins.open()
    node = await Anvil.start()
  })

  beforeEach(async () => {
    lane = await EvmLane.open({ twins, node })
    return async () => await lane[Symbol.asyncDispose]()
  })

  afterAll(async () => {
    await node?.[Symbol.asyncDispose]()
    await twins?.[Symbol.asyncDispose]()
  })

  /** Transactions of the contract, by their hashes, as the chain has them. */
  async function onChain(): Promise<readonly string[]> {
    const logs = await node.call('eth_getLogs', { address: lane.contract, fromBlock: '0x0' })
    const hashes = (logs as readonly { readonly transactionHash: string }[]).map(
      ({ transactionHash }) => transactionHash,
    )
    return [...new Set(hashes)]
  }

  async function batch(...names: readonly string[]): Promise<void> {
    for (const name of names) await lane.plan(name, { kind: 'root' })
    await lane.finish()
  }

  async function namedBy(): Promise<readonly unknown[]> {
    const anchors = await lane.anchors()
    return anchors.map(({ state, transaction_hash: hash, first_leaf: leaf }) => [state, hash, leaf])
  }

  test('finds batches there, and puts nothing on it twice', async () => {
    lane.start()
    await batch('one', 'two', 'three')
    await batch('four')
    await lane.plan('vault')
    await batch('five', 'six')
    const [chain, named] = [await onChain(), await namedBy()]
    await lane.restore()
    lane.start()
    await lane.finish()
    expect(await onChain()).toEqual(chain)
    expect(await namedBy()).toEqual(named)
  })

  test('puts a batch on it again that had something of which it knows nothing', async () => {
    lane.start()
    await batch('one', 'two')
    await batch('three', 'four', 'five')
    const [chain, named] = [await onChain(), await namedBy()]
    await lane.restore()
    const [last] = (await lane.anchors()).slice(-1)
    await lane.lose(last?.id ?? '')
    lane.start()
    await lane.finish()
    expect(await onChain()).toHaveLength(chain.length + 1)
    const again = await namedBy()
    expect(again.slice(0, 2)).toEqual(named.slice(0, 2))
    expect(again.slice(2)).toEqual([
      ['completed', (await onChain()).at(-1), 0],
      ['completed', (await onChain()).at(-1), 1],
    ])
  })

  test('finds an asset there', async () => {
    const asset = { ...gold, streamId: newId() }
    lane.start()
    await lane.plan('asset', { kind: 'token', asset })
    await lane.finish()
    const [chain, named] = [await onChain(), await namedBy()]
    await lane.restore()
    lane.start()
    await lane.finish()
    expect(await onChain()).toEqual(chain)
    expect(await namedBy()).toEqual(named)
  })
})
