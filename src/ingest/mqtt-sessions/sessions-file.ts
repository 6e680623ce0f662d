import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { DomainError, messageOf } from '../../core/errors.ts'
import { FilePlaces } from '../../core/file-places.ts'
import { giveBackPages, keepReclaimable } from '../../core/free-pages.ts'

/** Version of the file's tables. */
const fileVersion = 1

const tables = [
  `CREATE TABLE IF NOT EXISTS sessions (
     number INTEGER PRIMARY KEY, user_id TEXT NOT NULL, client_id TEXT NOT NULL,
     created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL,
     UNIQUE (user_id, client_id)) STRICT`,
  `CREATE TABLE IF NOT EXISTS subscriptions (
     session INTEGER NOT NULL, filter TEXT NOT NULL, qos INTEGER NOT NULL,
     PRIMARY KEY (session, filter)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS messages (
     number INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL) STRICT`,
  `CREATE TABLE IF NOT EXISTS queue (
     session INTEGER NOT NULL, packet_id INTEGER NOT NULL, position INTEGER NOT NULL,
     message INTEGER NOT NULL, qos INTEGER NOT NULL, retain INTEGER NOT NULL,
     is_released INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (session, packet_id)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS received (
     session INTEGER NOT NULL, packet_id INTEGER NOT NULL, received_at INTEGER NOT NULL,
     is_taken INTEGER NOT NULL, PRIMARY KEY (session, packet_id)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS retained (
     topic TEXT PRIMARY KEY, user_id TEXT NOT NULL, payload BLOB NOT NULL, qos INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS wills (
     broker_client_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, client_id TEXT NOT NULL,
     api_key_id TEXT NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL,
     qos INTEGER NOT NULL, retain INTEGER NOT NULL) STRICT`,
]

/**
 * Every change there is. Each can be made again without harm, because a change that was not waited
 * for may be lost with its batch when the disk is full for a moment.
 */
const statements = {
  putSession: `INSERT INTO sessions (number, user_id, client_id, created_at, last_used_at)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  useSession: 'UPDATE sessions SET last_used_at = ? WHERE number = ?',
  dropSession: 'DELETE FROM sessions WHERE number = ?',
  dropSubscriptions: 'DELETE FROM subscriptions WHERE session = ?',
  dropQueue: 'DELETE FROM queue WHERE session = ?',
  dropAllReceived: 'DELETE FROM received WHERE session = ?',
  putSubscription: `INSERT INTO subscriptions (session, filter, qos) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET qos = excluded.qos`,
  dropSubscription: 'DELETE FROM subscriptions WHERE session = ? AND filter = ?',
  putMessage: 'INSERT OR REPLACE INTO messages (number, topic, payload) VALUES (?, ?, ?)',
  dropMessage: 'DELETE FROM messages WHERE number = ?',
  putQueued: `INSERT OR REPLACE INTO queue (session, packet_id, position, message, qos, retain)
    VALUES (?, ?, ?, ?, ?, ?)`,
  release: 'UPDATE queue SET is_released = 1 WHERE session = ? AND packet_id = ?',
  dropQueued: 'DELETE FROM queue WHERE session = ? AND packet_id = ?',
  putReceived: `INSERT OR REPLACE INTO received (session, packet_id, received_at, is_taken)
    VALUES (?, ?, ?, ?)`,
  dropReceived: 'DELETE FROM received WHERE session = ? AND packet_id = ?',
  putRetained: `INSERT OR REPLACE INTO retained (topic, user_id, payload, qos)
    VALUES (?, ?, ?, ?)`,
  dropRetained: 'DELETE FROM retained WHERE topic = ?',
  putWill: `INSERT OR REPLACE INTO wills
    (broker_client_id, user_id, client_id, api_key_id, topic, payload, qos, retain)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  dropWill: 'DELETE FROM wills WHERE broker_client_id = ?',
} as const

