import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anchorIdOf } from '../../src/anchors/intents/anchor-id.ts'
import { fillerDeed } from '../../src/anchors/pursuit/deeds.ts'
import { type AnchorId, newId } from '../../src/core/ids.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { KilledLane } from '../support/killed-lane.ts'
import { signedBy } from '../support/sandbox-ledger.ts'
import { Twins } from '../support/twins.ts'

let twins: Twins

beforeAll(async () => {
  twins = await Twins.open()
})

afterAll(async () => await twins[Symbol.asyncDispose]())

const second = 1_000_000
const minute = 60 * second

const intentsOf = ({ node }: KilledLane) => node.onChain().map(({ intentId }) => intentId)

describe('the sequence of a transaction that is refused', () => {
  test('is used by the next intent, and what comes after it gets in', async () => {
    await using lane = new KilledLane(twins)
    const [one, two, three] = [await lane.plan('1'), await lane.plan('2'), await lane.plan('3')]
    lane.ledger.refused.add(two)
    await lane.settle()
    const four = await lane.plan('4')
    await lane.finish()
    expect(intentsOf(lane)).toEqual([one, four, three])
    await lane.expectAllOnce()
  })

  test('is filled where nothing waits', async () => {
    await using lane = new KilledLane(twins)
    const [one, two, three] = [await lane.plan('1'), await lane.plan('2'), await lane.plan('3')]
    lane.ledger.refused.add(two)
    await lane.settle()
    await lane.finish()
    const filler = fillerDeed(2, lane.ledger.account).intentId
    expect(intentsOf(lane)).toEqual([one, filler, three])
  })

  test('is not filled where nothing comes after it', async () => {
    await using lane = new KilledLane(twins)
    const [one, two] = [await lane.plan('1'), await lane.plan('2')]
    lane.ledger.refused.add(two)
    await lane.settle()
    await lane.finish()
    expect(intentsOf(lane)).toEqual([one])
    const three = await lane.plan('3')
    await lane.finish()
    expect(intentsOf(lane)).toEqual([one, three])
  })
})

describe('sequences that somebody has used by hand', () => {
  test('are left behind by the next intents, before it is final', async () => {
    await using lane = new KilledLane(twins)
    lane.node.depth = 50
    await lane.plan('1')
    await lane.settle()
    for (let by = 0; by < 4; by++) {
      lane.node.mine()
      lane.node.include(lane.node.sendByHand(lane.ledger.account, 50).hash)
    }
    await lane.plan('2')
    await lane.settle()
    const three = await lane.plan('3')
    await lane.pass(10 * second)
    lane.node.mine()
    expect(intentsOf(lane).at(-1)).toBe(three)
    expect((await lane.transactions()).map(({ sequence }) => sequence)).toEqual([1, 2, 6])
  })
})

describe('a network that takes nothing new for now', () => {
  test('still gets what is signed, and says why the rest waits', async () => {
    await using lane = new KilledLane(twins)
    const one = await lane.plan('1')
    await lane.settle()
    lane.ledger.priceMax = 5
    const two = await lane.plan('2')
    await lane.settle()
    for (let blocks = 0; blocks < 5; blocks++) {
      await lane.pass(12 * second, { before: () => lane.node.mine() })
    }
    expect([await lane.stateOf(one), await lane.stateOf(two)]).toEqual(['completed', 'waiting'])
    expect(lane.figures?.problem).toBe('it costs 10 now')
    lane.ledger.priceMax = 100
    await lane.pass(2 * minute)
    await lane.finish()
    expect(lane.figures?.problem).toBeUndefined()
    await lane.expectAllOnce()
  })
})

describe('what is in a block', () => {
  test('keeps nothing waiting until it is final', async () => {
    await using lane = new KilledLane(twins)
    lane.ledger.inFlightMax = 2
    lane.node.depth = 50
    for (let at = 0; at < 6; at++) await lane.plan(`${at}`)
    await lane.settle()
    for (let blocks = 0; blocks < 8; blocks++) {
      expect(lane.node.pooled.length).toBeLessThanOrEqual(2)
      await lane.pass(12 * second, { before: () => lane.node.mine() })
    }
    expect(lane.node.onChain()).toHaveLength(6)
    expect(lane.figures?.completed).toBe(0)
  })
})

describe('what waits to be final', () => {
  test('is looked at by its first and its last alone', async () => {
    await using lane = new KilledLane(twins)
    lane.node.depth = 10
    for (let at = 0; at < 12; at++) await lane.plan(`${at}`)
    await lane.settle()
    await lane.pass(12 * second, { before: () => lane.node.mine() })
    const before = lane.ledger.looks
    await lane.pass(5 * 12 * second, { everyUs: 12 * second, before: () => lane.node.mine() })
    expect(lane.ledger.looks - before).toBe(5 * 2)
    await lane.finish()
    await lane.expectAllOnce()
  })
})

