import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

const mib = 1024 * 1024

/** Writes a file of whole MiB, no two of which are the same. */
export function writeLargeFile(path: string, bytes: number): void {
  const file = openSync(path, 'w')
  const piece = Buffer.alloc(mib)
  for (let at = 0; at < bytes; at += mib) {
    piece.writeUInt32LE(at / mib)
    writeSync(file, piece)
  }
  // Else the system would write it to the disk in the middle of what is measured.
  fsyncSync(file)
  closeSync(file)
}
