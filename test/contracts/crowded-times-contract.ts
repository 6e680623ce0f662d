import { describe, expect, test } from 'vitest'
import { LeafPaths } from '../../src/evidence/seals/leaf-paths.ts'
import type { Leaf, SealedStore } from '../../src/evidence/seals/stretch-leaves.ts'
import { type StretchTree, treeOfStretch } from '../../src/evidence/seals/stretch-tree.ts'
import { leavesOfChunk as chunkSize } from '../../src/ledgers/merkle/chunked-tree.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import type { OpenNewStore } from './open-store.ts'

/** What paths of readings promise where many have one time, on every store. */
export function crowdedTimesContract(open: OpenNewStore): void {
  describe('the path of one of many readings of a time', () => pathContract(open))
}

function pathContract(open: OpenNewStore): void {
  test('is another one for each of several readings with one text, also over the end of a chunk', async () => {
    await using opened = await open()
    const early = Array.from({ length: chunkSize - 2 }, (_, at) => numbered(marchUs + at, at))
    const equal = Array.from({ length: 5 }, () => numbered(marchUs + chunkSize, 1))
    await ship(opened.store, [...early, ...equal, numbered(marchUs + chunkSize, 2)])
    const tree = await treeOf(opened.store, boiler)
    const leaf = leafOf(marchUs + chunkSize, 1)
    const paths = new LeafPaths(opened.store, { ...boiler, ...tree })

    const found = await Promise.all([0, 1, 2, 3, 4].map((nth) => paths.path(leaf, nth)))

    const indexes = found.map((one) => 'path' in one && one.path.index)
    expect(indexes).toEqual([0, 1, 2, 3, 4].map((nth) => chunkSize - 2 + nth))
    for (const one of found) {
      const root = 'path' in one && rootBy(leafHash(leaf.text), one.path)?.toString('hex')
      expect(root).toBe(tree.root)
    }
    expect(await paths.path(leaf, 5)).toEqual({ problem: 'neighbours_gone' })
  })

  test('is found for many readings of one time by reading once', async () => {
    await using opened = await open()
    const leaves = Array.from({ length: 5_000 }, (_, at) => leafOf(marchUs, at))
    await ship(
      opened.store,
      leaves.map((_, at) => numbered(marchUs, at)),
    )
    const tree = await treeOf(opened.store, boiler)
    let queries = 0
    const counting: SealedStore = {
      query: async (query) => {
        queries++
        return await opened.store.query(query)
      },
    }
    const queriesOf = async (count: number) => {
      queries = 0
      const paths = new LeafPaths(counting, { ...boiler, ...tree })
      const found = await Promise.all(leaves.slice(0, count).map((leaf) => paths.path(leaf)))
      expect(found.every((one) => 'path' in one)).toBe(true)
      return queries
    }

    const all = await queriesOf(5_000)

    expect(all).toBeGreaterThan(0)
    expect(all).toBeLessThan(6)
    expect(await queriesOf(1)).toBeLessThanOrEqual(all)
  })

  test('is not looked for among tens of thousands of readings of one time', async () => {
    await using opened = await open()
    const long = 'x'.repeat(60_000)
    const notes = Array.from({ length: 80 }, (_, at) => ({ name: `${at} ${long}` }))
    const shape = shapeOf({ name: { type: 'string' } })
    await ship(
      opened.store,
      notes.map((values) => storedReading({ timestampUs: marchUs, shape, values })),
    )
    const tree = await treeOf(opened.store, boiler)
    expect(tree.count).toBe(80)
    const [values = {}] = notes
    const leaf = {
      timestampUs: marchUs,
      text: readingText('boiler', { timestampUs: marchUs, values }),
    }

    expect(await new LeafPaths(opened.store, { ...boiler, ...tree }).path(leaf)).toEqual({
      problem: 'too_many_at_once',
    })
  })
}

const boiler = { streamId: 'boiler', startUs: marchUs, endUs: marchUs + hourUs }

/** As the sealer does it: late readings are in their place first. */
async function treeOf(store: TimeSeriesStore, stretch: typeof boiler): Promise<StretchTree> {
  await store.placeLate?.(stretch.streamId)
  return await treeOfStretch(store, stretch, {})
}

function numbered(timestampUs: number, temperature: number): ShippedReading {
  return storedReading({ timestampUs, values: { temperature } })
}

function leafOf(timestampUs: number, temperature: number): Leaf {
  return { timestampUs, text: readingText('boiler', { timestampUs, values: { temperature } }) }
}
