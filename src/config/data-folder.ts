import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Where everything embedded lives. */
export interface DataFolder {
  readonly path: string
  readonly state: string
  readonly journal: string
  readonly timeSeries: string
  /** Lets another process use the folder. */
  unlock(): void
}

/** @throws Error when another process uses the folder */
export function openDataFolder(path: string): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const lock = lockFolder(path)
  return {
    path,
    state: join(path, 'state.db'),
    journal: join(path, 'journal.db'),
    timeSeries: join(path, 'time-series.duckdb'),
    unlock: () => lock.close(),
  }
}

/**
 * An exclusive transaction that lasts as long as the process. The kernel drops the lock with the
 * process, however it ends, so there is no stale lock file to be cleaned up by hand.
 */
function lockFolder(path: string): DatabaseSync {
  const lock = new DatabaseSync(join(path, 'lock.db'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw new Error(`the data folder ${path} is used by another process`, { cause: error })
  }
}

/** Writes a file of secrets (mode 0600) so that after a crash it is there as a whole or not at all. */
export function writeFileDurably(path: string, text: string): void {
  const draft = `${path}.draft`
  const file = openSync(draft, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
  if (!existsSync(path)) throw new Error(`${path} could not be written`)
}
