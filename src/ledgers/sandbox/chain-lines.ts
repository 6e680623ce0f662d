import type { FileHandle } from 'node:fs/promises'
import { lineBytesMax } from './block.ts'

/** A line of the file. */
export interface ChainLine {
  /** Where it begins, in bytes. */
  readonly offset: number
  /** Bytes, with its end where it has one. */
  readonly bytes: number
  /** Without its end. */
  readonly text: string
  /** What a crash has left is not. */
  readonly isEnded: boolean
}

const pieceBytes = 256 * 1024
const lineEnd = 10

/**
 * The lines of a file from an offset on: one at a time is in memory.
 *
 * @throws RangeError when one is longer than any block
 */
export async function* linesFrom(file: FileHandle, offset: number): AsyncGenerator<ChainLine> {
  let kept: Buffer[] = []
  let keptBytes = 0
  let start = offset
  const line = (last: Buffer, isEnded: boolean): ChainLine => {
    const bytes = keptBytes + last.length + (isEnded ? 1 : 0)
    const text = decoded(kept.length === 0 ? last : Buffer.concat([...kept, last]))
    const made = { offset: start, bytes, text, isEnded }
    start += bytes
    kept = []
    keptBytes = 0
    return made
  }
  for (let at = offset; ; ) {
    const room = Buffer.allocUnsafe(pieceBytes)
    const { bytesRead } = await file.read(room, 0, room.length, at)
    if (bytesRead === 0) break
    at += bytesRead
    const piece = room.subarray(0, bytesRead)
    let from = 0
    for (let end = piece.indexOf(lineEnd); end !== -1; ) {
      yield line(piece.subarray(from, end), true)
      from = end + 1
      end = piece.indexOf(lineEnd, from)
    }
    if (from === bytesRead) continue
    kept.push(piece.subarray(from))
    keptBytes += bytesRead - from
    if (keptBytes > lineBytesMax) throw new RangeError('a line is longer than any block')
  }
  if (keptBytes > 0) yield line(Buffer.alloc(0), false)
}

/** The line at a place; undefined where the file has no whole line there. */
export async function lineAt(
  file: FileHandle,
  { offset, bytes }: Pick<ChainLine, 'offset' | 'bytes'>,
): Promise<string | undefined> {
  const line = Buffer.allocUnsafe(bytes)
  let filled = 0
  while (filled < bytes) {
    const { bytesRead } = await file.read(line, filled, bytes - filled, offset + filled)
    if (bytesRead === 0) return undefined
    filled += bytesRead
  }
  return line[bytes - 1] === lineEnd ? decoded(line.subarray(0, -1)) : undefined
}

/** What is no UTF-8 becomes something that no line is, because blocks are compared with what they were written as. */
function decoded(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.includes('\uFFFD') && Buffer.compare(Buffer.from(text), bytes) !== 0 ? '' : text
}
