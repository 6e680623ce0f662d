import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DomainError, messageOf } from '../../core/errors.ts'
import { FilePlaces, folderGone } from '../../core/file-places.ts'
import type { JournalBatch, JournalReader, JournalStatus, Offset } from './journal.ts'

/** Version of the file's own tables; entries carry a version of their own. */
export const journalFileVersion = 1

/** Pages of 32 KiB hold a usual batch in one or two. */
const pageBytes = 32 * 1024

/** A consumer is handed about this much at once, however large the entries are: 100,000 usual ones. */
const readBytesMax = 12 * 1024 * 1024

/** Pages that the file keeps for reuse after a trim; more are given back to the file system. */
const freePagesKept = 2_048

/** Rows that one trim deletes before it lets appends go first. */
const trimRowsMax = 500

/**
 * The journal in one SQLite file, used by one thread. A row is a batch.
 *
 * WAL and synchronous=FULL: a commit returns after fdatasync of the log, whose frames carry
 * checksums, so a torn write at a power cut is recognised and cut off at the next start.
 */
export class SqliteJournalFile {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #trim: StatementSync
  readonly #bytesMax: number
  readonly #retainedBytes: number
  readonly #places: FilePlaces
  #head: Offset
  #bytes: number
  #failure: string | undefined
  /** The problem of the file's place. It passes when the file is back. */
  #gone: string | undefined
  #full: string | undefined

  constructor(path: string, bytesMax: number, retainedBytes = 0) {
    this.#bytesMax = bytesMax
    this.#retainedBytes = retainedBytes
    this.#database = openForWriting(path)
    this.#insert = this.#database.prepare(
      'INSERT INTO batches (first_offset, entries, bytes, payload) VALUES (?, ?, ?, ?)',
    )
    this.#trim = this.#database.prepare(
      // The newest row always stays: it is what the next offset is known by after a restart.
      `DELETE FROM batches WHERE first_offset IN (
         SELECT first_offset FROM (
           SELECT first_offset, entries, sum(bytes) OVER (ORDER BY first_offset) AS upToHere
           FROM (SELECT first_offset, entries, bytes FROM batches
                 ORDER BY first_offset LIMIT ${trimRowsMax}))
         WHERE first_offset + entries <= ? AND upToHere <= ?
           AND first_offset < (SELECT max(first_offset) FROM batches)
       ) RETURNING bytes`,
    )
    this.#head = headOf(this.#database)
    const sum = this.#database.prepare('SELECT coalesce(sum(bytes), 0) AS bytes FROM batches').get()
    this.#bytes = Number(sum?.['bytes'])
    this.#places = FilePlaces.ofDatabase(path)
  }

  /**
   * Throws as {@link Journal.append} does. What is refused because the file has gone during the commit may be in it
   * all the same: when it comes back, the entries are there, as after an acknowledgement that was lost on its way.
   */
  append(bytes: Uint8Array, count: number): Offset {
    this.#refuseWhenUnable(bytes.byteLength)
    const first = this.#head
    try {
      this.#insert.run(first, count, bytes.byteLength, bytes)
    } catch (error) {
      throw this.#classify(error)
    }
    this.#full = undefined
    this.#head = first + count
    this.#bytes += bytes.byteLength
    this.#lookForFile()
    return first
  }

  /** Deletes some of what lies below the offset; true when more is left to delete. */
  trim(below: Offset): boolean {
    if (this.#failure !== undefined || this.#places.problem() !== undefined) return false
    try {
      return this.#delete(below)
    } catch (error) {
      throw this.#classify(error)
    }
  }

  status(): JournalStatus {
    this.#gone = this.#places.problem()
    return {
      head: this.#head,
      bytes: this.#bytes,
      bytesMax: this.#bytesMax,
      problem: this.#failure ?? this.#gone ?? this.#full,
    }
  }

  close(): void {
    this.#database.close()
  }

  #delete(below: Offset): boolean {
    const deleted = this.#trim.all(below, Math.max(0, this.#bytes - this.#retainedBytes))
    for (const row of deleted) this.#bytes -= Number(row['bytes'])
    if (deleted.length > 0) this.#full = undefined
    else if (this.#full !== undefined && this.#bytes < this.#bytesMax) this.#tryWriting()
    if (deleted.length === trimRowsMax) return true
    this.#giveBackSpace()
    return false
  }

  /** Whether the disk takes a commit again, without an entry: the same version is written anew. */
  #tryWriting(): void {
    this.#database.exec(`PRAGMA user_version = ${journalFileVersion}`)
    this.#full = undefined
  }

  /** @throws DomainError `data_folder_gone` when what was written would be gone at the next start */
  #lookForFile(): void {
    this.#gone = this.#places.problem()
    if (this.#gone !== undefined) throw folderGone(this.#gone)
  }

  #refuseWhenUnable(bytes: number): void {
    if (this.#failure !== undefined) throw unavailable(this.#failure)
    if (this.#gone !== undefined) this.#lookForFile()
    if (this.#bytes + bytes > this.#bytesMax) {
      this.#full = `the journal has reached its limit of ${this.#bytesMax} bytes`
      throw full(this.#full)
    }
  }

  /**
   * No space left is a state that passes. Any other failure of the disk does not: after a failed
   * fsync the kernel may have dropped the pages it could not write, so a later success would prove
   * nothing about them. Only a restart, which reads back what is really there, is believed.
   */
  #classify(error: unknown): DomainError {
    const { errcode } = error as { readonly errcode?: number }
    if (errcode === sqliteBusy) {
      return new DomainError('overloaded', 'the journal is locked by another program', {
        retryAfter: 1,
      })
    }
    if (errcode === sqliteTooBig) {
      return new DomainError('body_too_large', 'a batch is too large for the journal')
    }
    if (errcode === sqliteFull) {
      this.#full = 'no space left on the journal disk'
      return full(this.#full)
    }
    this.#failure = `the journal disk failed: ${messageOf(error)}`
    return unavailable(this.#failure)
  }

  #giveBackSpace(): void {
    const free = Number(this.#database.prepare('PRAGMA freelist_count').get()?.['freelist_count'])
    if (free > freePagesKept) this.#database.exec(`PRAGMA incremental_vacuum(${trimRowsMax})`)
  }
}

/** https://sqlite.org/rescode.html */
const sqliteBusy = 5
const sqliteFull = 13
const sqliteTooBig = 18

const busyTimeoutMs = 5_000

function headOf(database: DatabaseSync): Offset {
  const last = database
    .prepare(
      'SELECT first_offset + entries AS head FROM batches ORDER BY first_offset DESC LIMIT 1',
    )
    .get()
  return Number(last?.['head'] ?? 0)
}

function full(message: string): DomainError {
  return new DomainError('journal_full', message, { retryAfter: 1 })
}

function unavailable(message: string): DomainError {
  return new DomainError('journal_unavailable', message)
}

/**
 * Opens the file, which is made when there is none. Writes nothing into one that is as it should be, so that a
 * service can start on a disk that is full.
 *
 * @throws Error for one of a newer version
 */
export function openForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  // Somebody who looks into the file with a tool is waited for.
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > journalFileVersion) {
    database.close()
    throw new Error(`${path} was written by a newer version (file format ${version})`)
  }
  const isMade = version === journalFileVersion
  if (!isMade) {
    database.exec(`PRAGMA page_size = ${pageBytes}`)
    database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  }
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  if (!isMade) {
    database.exec(
      `CREATE TABLE IF NOT EXISTS batches (
         first_offset INTEGER PRIMARY KEY, entries INTEGER NOT NULL,
         bytes INTEGER NOT NULL, payload BLOB NOT NULL
       ) STRICT`,
    )
    database.exec(`PRAGMA user_version = ${journalFileVersion}`)
  }
  return database
}

