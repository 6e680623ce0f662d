import { ChunkLeaves, leavesOfChunk, pathInChunks } from '../../ledgers/merkle/chunked-tree.ts'
import { leafHash, type MerklePath } from '../../ledgers/merkle/merkle.ts'
import { type Leaf, readLeaves, type SealedStore, TooManyAtOnce } from './stretch-leaves.ts'
import type { Chunk, Stretch, StretchTree } from './stretch-tree.ts'

/**
 * The way from a leaf to the root of a seal; or why it cannot be found any more: readings that were sealed with it
 * are not stored any more or others have come between them, or too many have one time.
 */
export type LeafPath =
  | { readonly path: MerklePath }
  | { readonly problem: 'neighbours_gone' | 'too_many_at_once' }

/** Finds the path of a reading by reading the chunk again that it was sealed in. */
export async function leafPath(
  store: SealedStore,
  stretch: Stretch,
  tree: StretchTree,
  leaf: Leaf,
): Promise<LeafPath> {
  try {
    const chunk = await chunkOf(store, stretch, tree, leaf)
    const path =
      chunk === undefined ? undefined : await pathIn(store, stretch, tree, { chunk, leaf })
    return path ? { path } : { problem: 'neighbours_gone' }
  } catch (error) {
    if (error instanceof TooManyAtOnce) return { problem: 'too_many_at_once' }
    throw error
  }
}

/** Which chunk a leaf is in, by its time, and by its place among those of its time where these are in several. */
async function chunkOf(
  store: SealedStore,
  stretch: Stretch,
  { chunks }: StretchTree,
  { timestampUs, text }: Leaf,
): Promise<number | undefined> {
  const before = chunks.findLastIndex(({ firstUs }) => firstUs < timestampUs)
  const next = chunks[before + 1]
  if (next?.firstUs !== timestampUs) return before < 0 ? undefined : before
  const ofTime = { ...stretch, startUs: timestampUs, endUs: timestampUs + 1 }
  let [place, texts] = [-1, 0]
  await readLeaves(store, ofTime, (_, other) => {
    if (other === text) place = texts
    texts++
    return place >= 0
  })
  if (place < 0) return undefined
  const last = chunks.findLastIndex(({ firstUs, skip }) => {
    return firstUs === timestampUs && skip <= place
  })
  return last < 0 ? before : last
}

async function pathIn(
  store: SealedStore,
  stretch: Stretch,
  { chunks, count }: StretchTree,
  { chunk, leaf }: { readonly chunk: number; readonly leaf: Leaf },
): Promise<MerklePath | undefined> {
  const kept = chunks[chunk] as Chunk
  const size = Math.min(leavesOfChunk, count - chunk * leavesOfChunk)
  // All of a chunk come before the first one of the next, or at its time.
  const next = chunks[chunk + 1]
  const endUs = next === undefined ? stretch.endUs : next.firstUs + 1
  const found = await leavesFrom(store, { ...stretch, endUs }, { ...kept, size })
  if (found.count !== size || !found.root().equals(kept.root)) return undefined
  const leaves = found.leaves()
  const wanted = leafHash(leaf.text)
  const index = leaves.findIndex((hash) => hash.equals(wanted))
  if (index < 0) return undefined
  return pathInChunks({ leaves, index, chunk, roots: chunks.map(({ root }) => root), count })
}

/** The hashes of a chunk's leaves, as far as they are stored still. */
async function leavesFrom(
  store: SealedStore,
  { streamId, endUs }: Stretch,
  { firstUs, skip, size }: Omit<Chunk, 'root'> & { readonly size: number },
): Promise<ChunkLeaves> {
  const chunk = new ChunkLeaves()
  let skipped = 0
  // One more than a chunk: with it all of the last time are known to be there.
  const limit = leavesOfChunk + 1
  await readLeaves(store, { streamId, startUs: firstUs, endUs, limit }, (_, text) => {
    if (skipped < skip) skipped++
    else chunk.add(text)
    return chunk.count === size
  })
  return chunk
}