describe('what is outbid', () => {
  test('is signed again with all that it is of, under the same sequence', async () => {
    await using lane = new KilledLane(twins)
    const root = { kind: 'root' } as const
    for (const name of ['1', '2', '3']) await lane.plan(name, root)
    await lane.plan('a token', { uri: 'ipfs://bafy' })
    await lane.pass(second)
    lane.node.price = 30
    await lane.pass(minute)
    const rows = await lane.transactions()
    expect(rows.map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ])
    const deeds = rows.map(({ blob }) => (JSON.parse(blob) as { readonly deed: unknown }).deed)
    expect([deeds[1], deeds[3]]).toEqual([deeds[0], deeds[2]])
    const named = new Set((await lane.anchors()).map((anchor) => anchor.transaction_hash))
    expect(named).toEqual(new Set([rows[1]?.hash, rows[3]?.hash]))
    await lane.finish()
    await lane.expectAllOnce()
  })

  test('is signed again when it fills a place', async () => {
    await using lane = new KilledLane(twins)
    const [, two] = [await lane.plan('1'), await lane.plan('2'), await lane.plan('3')]
    lane.ledger.refused.add(two)
    await lane.settle()
    lane.node.price = 30
    await lane.pass(4 * minute, { everyUs: minute })
    const fillers = (await lane.transactions()).filter(({ sequence, state }) => {
      return sequence === 2 && state === 'open'
    })
    expect(new Set(fillers.map((row) => row.intent_id)).size).toBe(1)
    expect(fillers.length).toBeGreaterThan(1)
    await lane.finish()
  })

  test('is shown to its owner by the hash of the newest, and in the end by that which got in', async () => {
    await using lane = new KilledLane(twins)
    const vaultId = await twins.newVault()
    await lane.take(vaultId)
    const shown = async () => {
      const vault = twins.tests.state.selectFrom('vaults').select(['tx_hash', 'progress'])
      return await vault.where('id', '=', vaultId).executeTakeFirstOrThrow()
    }
    await lane.settle()
    lane.node.price = 30
    await lane.pass(minute)
    const [first, newest] = (await lane.transactions()).map(({ hash }) => hash)
    expect((await shown()).tx_hash).toBe(newest)
    lane.node.include(first ?? '')
    await lane.pass(10 * second)
    expect([(await lane.anchors())[0]?.state, (await shown()).tx_hash]).toEqual(['included', first])
    await lane.finish()
    const { tx_hash: hash, progress } = await shown()
    expect(hash).toBe(first)
    expect(progress.match(/LEDGER_SUBMITTED|COMPLETED/g)).toEqual(['LEDGER_SUBMITTED', 'COMPLETED'])
  })

  test('is never bid more than is allowed for, and goes on being sent', async () => {
    await using lane = new KilledLane(twins)
    await lane.plan('1')
    await lane.settle()
    lane.node.price = 1_000
    await lane.pass(60 * minute, { everyUs: minute })
    const rows = (await lane.transactions()).length
    lane.node.empty()
    await lane.pass(60 * minute, { everyUs: minute })
    expect(await lane.transactions()).toHaveLength(rows)
    expect(lane.node.pooled.map(({ price }) => price)).toEqual([lane.ledger.priceMax])
  })
})

/** Puts the token of a resource on the ledger, without the lane. */
async function putBy(lane: KilledLane, resourceId: string, cid: string): Promise<void> {
  const intentId = anchorIdOf(resourceId, 'creation')
  const { root } = MerkleTree.over([cid])
  const deed = { intentId, kind: 'nft', root, leaves: [{ intentId, cid }] } as const
  const { blob } = await signedBy(lane.ledger, deed, await lane.ledger.nextSequence())
  await lane.ledger.submit(blob)
  lane.node.mine()
}

describe('what a state that was restored has forgotten', () => {
  test('is found on a ledger that keeps roots alone, and not done again', async () => {
    await using lane = new KilledLane(twins)
    const resourceId = newId<AnchorId>()
    await putBy(lane, resourceId, cidOf('known'))
    await lane.plan('known', { resourceId })
    await lane.finish()
    expect(lane.node.onChain()).toHaveLength(1)
    await lane.expectAllOnce()
  })

  test('has failed where the ledger has something else for it', async () => {
    await using lane = new KilledLane(twins)
    const resourceId = newId<AnchorId>()
    await putBy(lane, resourceId, cidOf('another content'))
    const id = await lane.plan('known', { resourceId })
    await lane.finish()
    expect(await lane.stateOf(id)).toBe('failed')
    expect(lane.node.onChain()).toHaveLength(1)
  })
})
