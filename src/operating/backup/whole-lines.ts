import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** What is read at once, as of other files of a backup. */
const chunkBytes = 256 * 1024

const newline = 10

/**
 * The whole lines that a file has at this moment, in pieces that the next one overwrites. It may grow meanwhile: what
 * has no end yet, or comes later, is left out.
 */
export function* wholeLinesOf(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  const chunk = Buffer.allocUnsafe(chunkBytes)
  try {
    const end = endOfLines(file, chunk)
    for (let at = 0; at < end; ) {
      const read = readSync(file, chunk, 0, Math.min(chunk.length, end - at), at)
      if (read === 0) throw new Error(`${path} has become shorter`)
      yield chunk.subarray(0, read)
      at += read
    }
  } finally {
    closeSync(file)
  }
}

/** Where the last whole line ends, looked for from the end. */
function endOfLines(file: number, chunk: Buffer): number {
  let end = fstatSync(file).size
  while (end > 0) {
    const start = Math.max(0, end - chunk.length)
    const read = readSync(file, chunk, 0, end - start, start)
    const last = chunk.subarray(0, read).lastIndexOf(newline)
    if (last >= 0) return start + last + 1
    end = start
  }
  return 0
}