/** Reads the journal's file through a connection of its own, from any thread. */
export class SqliteJournalReader implements JournalReader {
  readonly #database: DatabaseSync
  readonly #select: StatementSync
  readonly #sizes: StatementSync

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true })
    // One look finds the batch that the offset may lie in. Were that a condition of the look, one for an offset at the end,
    // where nothing is yet, would go through all batches.
    this.#select = this.#database.prepare(
      `SELECT first_offset, entries, payload FROM batches
       WHERE first_offset >= coalesce(
         (SELECT iif(first_offset + entries > :from, first_offset, NULL)
          FROM (SELECT first_offset, entries FROM batches WHERE first_offset <= :from
                ORDER BY first_offset DESC LIMIT 1)), :from)
       ORDER BY first_offset`,
    )
    this.#sizes = this.#database.prepare(
      'SELECT first_offset, bytes FROM batches ORDER BY first_offset DESC',
    )
  }

  /** The offset from which on there are at most so many bytes: those of the newest batches, of one at least. */
  startOfNewest(bytesMax: number): Offset {
    let start: Offset | undefined
    let bytes = 0
    for (const row of this.#sizes.iterate()) {
      bytes += Number(row['bytes'])
      if (start !== undefined && bytes > bytesMax) break
      start = Number(row['first_offset'])
    }
    return start ?? 0
  }

  read(from: Offset, entriesMax: number): readonly JournalBatch[] {
    const batches: JournalBatch[] = []
    let entries = 0
    let bytes = 0
    for (const row of this.#select.iterate({ from })) {
      const [count, firstOffset] = [Number(row['entries']), Number(row['first_offset'])]
      const payload = row['payload'] as Uint8Array
      batches.push({ firstOffset, count, bytes: payload })
      // The first one may lie before the offset for the most part.
      const wanted = firstOffset + count - Math.max(from, firstOffset)
      entries += wanted
      bytes += (payload.byteLength * wanted) / count
      if (entries >= entriesMax || bytes >= readBytesMax) break
    }
    return batches
  }

  nextOffset(): Offset {
    return headOf(this.#database)
  }

  close(): void {
    this.#database.close()
  }
}
