import { ChunkLeaves, leavesOfChunk, pathInChunks } from '../../ledgers/merkle/chunked-tree.ts'
import { leafHash, type MerklePath } from '../../ledgers/merkle/merkle.ts'
import { type Leaf, readLeaves, type SealedStore, TooManyAtOnce } from './stretch-leaves.ts'
import type { Chunk, Stretch, StretchTree } from './stretch-tree.ts'

/**
 * Characters of all texts of one time that are read for a path: tens of thousands of readings. A seal may have more of
 * them, but others wait while a path is looked for.
 */
const charactersMax = 4 * 1024 * 1024

/**
 * The way from a leaf to the root of a seal; or why it cannot be found any more: readings that were sealed with it
 * are not stored any more or others have come between them, or too many have one time.
 */
export type LeafPath =
  | { readonly path: MerklePath }
  | { readonly problem: 'neighbours_gone' | 'too_many_at_once' }

/** A seal with what its paths are made of. */
export interface SealedTree extends Stretch, StretchTree {}

/** Finds paths of readings by reading the chunks again that they were sealed in: each once, for all readings of one time. */
export class LeafPaths {
  readonly #store: SealedStore
  readonly #seal: SealedTree
  readonly #times = new Map<number, Promise<TextsOfTime>>()
  /** Hashes of the leaves of chunks that are stored as they were sealed. */
  readonly #chunks = new Map<number, Promise<readonly Buffer[] | undefined>>()

  constructor(store: SealedStore, seal: SealedTree) {
    this.#store = store
    this.#seal = seal
  }

  /**
   * @param nth which of the readings with this time and text: those of several topics are equal, and have a leaf each
   * @throws DomainError as `query` does
   */
  async path(leaf: Leaf, nth = 0): Promise<LeafPath> {
    try {
      const place = await this.#placeOf(leaf, nth)
      const path = place && (await this.#pathFrom(place, leaf, nth))
      return path ? { path } : { problem: 'neighbours_gone' }
    } catch (error) {
      if (error instanceof TooManyAtOnce) return { problem: 'too_many_at_once' }
      throw error
    }
  }

  /** Which chunk a leaf is in, by its time, and by its place among those of its time where these are in several. */
  async #placeOf({ timestampUs, text }: Leaf, nth: number): Promise<LeafPlace | undefined> {
    const { chunks } = this.#seal
    const before = chunks.findLastIndex(({ firstUs }) => firstUs < timestampUs)
    const next = chunks[before + 1]
    const inBefore = before < 0 ? undefined : { chunk: before, index: undefined }
    if (next?.firstUs !== timestampUs) return inBefore
    const { places } = await this.#ofTime(timestampUs)
    const first = places.get(text)
    if (first === undefined) return undefined
    const place = first + nth
    const chunk = chunks.findLastIndex(({ firstUs, skip }) => {
      return firstUs === timestampUs && skip <= place
    })
    return chunk < 0 ? inBefore : { chunk, index: place - (chunks[chunk] as Chunk).skip }
  }

  async #ofTime(timestampUs: number): Promise<TextsOfTime> {
    return await kept(this.#times, timestampUs, async () => {
      const { streamId } = this.#seal
      const ofTime = { streamId, startUs: timestampUs, endUs: timestampUs + 1, charactersMax }
      const [texts, places]: [string[], Map<string, number>] = [[], new Map()]
      await readLeaves(this.#store, ofTime, (_, text) => {
        if (!places.has(text)) places.set(text, texts.length)
        texts.push(text)
        return false
      })
      return { texts, places }
    })
  }

  async #pathFrom(place: LeafPlace, { text }: Leaf, nth: number): Promise<MerklePath | undefined> {
    const { chunks, count } = this.#seal
    const { chunk } = place
    const leaves = await kept(this.#chunks, chunk, async () => await this.#leavesOf(chunk))
    if (!leaves) return undefined
    const wanted = leafHash(text)
    // Equal texts follow each other.
    const index = place.index ?? leaves.findIndex((hash) => hash.equals(wanted)) + nth
    if (leaves[index]?.equals(wanted) !== true) return undefined
    return pathInChunks({ leaves, index, chunk, roots: chunks.map(({ root }) => root), count })
  }

  /** The hashes of a chunk's leaves; undefined where they are not stored as they were sealed. */
  async #leavesOf(chunk: number): Promise<readonly Buffer[] | undefined> {
    const { streamId, endUs, chunks, count } = this.#seal
    const { root, firstUs, skip } = chunks[chunk] as Chunk
    const size = Math.min(leavesOfChunk, count - chunk * leavesOfChunk)
    // All of a chunk come before the first one of the next, or at its time.
    const next = chunks[chunk + 1]
    const found = new ChunkLeaves()
    if (next?.firstUs === firstUs) {
      const { texts } = await this.#ofTime(firstUs)
      for (const text of texts.slice(skip, skip + size)) found.add(text)
      return leavesIn(found, size, root)
    }
    let skipped = 0
    const lastUs = next === undefined ? endUs : next.firstUs + 1
    // One more than a chunk: with it all of the last time are known to be there. Of a time in several chunks all are read.
    const isCrowded = skip > 0 || (next?.skip ?? 0) > 0
    const query = {
      ...(!isCrowded && { limit: leavesOfChunk + 1 }),
      streamId,
      startUs: firstUs,
      endUs: lastUs,
      charactersMax,
    }
    await readLeaves(this.#store, query, (_, text) => {
      if (skipped < skip) skipped++
      else found.add(text)
      return found.count === size
    })
    return leavesIn(found, size, root)
  }
}

function leavesIn(found: ChunkLeaves, size: number, root: Buffer): readonly Buffer[] | undefined {
  if (found.count !== size || !found.root().equals(root)) return undefined
  return found.leaves()
}

/** What is stored of a time. */
interface TextsOfTime {
  /** In their order. */
  readonly texts: readonly string[]
  /** Where each text is among them, the first one of equal ones. */
  readonly places: ReadonlyMap<string, number>
}

interface LeafPlace {
  readonly chunk: number
  /** Within the chunk, where that follows from the place among those of one time. */
  readonly index: number | undefined
}

/** What is made once for each key, also for those who ask while it is being made. */
function kept<Key, Value>(
  made: Map<Key, Promise<Value>>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const known = made.get(key) ?? make()
  made.set(key, known)
  return known
}
