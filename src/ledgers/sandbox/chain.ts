import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { FilePlaces } from '../../core/file-places.ts'
import {
  type Block,
  BrokenChain,
  type ChainKeys,
  checkedBlock,
  emptyTip,
  lineOf,
  type Tip,
  tipAfter,
} from './block.ts'
import { ChainIndex, type IndexedBlock } from './chain-index.ts'
import { lineAt, linesFrom } from './chain-lines.ts'
import { chainFile, indexFile } from './files.ts'
import { isMissing, syncFolder } from './keys.ts'

export interface ChainNeeds {
  readonly folder: string
  readonly keys: ChainKeys
  /** Bytes of the file that were synced by this process: what stands behind them was never told of, and goes. */
  readonly goodBytes?: number | undefined
}

/** The blocks in the file, with an index to them. One process has it open. */
export class Chain implements AsyncDisposable {
  readonly #needs: ChainNeeds
  readonly #file: FileHandle
  readonly #index: ChainIndex
  readonly #places: FilePlaces
  #tip: Tip
  #bytes: number

  private constructor(needs: ChainNeeds, file: FileHandle, index: ChainIndex) {
    const last = index.last()
    this.#needs = needs
    this.#file = file
    this.#index = index
    this.#places = new FilePlaces([join(needs.folder, chainFile)])
    this.#tip = last?.tip ?? emptyTip
    this.#bytes = endOf(last)
  }

  /**
   * Reads what the index does not have yet, and no more. What a crash has left of a line is cut off.
   *
   * @throws BrokenChain; Error when the disk fails
   */
  static async open(needs: ChainNeeds): Promise<Chain> {
    const { folder, keys, goodBytes } = needs
    const index = ChainIndex.open(join(folder, indexFile))
    let file: FileHandle | undefined
    try {
      file = await openFile(folder, index.last() !== undefined)
      if (goodBytes !== undefined) await cutBack(file, goodBytes)
      await fitIndex(file, index, keys)
      await readRest(file, index, keys)
      await makeSure(file, index.last())
      await syncFolder(folder)
      return new Chain(needs, file, index)
    } catch (error) {
      index[Symbol.dispose]()
      await file?.close().catch(() => undefined)
      throw error
    }
  }

  get tip(): Tip {
    return this.#tip
  }

  /** Bytes of blocks that are on the disk. */
  get bytes(): number {
    return this.#bytes
  }

  get index(): ChainIndex {
    return this.#index
  }

