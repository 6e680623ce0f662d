import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DomainError, messageOf } from '../../core/errors.ts'
import { type ParquetColumn, writeParquet } from './parquet.ts'

/** Bytes that are read at once for a digest. */
const pieceBytes = 256 * 1024

/** Longest line that is reckoned with where none was seen: what DuckDB reads lines with, too. */
const lineBytesMin = 1024 * 1024

/** The ending of the names of files that are not finished. */
const draftEnding = '.draft'
const linesEnding = '.lines'

export interface PartPlan {
  readonly path: string
  /** The first bytes of the file, or of the lines that Parquet is made of. */
  readonly head: string
  /** Lines of CSV with these columns become Parquet; without any the lines are the file. */
  readonly parquet: readonly ParquetColumn[] | undefined
}

export interface WrittenPart {
  readonly bytes: number
  readonly sha256: string
}

/**
 * A file that is written line by line, and appears under its name when all of it is on disk.
 *
 * @throws DomainError `disk_full` from any of its functions
 */
export class PartFile {
  readonly #plan: PartPlan
  readonly #linesPath: string
  readonly #file: number
  #longestBytes = lineBytesMin

  constructor(plan: PartPlan) {
    this.#plan = plan
    this.#linesPath = plan.path + (plan.parquet === undefined ? draftEnding : linesEnding)
    this.#file = noticingFullDisk(() => openSync(this.#linesPath, 'w', 0o600))
    this.write(Buffer.from(plan.head))
  }

  write(lines: Uint8Array): void {
    this.#longestBytes = Math.max(this.#longestBytes, lines.byteLength)
    noticingFullDisk(() => {
      for (let at = 0; at < lines.byteLength; ) at += writeSync(this.#file, lines, at)
    })
  }

  async finish(): Promise<WrittenPart> {
    const { path, parquet } = this.#plan
    closeSync(this.#file)
    try {
      if (parquet !== undefined) {
        const lines = { path: this.#linesPath, longestBytes: this.#longestBytes }
        await writeParquet(lines, parquet, path + draftEnding)
        rmSync(this.#linesPath)
      }
      const sha256 = syncedDigestOf(path + draftEnding)
      renameSync(path + draftEnding, path)
      syncFolder(dirname(path))
      return { bytes: statSync(path).size, sha256 }
    } catch (error) {
      this.#remove()
      throw asFullDisk(error)
    }
  }

  drop(): void {
    closeSync(this.#file)
    this.#remove()
  }

  #remove(): void {
    rmSync(this.#linesPath, { force: true })
    rmSync(this.#plan.path + draftEnding, { force: true })
  }
}

/** SHA-256 of a file, in hex; undefined when there is none. */
export function digestOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    return digestOfOpen(file)
  } finally {
    closeSync(file)
  }
}

/** SHA-256 of a file, in hex; the file is made durable with it. */
function syncedDigestOf(path: string): string {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
    return digestOfOpen(file)
  } finally {
    closeSync(file)
  }
}

function digestOfOpen(file: number): string {
  const digest = createHash('sha256')
  const piece = Buffer.allocUnsafe(pieceBytes)
  for (;;) {
    const length = readSync(file, piece)
    if (length === 0) return digest.digest('hex')
    digest.update(piece.subarray(0, length))
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function noticingFullDisk<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    throw asFullDisk(error)
  }
}

/** DuckDB tells it by the text of the system only. */
function asFullDisk(error: unknown): unknown {
  const message = messageOf(error)
  if (!/ENOSPC|EDQUOT|No space left|quota exceeded/i.test(message)) return error
  return new DomainError('disk_full', 'there is no space left on the disk', { cause: error })
}
