import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LeafPaths } from '../../src/evidence/seals/leaf-paths.ts'
import type { Leaf } from '../../src/evidence/seals/stretch-leaves.ts'
import { type StretchTree, treeOfStretch } from '../../src/evidence/seals/stretch-tree.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { anyNotes } from '../support/any-readings.ts'
import { inOrder, ListedStream } from '../support/listed-stream.ts'
import { hourUs, marchUs, remove, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/** Leaves of a chunk, as `leavesOfChunk` has them: what is handed out depends on it, so it never changes. */
const chunkSize = 1_024

/** What trees of stretches promise on every store. Each adapter's test calls this once, with a real store. */
export function stretchTreeContract(open: OpenNewStore): void {
  describe('the tree of a stretch', () => treeContract(open))
  describe('the path of a reading', () => pathContract(open))
}

function treeContract(open: OpenNewStore): void {
  test('is that of the texts of what is stored, whatever came, came late or twice, or was removed', async () => {
    const offset = fc.nat(5)
    const steps = fc.array(
      fc.oneof(
        { weight: 3, arbitrary: anyNotes.map((notes) => ({ notes })) },
        // Again: with the same digest it is a duplicate, with another one it is stored a second time.
        { weight: 1, arbitrary: fc.boolean().map((isOther) => ({ isOther })) },
        { weight: 1, arbitrary: fc.tuple(offset, offset).map((removed) => ({ removed })) },
      ),
      { minLength: 1, maxLength: 5 },
    )
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const stretch = { ...inMarch, streamId: newStream() }
          const model = new ListedStream(store, stretch.streamId)
          for (const step of all) {
            if ('notes' in step) await model.send(step.notes)
            else if ('isOther' in step) await model.repeat(step.isOther)
            else await model.remove(step.removed)

            const tree = await treeOf(store, stretch)
            expect(tree).toMatchObject(expectedTree(model.leaves(stretch)))
          }
        }),
        { numRuns: 15 },
      )
    })
  })

  test('is another one with any changed value, order or count', async () => {
    await withStreams(open, async ({ store }, newStream) => {
      const change = fc.constantFrom('value', 'time', 'order', 'less', 'more')
      await fc.assert(
        fc.asyncProperty(anyNotes, change, fc.nat(), async (notes, kind, seed) => {
          const stretch = { ...inMarch, streamId: newStream() }
          const model = new ListedStream(store, stretch.streamId)
          await model.send(notes)
          const texts = model.leaves(stretch).map(({ text }) => text)
          const changed = changedTexts(texts, kind, seed)
          fc.pre(changed !== undefined && changed.join('\n') !== texts.join('\n'))

          const tree = await treeOf(store, stretch)

          expect(tree.root).toBe(MerkleTree.over(texts).root)
          expect(tree.root).not.toBe(MerkleTree.over(changed).root)
        }),
        { numRuns: 15 },
      )
    })
  })

  test('covers the start of the stretch and not its end', async () => {
    await using opened = await open()
    const times = [marchUs - 1, marchUs, marchUs + hourUs - 1, marchUs + hourUs]
    await ship(
      opened.store,
      times.map((timestampUs) => storedReading({ timestampUs })),
    )

    const leaves = times.slice(1, 3).map((timestampUs) => leafOf(timestampUs, 21.5))
    expect(await treeOf(opened.store, boiler)).toMatchObject(expectedTree(leaves))
  })

  test('has no chunks where nothing is stored', async () => {
    await using opened = await open()
    const nothing = { count: 0, root: MerkleTree.over([]).root, chunks: [] }
    expect(await treeOf(opened.store, boiler)).toEqual(nothing)
  })

  test('of more than a page has runs of one time that go on behind the end of a page', async () => {
    await using opened = await open()
    const all = Array.from({ length: 20_400 }, (_, at) => marchUs + Math.floor(at / 600) * 1_000)
    await ship(opened.store, all.map(numbered))
    let turns = 0

    const tree = await treeOfStretch(opened.store, boiler, {
      turn: async () => void turns++,
    })

    expect(tree).toMatchObject(expectedTree(all.map((timeUs, at) => leafOf(timeUs, at))))
    expect(turns).toBe(2)
  })

  test('is not made any further once its signal is aborted', async () => {
    await using opened = await open()
    await ship(
      opened.store,
      Array.from({ length: 10_001 }, (_, at) => numbered(marchUs + at, at)),
    )
    const stop = new AbortController()
    const turn = async () => stop.abort(new Error('stopped'))
    const made = treeOfStretch(opened.store, boiler, { signal: stop.signal, turn })
    await expect(made).rejects.toThrow('stopped')
  })
}

