import { closeSync, openSync, readSync, statSync } from 'node:fs'

/**
 * What a file says that is there, or what comes out of a pipe (`<(...)` of a shell), as UTF-8; undefined where there is neither.
 *
 * @throws RangeError when it has more bytes than that
 */
export function textOfFile(path: string, bytesMax: number): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile() && !stat?.isFIFO()) return undefined
  const file = openSync(path, 'r')
  try {
    // One byte more says that there is more.
    const bytes = Buffer.alloc(Math.min(bytesMax, stat.isFile() ? stat.size : bytesMax) + 1)
    let filled = 0
    while (filled < bytes.length) {
      const read = readSync(file, bytes, filled, bytes.length - filled, null)
      if (read === 0) break
      filled += read
    }
    if (filled > bytesMax) throw new RangeError(`${path} has more than ${bytesMax} bytes`)
    return bytes.toString('utf8', 0, filled)
  } finally {
    closeSync(file)
  }
}
