import {
  closeSync,
  constants,
  copyFileSync,
  fdatasyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { constants as osConstants, setPriority } from 'node:os'
import { monotonicMs } from '../../../core/clock.ts'
import { rest } from '../../../core/threads/rest.ts'

/** Written bytes that may wait for the disk: the journal needs it all the time, and waits behind them. */
const chunkBytes = 1024 * 1024

/** How long to rest after each of them, in shares of the time that it took. Nothing is stored meanwhile. */
const restShare = 1

/** Copies a file for `copyFile`; at once where the file system can share blocks. */
function copy(from: string, to: string): void {
  setPriority(osConstants.priority.PRIORITY_LOW)
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE)
  } catch {
    copyBytes(from, to)
  }
}

function copyBytes(from: string, to: string): void {
  const source = openSync(from, 'r')
  const target = openSync(to, 'w', 0o600)
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let startedMs = monotonicMs()
  for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk)) {
    for (let at = 0; at < read; ) at += writeSync(target, chunk, at, read - at)
    fdatasyncSync(target)
    rest((monotonicMs() - startedMs) * restShare)
    startedMs = monotonicMs()
  }
  closeSync(target)
  closeSync(source)
}

const [from = '', to = ''] = process.argv.slice(2)
copy(from, to)
