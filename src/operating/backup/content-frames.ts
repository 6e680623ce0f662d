import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../../core/errors.ts'
import { isCid } from '../../files/store/content-name.ts'
import { DamagedBackup } from './manifest.ts'

/** What is packed at once: thousands of small contents share that. */
const pieceBytes = 256 * 1024

/** A line has a CID, a digest and two numbers; what claims to be longer was not written by us. */
const lineBytesMax = 1_024

const newline = 0x0a

/** A content as the state knows it. */
export interface KnownContent {
  readonly cid: string
  /** Bytes. */
  readonly size: number
  /** Hex. */
  readonly sha256: string
}

/** What the line before the bytes of a content says. */
export interface PackedContent extends KnownContent {
  /** Bytes that follow: other than `size` when its file was damaged; null when there was none. */
  readonly bytes: number | null
}

/** A content as it comes out again; its bytes can be read until the next one is asked for. */
export interface UnpackedContent extends PackedContent {
  readonly content: AsyncIterable<Uint8Array>
}

/** Lines of JSON that say what there is, in pieces. */
export function* contentLines(contents: Iterable<KnownContent>): Generator<Uint8Array> {
  const pieces = new Pieces()
  for (const { cid, size, sha256 } of contents) yield* pieces.add(lineOf({ cid, size, sha256 }))
  yield* pieces.rest()
}

/**
 * Contents one after the other, in pieces that the next one overwrites: a line of JSON for each, and
 * its bytes. They are read by the calling thread: the pool of threads belongs to the store.
 *
 * @param pathOf the path of the file of a content
 * @param onContent called with each, before it is read
 */
export function* contentFrames(
  contents: Iterable<KnownContent>,
  pathOf: (cid: string) => string,
  onContent: (content: PackedContent) => void,
): Generator<Uint8Array> {
  const pieces = new Pieces()
  for (const { cid, size, sha256 } of contents) {
    const file = openIfThere(pathOf(cid))
    try {
      const bytes = file === undefined ? null : fstatSync(file).size
      const packed = { cid, size, sha256, bytes }
      onContent(packed)
      yield* pieces.add(lineOf(packed))
      if (file !== undefined) yield* pieces.addFile(file, packed)
    } finally {
      if (file !== undefined) closeSync(file)
    }
  }
  yield* pieces.rest()
}

/** Puts what is short together, and cuts what is long. */
class Pieces {
  readonly #piece = Buffer.allocUnsafe(pieceBytes)
  #filled = 0

  get #room(): number {
    return pieceBytes - this.#filled
  }

  *add(bytes: Uint8Array): Generator<Uint8Array> {
    if (bytes.byteLength > this.#room) yield* this.rest()
    this.#piece.set(bytes, this.#filled)
    this.#filled += bytes.byteLength
  }

  /** @throws Error that names the content, also when it has fewer bytes than when it was opened */
  *addFile(
    file: number,
    { cid, bytes }: Pick<PackedContent, 'cid' | 'bytes'>,
  ): Generator<Uint8Array> {
    for (let left = bytes ?? 0; left > 0; ) {
      if (this.#room === 0) yield* this.rest()
      const wanted = Math.min(left, this.#room)
      const read = this.#read(file, wanted, cid)
      if (read === 0) throw new Error(`content ${cid} became shorter while it was copied`)
      this.#filled += read
      left -= read
    }
  }

  #read(file: number, bytesMax: number, cid: string): number {
    try {
      return readSync(file, this.#piece, this.#filled, bytesMax, null)
    } catch (error) {
      throw new Error(`content ${cid} cannot be read: ${messageOf(error)}`, { cause: error })
    }
  }

  *rest(): Generator<Uint8Array> {
    if (this.#filled > 0) yield this.#piece.subarray(0, this.#filled)
    this.#filled = 0
  }
}

function lineOf(content: KnownContent | PackedContent): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`)
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** The contents again, each with its bytes. @throws DamagedBackup */
export async function* contentsOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<UnpackedContent> {
  const source = new LinesAndBytes(chunks)
  try {
    for (;;) {
      const line = await source.line()
      if (line === undefined) return
      const packed = parsedLine(line)
      const left = { bytes: packed.bytes ?? 0 }
      yield { ...packed, content: source.take(left) }
      for await (const _ of source.take(left)) continue
    }
  } finally {
    await source.close()
  }
}

/** Lines, and between them as many bytes as one asks for. */
class LinesAndBytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array()

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Undefined: there is nothing more. */
  async line(): Promise<string | undefined> {
    let line = Buffer.alloc(0)
    for (;;) {
      const end = this.#chunk.indexOf(newline)
      const piece = end === -1 ? this.#chunk : this.#chunk.subarray(0, end)
      if (line.length + piece.length > lineBytesMax) throw impossible()
      line = Buffer.concat([line, piece])
      this.#chunk = this.#chunk.subarray(piece.length + (end === -1 ? 0 : 1))
      if (end !== -1) return line.toString('utf8')
      if (await this.#next()) continue
      if (line.length > 0) throw impossible()
      return undefined
    }
  }

  /** The next bytes; `left` says how many of them are still to come. */
  async *take(left: { bytes: number }): AsyncGenerator<Uint8Array> {
    while (left.bytes > 0) {
      if (this.#chunk.length === 0 && !(await this.#next())) throw impossible()
      const piece = this.#chunk.subarray(0, left.bytes)
      this.#chunk = this.#chunk.subarray(piece.length)
      left.bytes -= piece.length
      yield piece
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done !== true) this.#chunk = value
    return done !== true
  }
}

/** A CID is never a path: a crafted backup leads to no file outside. */
function parsedLine(line: string): PackedContent {
  let parsed: { readonly [Key in keyof PackedContent]?: unknown } | null
  try {
    parsed = JSON.parse(line) as typeof parsed
  } catch (error) {
    throw impossible(error)
  }
  const { cid, size, sha256, bytes = null } = parsed ?? {}
  const isSound =
    typeof cid === 'string' &&
    isCid(cid) &&
    isCount(size) &&
    typeof sha256 === 'string' &&
    isBytes(bytes)
  if (!isSound) throw impossible()
  return { cid, size, sha256, bytes }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isBytes(value: unknown): value is number | null {
  return value === null || isCount(value)
}

function impossible(cause?: unknown): DamagedBackup {
  return new DamagedBackup('the files of the backup are not as they were written', { cause })
}