/** A change as plain data: the name of its statement, and the parameters. */
export type SessionChange = readonly [keyof typeof statements, ...(string | number | Uint8Array)[]]

type Row = Readonly<Record<string, unknown>>

/** Everything in the file, in the order in which it is to be put together. */
export interface StoredSessions {
  readonly sessions: readonly Row[]
  readonly subscriptions: readonly Row[]
  readonly messages: readonly Row[]
  readonly queue: readonly Row[]
  readonly received: readonly Row[]
  readonly retained: readonly Row[]
  readonly wills: readonly Row[]
}

/** https://sqlite.org/rescode.html */
const sqliteFull = 13

/** Free pages that go back to the disk at once: a batch that comes meanwhile waits for some milliseconds. */
const pagesPerStep = 64

/** MQTT sessions in one SQLite file, used by one thread. A batch of changes is one transaction. */
export class SqliteSessionsFile {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()
  readonly #places: FilePlaces
  #failure: string | undefined

  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    keepReclaimable(this.#database, path)
    this.#database.exec('PRAGMA journal_mode = WAL')
    // FULL: a commit returns after fdatasync, and what it says is acknowledged to devices.
    this.#database.exec('PRAGMA synchronous = FULL')
    const version = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version'])
    if (version > fileVersion) {
      this.#database.close()
      throw new Error(`${path} was written by a newer version (file format ${version})`)
    }
    if (version === 0) this.#create()
    this.#places = FilePlaces.ofDatabase(path)
  }

  load(): StoredSessions {
    return {
      sessions: this.#all('SELECT * FROM sessions'),
      subscriptions: this.#all('SELECT * FROM subscriptions'),
      messages: this.#all('SELECT * FROM messages'),
      queue: this.#all('SELECT * FROM queue ORDER BY position'),
      received: this.#all('SELECT * FROM received'),
      retained: this.#all('SELECT * FROM retained'),
      wills: this.#all('SELECT * FROM wills'),
    }
  }

  /**
   * @throws DomainError `store_unavailable`: nothing of the batch was kept; `data_folder_gone`: what was kept is not
   *   found by the next start
   */
  apply(changes: readonly SessionChange[]): void {
    if (this.#failure !== undefined) throw unavailable(this.#failure)
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const [name, ...parameters] of changes) {
        this.#statement(name).run(...(parameters as SQLInputValue[]))
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      throw this.#classify(error)
    }
    this.#places.assertInPlace()
  }

  /** Gives some free pages back to the disk: between two batches, so a few at a time. */
  giveBackSpace(): void {
    if (this.#failure !== undefined) return
    try {
      giveBackPages(this.#database, pagesPerStep)
    } catch (error) {
      this.#classify(error)
    }
  }

  close(): void {
    this.#database.close()
  }

  #create(): void {
    this.#database.exec('BEGIN')
    for (const table of tables) this.#database.exec(table)
    this.#database.exec(`PRAGMA user_version = ${fileVersion}`)
    this.#database.exec('COMMIT')
  }

  /**
   * Classifies a failure as the journal does: want of space passes, and after any other failure
   * nothing is believed.
   */
  #classify(error: unknown): DomainError {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
    } catch (rollback) {
      this.#failure = messageOf(rollback)
    }
    const { errcode } = error as { readonly errcode?: number }
    if (errcode === sqliteFull) return unavailable('no space is left for MQTT sessions')
    this.#failure = `the disk of the MQTT sessions failed: ${messageOf(error)}`
    return unavailable(this.#failure)
  }

  #statement(name: keyof typeof statements): StatementSync {
    let statement = this.#prepared.get(name)
    if (!statement) {
      statement = this.#database.prepare(statements[name])
      this.#prepared.set(name, statement)
    }
    return statement
  }

  #all(sql: string): Row[] {
    return this.#database.prepare(sql).all()
  }
}

function unavailable(message: string): DomainError {
  return new DomainError('store_unavailable', message, { retryAfter: 1 })
}