function pathContract(open: OpenNewStore): void {
  test('leads to the root as long as the 1,024 readings around it are those of the seal', async () => {
    const change = fc.oneof(
      fc.record({ removed: fc.nat(2_600) }),
      // Before, among and behind the readings, also at times that others have.
      fc.record({ late: fc.integer({ min: -5, max: 2_700 }) }),
    )
    const sealedCase = fc.record({
      size: fc.constantFrom(1, 1_024, 1_025, 2_500),
      sameTime: fc.constantFrom(1, 3, 700, 3_000),
      changes: fc.array(change, { maxLength: 2 }),
      asked: fc.array(fc.nat(2_499), { minLength: 1, maxLength: 6 }),
    })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(sealedCase, async ({ size, sameTime, changes, asked }) => {
          const stretch = {
            streamId: newStream(),
            startUs: marchUs - hourUs,
            endUs: marchUs + hourUs,
          }
          const timeOf = (at: number) => marchUs + Math.floor(at / sameTime) * sameTime
          let live = Array.from({ length: size }, (_, at) =>
            leafOf(timeOf(at), at, stretch.streamId),
          )
          await ship(
            store,
            live.map((_, at) => ({ ...numbered(timeOf(at), at), streamId: stretch.streamId })),
          )
          const tree = await treeOf(store, stretch)
          const sealed = inOrder(live)
          expect(tree).toMatchObject(expectedTree(sealed))

          for (const [index, one] of changes.entries()) {
            if ('removed' in one) {
              const timestampUs = timeOf(one.removed)
              live = live.filter((leaf) => leaf.timestampUs !== timestampUs)
              await remove(store, {
                streamId: stretch.streamId,
                startUs: timestampUs,
                endUs: timestampUs + 1,
              })
            } else {
              const timestampUs = timeOf(one.late)
              live.push(leafOf(timestampUs, -1 - index, stretch.streamId))
              await ship(store, [
                { ...numbered(timestampUs, -1 - index), streamId: stretch.streamId },
              ])
            }
          }
          await store.placeLate?.(stretch.streamId)
          for (const at of asked) {
            const leaf = sealed[at % size] as Leaf
            const found = await new LeafPaths(store, { ...stretch, ...tree }).path(leaf)
            if (isReadable(tree, sealed, inOrder(live), leaf)) {
              expect(found).toEqual({
                path: MerkleTree.over(sealed.map(({ text }) => text)).path(at % size),
              })
            } else {
              expect(found).toEqual({ problem: 'neighbours_gone' })
            }
          }
        }),
        { numRuns: 15 },
      )
    })
  })

  test('leads to the root of both, where two readings have one text', async () => {
    await using opened = await open()
    await ship(opened.store, [numbered(marchUs, 1), numbered(marchUs, 1), numbered(marchUs, 2)])
    const tree = await treeOf(opened.store, boiler)

    expect(tree.count).toBe(3)
    await expectPath(opened.store, tree, leafOf(marchUs, 1))
  })

  test('is none of a reading that is not sealed', async () => {
    await using opened = await open()
    await ship(opened.store, [numbered(marchUs + 1, 1)])
    const tree = await treeOf(opened.store, boiler)

    for (const leaf of [leafOf(marchUs, 1), leafOf(marchUs + 1, 2), leafOf(marchUs + 2, 1)]) {
      const found = await new LeafPaths(opened.store, { ...boiler, ...tree }).path(leaf)
      expect(found).toEqual({ problem: 'neighbours_gone' })
    }
  })

  test('is none where the readings of one time are too many to be put in order', async () => {
    await using opened = await open()
    await ship(opened.store, [numbered(marchUs, 1)])
    const tree = await treeOf(opened.store, boiler)
    for (let at = 0; at < 34; at++) {
      await ship(opened.store, [
        storedReading({ timestampUs: marchUs, extra: { text: `${at}`.padEnd(1024 ** 2, 'x') } }),
      ])
    }
    await opened.store.placeLate?.(boiler.streamId)

    const found = await new LeafPaths(opened.store, { ...boiler, ...tree }).path(leafOf(marchUs, 1))
    expect(found).toEqual({ problem: 'too_many_at_once' })
    await expect(treeOf(opened.store, boiler)).rejects.toThrow('characters together')
  })
}

