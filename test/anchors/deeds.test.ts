import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchLeavesMax, planDeeds } from '../../src/anchors/pursuit/deeds.ts'
import type { WaitingAnchor } from '../../src/anchors/pursuit/open-work.ts'
import { leafHash, pathTo, rootBy } from '../../src/ledgers/merkle/merkle.ts'

function waiting(
  number: number,
  kind: WaitingAnchor['kind'],
  begunAtUs = 0,
  leaves = 1,
): WaitingAnchor {
  const id = `anchor-${number}`
  return {
    number,
    id,
    resourceId: `resource-${number}`,
    kind,
    uri: kind === 'nft' ? 'ipfs://bafy' : null,
    assetCode: kind === 'record' ? 'GOLD' : null,
    asset: undefined,
    begunAtUs,
    isEarlier: false,
    leaves: Array.from({ length: leaves }, (_, at) => ({
      intentId: id,
      cid: `cid-${number}-${at}`,
    })),
  }
}

const roots = (count: number, begunAtUs = 0) =>
  Array.from({ length: count }, (_, at) => waiting(at + 1, 'root', begunAtUs))

describe('what is signed of what waits', () => {
  it('is a transaction each for tokens and records, and one for all others whose wait is over', () => {
    const all = [waiting(1, 'nft', 0, 4), ...roots(5), waiting(9, 'record')]
    const { deeds } = planDeeds(all, { nowUs: 50, batchWaitUs: 50, room: 10 })
    expect(deeds.map(({ deed }) => deed.kind)).toEqual(['nft', 'record', 'root'])
    expect(deeds.map(({ deed }) => deed.leaves.length)).toEqual([4, 1, 5])
    expect(deeds.map(({ deed }) => deed.uri)).toEqual(['ipfs://bafy', undefined, undefined])
    const resources = deeds.map(({ deed }) => deed.resourceId)
    expect(resources).toEqual(['resource-1', undefined, undefined])
  })

  it('collects leaves until the first of them has waited, and says when that is', () => {
    const plan = planDeeds(roots(5, 100), { nowUs: 149, batchWaitUs: 50, room: 10 })
    expect(plan).toEqual({ deeds: [], dueAtUs: 150 })
    const due = planDeeds(roots(5, 100), { nowUs: 150, batchWaitUs: 50, room: 10 })
    expect(due.deeds).toHaveLength(1)
    expect(due.dueAtUs).toBe(Number.POSITIVE_INFINITY)
  })

  it('closes a batch that is full at once', () => {
    const rules = { nowUs: 0, batchWaitUs: 1_000_000, room: 10 }
    const { deeds, dueAtUs } = planDeeds(roots(batchLeavesMax + 1), rules)
    expect(deeds.map(({ anchors }) => anchors.length)).toEqual([batchLeavesMax])
    expect(dueAtUs).toBe(1_000_000)
  })

  it('has every anchor once at most, with the place of its first leaf, and no more than there is room for', () => {
    const kinds = fc.constantFrom<WaitingAnchor['kind']>('nft', 'record', 'root')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(kinds, fc.integer({ min: 1, max: 4 })), { maxLength: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (given, room) => {
          const all = given.map(([kind, leaves], at) => waiting(at, kind, 0, leaves))
          const { deeds } = planDeeds(all, { nowUs: 50, batchWaitUs: 50, room })
          expect(deeds.length).toBeLessThanOrEqual(room)
          const ids = deeds.flatMap(({ anchors }) => anchors.map(({ id }) => id))
          expect(new Set(ids).size).toBe(ids.length)
          for (const { deed, anchors } of deeds) {
            const hashes = deed.leaves.map(({ cid }) => leafHash(cid))
            for (const { id, firstLeaf } of anchors) {
              expect(deed.leaves[firstLeaf]?.intentId).toBe(id)
              const leaf = hashes[firstLeaf] ?? Buffer.alloc(0)
              expect(rootBy(leaf, pathTo(firstLeaf, hashes))?.toString('hex')).toBe(deed.root)
            }
          }
        },
      ),
    )
  })

  it('names the same batch by the same intent, and another by another', () => {
    const rules = { nowUs: 50, batchWaitUs: 50, room: 10 }
    const intentOf = (count: number) => planDeeds(roots(count), rules).deeds[0]?.deed.intentId
    expect(intentOf(5)).toBe(intentOf(5))
    expect(intentOf(5)).not.toBe(intentOf(4))
  })
})
