import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anchorIdOf } from '../../src/anchors/intents/anchor-id.ts'
import { retriedAnchors } from '../../src/anchors/intents/retried-anchors.ts'
import {
  allSteps,
  expectIssued,
  newAssetFor,
  stepsOnChain,
  xrplLanes,
} from '../support/issued-by-lanes.ts'
import type { KilledLane } from '../support/killed-lane.ts'
import { Twins } from '../support/twins.ts'

const dayUs = 86_400_000_000

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

async function assetRow(id: string) {
  const assets = twins.tests.state.selectFrom('assets').selectAll()
  return await assets.where('id', '=', id).executeTakeFirstOrThrow()
}

const toldOf = async (id: string) => (await twins.eventsOf(id)).map(({ type }) => type)

/** Blocks come until so many transactions are there for good, and the lanes know. */
async function afterSteps(lanes: KilledLane, count: number): Promise<void> {
  const done = async () => (await lanes.anchors()).filter(({ state }) => state === 'completed')
  for (let blocks = 0; (await done()).length < count; blocks++) {
    if (blocks === 50) throw new Error(JSON.stringify(await lanes.anchors()))
    await lanes.pass(12_000_000, { before: () => lanes.node.mine() })
  }
}

describe('an asset of several steps', () => {
  test('takes them in order, each by the account that it is for', async () => {
    await using lanes = xrplLanes(twins)
    const asset = await newAssetFor(twins, lanes)

    await lanes.settle()
    expect((await lanes.anchors()).map(({ operation }) => operation)).toEqual(['creation'])
    await lanes.finish()

    expect(stepsOnChain(lanes)).toEqual(allSteps)
    await expectIssued(twins, lanes, asset)
    expect(await toldOf(asset.id)).toEqual(['asset.deployed'])
  })

  test('begins none before the one before is there for good', async () => {
    await using lanes = xrplLanes(twins)
    const { id } = await newAssetFor(twins, lanes)
    await lanes.settle()
    await lanes.pass(12_000_000, { before: () => lanes.node.mine() })
    expect(stepsOnChain(lanes)).toEqual(['account issuance'])
    expect(await lanes.anchors()).toHaveLength(1)
    expect((await assetRow(id)).status).toBe('LEDGER_SUBMITTED')

    await afterSteps(lanes, 1)

    const [, second] = await lanes.anchors()
    expect(second).toMatchObject({ operation: 'authorization', role: 'distributor' })
    expect(JSON.parse(second?.asset ?? '')).toMatchObject({ amount: '21000000000000' })
    expect(JSON.parse(second?.asset ?? '')).toHaveProperty('tokenId')
    await lanes.finish()
  })

  test('goes on by the account that can, while the other has no node', async () => {
    await using lanes = xrplLanes(twins)
    lanes.ledgerOf('distributor').isDown = true
    const held = await newAssetFor(twins, lanes)
    await lanes.settle()
    await afterSteps(lanes, 1)
    const other = await newAssetFor(twins, lanes)
    await lanes.settle()
    await afterSteps(lanes, 2)
    expect(stepsOnChain(lanes)).toEqual(['account issuance', 'account issuance'])

    lanes.ledgerOf('distributor').isDown = false
    await lanes.finish()

    for (const { id } of [held, other]) expect((await assetRow(id)).status).toBe('COMPLETED')
  })

  test('is FAILED with a step that is refused, keeps its name, and goes no further', async () => {
    await using lanes = xrplLanes(twins)
    const { id, streamId } = await newAssetFor(twins, lanes)
    lanes.ledgerOf('distributor').reverted.add(anchorIdOf(id, 'authorization'))
    await lanes.settle()
    await afterSteps(lanes, 1)
    await lanes.pass(60_000_000, { everyUs: 12_000_000, before: () => lanes.node.mine() })

    const row = await assetRow(id)
    expect(row).toMatchObject({ status: 'FAILED', token_id: `issued for ${streamId}` })
    expect(row.failure).toContain('ledger_refused')
    expect(row.tx_hash).toBe((await lanes.anchors())[0]?.transaction_hash)
    expect(stepsOnChain(lanes)).toEqual(['account issuance'])
    expect(await toldOf(id)).toEqual(['asset.error'])
    const mapping = twins.tests.state.selectFrom('asset_streams').select('mapping')
    expect(await mapping.where('id', '=', streamId).executeTakeFirst()).toEqual({ mapping: '' })
  })

  test('is an ERROR with a step that takes too long, and goes on from there when it is tried again', async () => {
    await using lanes = xrplLanes(twins)
    const asset = await newAssetFor(twins, lanes)
    lanes.ledgerOf('distributor').isDown = true
    await lanes.settle()
    await afterSteps(lanes, 1)
    await lanes.pass(dayUs + 60_000_000)
    const error = await assetRow(asset.id)
    expect(error.status).toBe('ERROR')
    expect(error.failure).toContain('ledger_timeout')

    lanes.ledgerOf('distributor').isDown = false
    const { state } = twins.tests
    const again = state.updateTable('assets').set({ status: 'LEDGER_SUBMITTED', failure: null })
    await twins.tests.commit(
      again.where('id', '=', asset.id),
      retriedAnchors({ state, clock: lanes.clock }, asset.id),
    )
    await lanes.finish()

    expect(stepsOnChain(lanes)).toEqual(allSteps)
    await expectIssued(twins, lanes, asset)
    expect(await toldOf(asset.id)).toEqual(['asset.error', 'asset.deployed'])
  })

  test('is under way again when a step comes to pass that was given up', async () => {
    await using lanes = xrplLanes(twins)
    const asset = await newAssetFor(twins, lanes)
    await lanes.settle()
    await lanes.pass(dayUs + 60_000_000)
    expect((await assetRow(asset.id)).status).toBe('ERROR')

    // What was given up is looked at again for the sake of what comes after it.
    const id = await lanes.plan('after it')
    const begun = twins.tests.state.updateTable('anchors').set({ begun_at: lanes.clock.steadyUs() })
    await twins.tests.commit(begun.where('id', '=', id))
    await afterSteps(lanes, 2)

    expect(await assetRow(asset.id)).toMatchObject({ status: 'LEDGER_SUBMITTED', failure: null })
    await lanes.finish()
    await expectIssued(twins, lanes, asset)
  })

  test('keeps what it is called when it was given up before anybody saw its first step', async () => {
    await using lanes = xrplLanes(twins)
    const asset = await newAssetFor(twins, lanes)
    lanes.ledger.cut = 'after'
    await lanes.settle()
    lanes.ledger.isDown = true
    await lanes.pass(dayUs + 60_000_000)
    expect((await assetRow(asset.id)).status).toBe('ERROR')
    lanes.node.mine(lanes.node.depth + 1)
    lanes.ledger.isDown = false

    const id = await lanes.plan('after it, too')
    const begun = twins.tests.state.updateTable('anchors').set({ begun_at: lanes.clock.steadyUs() })
    await twins.tests.commit(begun.where('id', '=', id))
    await lanes.finish()

    await expectIssued(twins, lanes, asset)
  })

  test('that was restored from before a step finds what is there of all of them', async () => {
    await using lanes = xrplLanes(twins)
    const asset = await newAssetFor(twins, lanes)
    const before = await stateOf(asset.id)
    await lanes.settle()
    await lanes.finish()

    await restore(asset.id, before)
    await lanes.restart()
    await lanes.finish()

    expect(stepsOnChain(lanes)).toEqual(allSteps)
    await expectIssued(twins, lanes, asset)
  })

  test.each([4, 15, 26, 37, 48])(
    'is issued once when the lanes are killed at step %i',
    async (at) => {
      await using lanes = xrplLanes(twins, at)
      const asset = await newAssetFor(twins, lanes)
      await lanes.settle()
      await lanes.finish()
      expect(lanes.isKilled).toBe(true)
      expect(stepsOnChain(lanes)).toEqual(allSteps)
      await expectIssued(twins, lanes, asset)
    },
  )
})

/** Rows of an asset that nothing is on a ledger of. */
async function stateOf(id: string) {
  const { state } = twins.tests
  const anchors = state.selectFrom('anchors').selectAll().where('resource_id', '=', id)
  return { asset: await assetRow(id), anchor: await anchors.executeTakeFirstOrThrow() }
}

/** Has its rows be as they were. */
async function restore(
  id: string,
  { asset, anchor }: Awaited<ReturnType<typeof stateOf>>,
): Promise<void> {
  const { state } = twins.tests
  const ofIt = state.selectFrom('anchors').select('id').where('resource_id', '=', id)
  const later = ofIt.where('operation', '<>', 'creation')
  await twins.tests.commit(
    state.deleteFrom('anchor_transactions').where('network', '=', anchor.network),
    state.deleteFrom('anchor_leaves').where('anchor_id', 'in', later),
    state.deleteFrom('anchors').where('id', 'in', later),
    state.updateTable('anchors').set(anchor).where('id', '=', anchor.id),
    state.updateTable('assets').set(asset).where('id', '=', id),
  )
}