const inMarch = { startUs: marchUs, endUs: marchUs + hourUs }
const boiler = { ...inMarch, streamId: 'boiler' }

/** As the sealer does it: late readings are in their place first. */
async function treeOf(store: TimeSeriesStore, stretch: typeof boiler): Promise<StretchTree> {
  await store.placeLate?.(stretch.streamId)
  return await treeOfStretch(store, stretch, {})
}

function numbered(timestampUs: number, temperature: number): ShippedReading {
  return storedReading({ timestampUs, values: { temperature } })
}

function leafOf(timestampUs: number, temperature: number, streamId = 'boiler'): Leaf {
  return { timestampUs, text: readingText(streamId, { timestampUs, values: { temperature } }) }
}

/** The tree of some leaves, plainly computed. */
function expectedTree(leaves: readonly Leaf[]): StretchTree {
  const all = inOrder(leaves)
  const texts = all.map(({ text }) => text)
  const chunks: StretchTree['chunks'][number][] = []
  for (let from = 0; from < all.length; from += chunkSize) {
    const firstUs = all[from]?.timestampUs as number
    const skip = all.slice(0, from).filter(({ timestampUs }) => timestampUs === firstUs).length
    const root = MerkleTree.over(texts.slice(from, from + chunkSize)).root
    chunks.push({ root: Buffer.from(root, 'hex'), firstUs, skip })
  }
  return { count: all.length, root: MerkleTree.over(texts).root, chunks }
}

/** Whether what is stored now has the chunk of a leaf where the tree says that it begins. */
function isReadable(
  { chunks }: StretchTree,
  sealed: readonly Leaf[],
  live: readonly Leaf[],
  leaf: Leaf,
): boolean {
  const chunk = Math.floor(sealed.indexOf(leaf) / chunkSize)
  const kept = chunks[chunk]
  const texts = sealed.slice(chunk * chunkSize, (chunk + 1) * chunkSize).map(({ text }) => text)
  const from = live.findIndex(({ timestampUs }) => timestampUs >= (kept?.firstUs ?? 0))
  const now = live.slice(Math.max(from, 0) + (kept?.skip ?? 0)).slice(0, texts.length)
  return now.map(({ text }) => text).join('\n') === texts.join('\n')
}

async function expectPath(store: TimeSeriesStore, tree: StretchTree, leaf: Leaf): Promise<void> {
  const found = await new LeafPaths(store, { ...boiler, ...tree }).path(leaf)
  const root = 'path' in found && rootBy(leafHash(leaf.text), found.path)?.toString('hex')
  expect(root).toBe(tree.root)
}

type Change = 'value' | 'time' | 'order' | 'less' | 'more'

/** Texts with one change; undefined where there are too few for it. */
function changedTexts(
  texts: readonly string[],
  change: Change,
  seed: number,
): readonly string[] | undefined {
  const at = seed % texts.length
  const text = texts[at]
  if (text === undefined) return undefined
  switch (change) {
    case 'value':
      return texts.with(at, text.replace(/}}$/, ',"one":1}}'))
    case 'time':
      return texts.with(at, text.replace('Z"', '1Z"'))
    case 'order':
      return [...texts.slice(0, at), ...texts.slice(at).toReversed()]
    case 'less':
      return texts.toSpliced(at, 1)
    case 'more':
      return texts.toSpliced(at, 0, text)
    default:
      return change satisfies never
  }
}
