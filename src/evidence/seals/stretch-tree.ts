import { ChunkedTree, rootOfChunks } from '../../ledgers/merkle/chunked-tree.ts'
import { readLeaves, type SealedStore } from './stretch-leaves.ts'

/** A piece of event time of one stream: [startUs, endUs). */
export interface Stretch {
  readonly streamId: string
  readonly startUs: number
  readonly endUs: number
}

/** 1,024 leaves, or the rest of them: as much as is read again for a path. */
export interface Chunk {
  readonly root: Buffer
  /** Time of its first leaf. */
  readonly firstUs: number
  /** How many leaves of the chunks before have that same time. */
  readonly skip: number
}

/** A tree over what was stored of a stretch. */
export interface StretchTree {
  readonly count: number
  /** Hex. */
  readonly root: string
  readonly chunks: readonly Chunk[]
}

export interface TreeNeeds {
  readonly signal?: AbortSignal
  /** Awaited between two pages: lets others have their turn. */
  readonly turn?: () => Promise<void>
}

/**
 * Reads what is stored of a stretch, page by page, and makes its tree.
 *
 * @throws TooManyAtOnce; DomainError as `query` does; the reason of the signal
 */
export async function treeOfStretch(
  store: SealedStore,
  stretch: Stretch,
  { signal, turn }: TreeNeeds = {},
): Promise<StretchTree> {
  const tree = new ChunkedTree()
  const starts: Omit<Chunk, 'root'>[] = []
  let [lastUs, ofTime] = [-1, 0]
  const betweenPages = async () => {
    await turn?.()
    signal?.throwIfAborted()
  }
  await readLeaves(store, { ...stretch, betweenPages }, (timestampUs, text) => {
    if (timestampUs !== lastUs) [lastUs, ofTime] = [timestampUs, 0]
    if (tree.add(text)) starts.push({ firstUs: timestampUs, skip: ofTime })
    ofTime++
    return false
  })
  const roots = tree.chunkRoots()
  const chunks = starts.map((start, index) => ({ root: roots[index] as Buffer, ...start }))
  return { count: tree.count, root: rootOfChunks(roots), chunks }
}
