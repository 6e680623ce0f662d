import { closeSync, existsSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../core/errors.ts'
import { makeFolder } from '../core/make-folder.ts'
import { readOwner, removeOwner, writeOwner } from './folder-owner.ts'

/** The files of a data folder. */
export interface DataFiles {
  readonly state: string
  readonly journal: string
  readonly timeSeries: string
  /** Beside the time series in QuestDB: how far they are stored, and counts. */
  readonly questDbPositions: string
  readonly mqttSessions: string
  /** Is locked as long as a process has the folder. */
  readonly lock: string
  /** Folders: what exports have written, and what imports read. */
  readonly exports: string
  readonly imports: string
  /** A folder: files of users, or what of them is being looked at when a bucket has them. */
  readonly files: string
  /** A folder: the ledger of our own, and its keys. */
  readonly ledger: string
  /** The bootstrap key, when it was generated. */
  readonly admin: string
  readonly masterKey: string
}

/** Where everything embedded lives. */
export interface DataFolder extends DataFiles {
  readonly path: string
  /** Tells commands on this machine where the service is; undefined ones are not offered. */
  readonly announce: (addresses: readonly (string | undefined)[]) => void
  /** Lets another process use the folder. */
  unlock(): void
}

/** Another process has the folder, and will have it until it ends. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

export function filesIn(path: string): DataFiles {
  return {
    state: join(path, 'state.db'),
    journal: join(path, 'journal.db'),
    timeSeries: join(path, 'time-series.duckdb'),
    questDbPositions: join(path, 'questdb-positions.db'),
    mqttSessions: join(path, 'mqtt-sessions.db'),
    lock: join(path, 'lock.db'),
    exports: join(path, 'exports'),
    imports: join(path, 'imports'),
    files: join(path, 'files'),
    ledger: join(path, 'ledger'),
    admin: join(path, 'admin.json'),
    masterKey: join(path, 'master.key'),
  }
}

/**
 * Makes the folder this process's own, and says so to others: `command` is what it is used for.
 *
 * @throws FolderInUse; Error when the folder cannot be made or written
 */
export function openDataFolder(path: string, command: string): DataFolder {
  makeFolder(path, 0o700)
  const lock = lockFolder(path)
  const announce = (addresses: readonly (string | undefined)[]) =>
    writeOwner(path, { command, addresses: addresses.filter((one) => one !== undefined) })
  announce([])
  return {
    path,
    ...filesIn(path),
    announce,
    unlock() {
      removeOwner(path)
      lock.close()
    },
  }
}

/**
 * An exclusive transaction that lasts as long as the process. The kernel drops the lock with the
 * process, however it ends, so there is no stale lock file to be cleaned up by hand.
 */
function lockFolder(path: string): DatabaseSync {
  const lock = new DatabaseSync(filesIn(path).lock)
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    // Nothing is ever written: a journal would want room on a disk that may be full.
    lock.exec('PRAGMA journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (!isBusy(error)) {
      const reason = messageOf(error)
      throw new Error(`the data folder ${path} cannot be locked: ${reason}`, { cause: error })
    }
    const owner = readOwner(path)
    const who = owner ? `: ${owner.pid} (streamvault ${owner.command})` : ''
    const message = `the data folder ${path} is used by another process${who}`
    throw new FolderInUse(message, { cause: error })
  }
}

/** Whether another process has the folder now. Takes nothing, so that nobody is kept out by it. */
export function isFolderLocked(path: string): boolean {
  const file = filesIn(path).lock
  if (!existsSync(file)) return false
  try {
    const lock = new DatabaseSync(file, { readOnly: true })
    try {
      lock.prepare('SELECT count(*) FROM sqlite_master').get()
    } finally {
      lock.close()
    }
    return false
  } catch (error) {
    return isBusy(error)
  }
}

/** SQLITE_BUSY, which is the lower byte of the code (https://www.sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown }
  return typeof errcode === 'number' && (errcode & 0xff) === 5
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