  /**
   * Resolves once the block is on the disk. After a failure nothing is written with this object any more: a sync
   * that comes after one that failed says nothing of what was lost by then.
   */
  async append(block: Block): Promise<void> {
    const line = Buffer.from(`${lineOf(block)}\n`)
    const offset = this.#bytes
    for (let at = 0; at < line.length; ) {
      at += (await this.#file.write(line, at, line.length - at, offset + at)).bytesWritten
    }
    await this.#file.datasync()
    const problem = this.#places.problem()
    if (problem !== undefined) throw new Error(problem)
    this.#bytes += line.length
    const tip = tipAfter(block, this.#tip)
    this.#index.add(block, { tip, offset, bytes: line.length })
    this.#tip = tip
  }

  /** @throws BrokenChain when it is not what was written; RangeError when there is none */
  async block(height: number): Promise<Block> {
    const place = this.#index.block(height)
    if (!place) throw new RangeError(`there is no block ${height}`)
    const before = this.#index.block(height - 1)?.tip ?? emptyTip
    const line = await lineAt(this.#file, place)
    if (line === undefined) throw new BrokenChain(height, 'its line is not where it was written')
    const block = checkedBlock(line, before, this.#needs.keys)
    if (block.hash !== place.tip.hash) throw new BrokenChain(height, 'it is another one')
    return block
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#index[Symbol.dispose]()
    await this.#file.close().catch(() => undefined)
  }
}

/** @param isKnown whether there was a chain: another one is not begun in its place */
async function openFile(folder: string, isKnown: boolean): Promise<FileHandle> {
  const flags = isKnown ? constants.O_RDWR : constants.O_RDWR | constants.O_CREAT
  try {
    return await open(join(folder, chainFile), flags, 0o600)
  } catch (error) {
    if (isKnown && isMissing(error)) throw new Error(`${chainFile} is gone`, { cause: error })
    throw error
  }
}

/** Takes away what was written and not synced. */
async function cutBack(file: FileHandle, goodBytes: number): Promise<void> {
  const { size } = await file.stat()
  if (size < goodBytes) throw new Error(`${chainFile} was deleted, moved or replaced`)
  if (size === goodBytes) return
  await file.truncate(goodBytes)
  await file.sync()
}

function endOf(block: IndexedBlock | undefined): number {
  return block ? block.offset + block.bytes : 0
}

/**
 * Takes out of the index what the file does not have: it may be an older one, or have lost its end. What is there and
 * is not as it was is taken out, too, and found broken when it is read again.
 *
 * @throws BrokenChain, with the index as it was: whoever tries again is told the same
 */
async function fitIndex(file: FileHandle, index: ChainIndex, keys: ChainKeys): Promise<void> {
  const knownHeight = index.last()?.tip.height ?? 0
  let fitting = index.last()
  while (fitting && !(await isFitting(file, index, fitting, keys))) {
    fitting = index.block(fitting.tip.height - 1)
  }
  const height = fitting?.tip.height ?? 0
  if (height < knownHeight) await refuseCut(file, fitting, knownHeight)
  for (let known = knownHeight; known > height; known--) index.removeLast()
}

async function isFitting(
  file: FileHandle,
  index: ChainIndex,
  known: IndexedBlock,
  keys: ChainKeys,
): Promise<boolean> {
  const before = index.block(known.tip.height - 1)?.tip ?? emptyTip
  const line = await lineAt(file, known)
  return line !== undefined && isBlock(line, known.tip, before, keys)
}

/**
 * A block that was told of, as far as that is known, and whose line has lost its end is broken, and nothing that a crash
 * has left.
 *
 * @throws BrokenChain
 */
async function refuseCut(
  file: FileHandle,
  fitting: IndexedBlock | undefined,
  knownHeight: number,
): Promise<void> {
  let height = fitting?.tip.height ?? 0
  for await (const { isEnded } of linesFrom(file, endOf(fitting))) {
    if (isEnded) height++
    else if (height < knownHeight) throw new BrokenChain(height + 1, 'its line is cut off')
  }
}

function isBlock(line: string, { hash }: Tip, before: Tip, keys: ChainKeys): boolean {
  try {
    return checkedBlock(line, before, keys).hash === hash
  } catch {
    return false
  }
}

/** Reads what is behind the last block of the index into it, and cuts off what a crash has left. */
async function readRest(file: FileHandle, index: ChainIndex, keys: ChainKeys): Promise<void> {
  const last = index.last()
  let tip = last?.tip ?? emptyTip
  for await (const line of linesFrom(file, endOf(last))) {
    if (!line.isEnded) {
      await file.truncate(line.offset)
      await file.sync()
      return
    }
    const block = checkedBlock(line.text, tip, keys)
    tip = tipAfter(block, tip)
    index.add(block, { tip, offset: line.offset, bytes: line.bytes })
  }
}

/**
 * Writes the last block where it is once more, and syncs it: when a process ended after a sync that failed, it may be
 * in the memory of the system alone. Only the last one can be.
 */
async function makeSure(file: FileHandle, last: IndexedBlock | undefined): Promise<void> {
  if (!last) return
  const line = Buffer.allocUnsafe(last.bytes)
  const { bytesRead } = await file.read(line, 0, line.length, last.offset)
  if (bytesRead !== line.length) throw new Error('the last block could not be read')
  await file.write(line, 0, line.length, last.offset)
  await file.sync()
}
