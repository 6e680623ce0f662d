import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Block, emptyTip, type Tip } from './block.ts'

/** Where a block is in the file, and where the chain ends with it. */
export interface IndexedBlock {
  readonly tip: Tip
  readonly offset: number
  readonly bytes: number
}

/** Where a transaction is. */
export interface TransactionPlace {
  readonly height: number
  /** Among the transactions of the block, from 0. */
  readonly position: number
}

/** Another number is another form: the index is made anew. */
const version = 1

const tables = `
  CREATE TABLE blocks (
    height INTEGER PRIMARY KEY, offset INTEGER NOT NULL, bytes INTEGER NOT NULL, hash TEXT NOT NULL,
    time_us INTEGER NOT NULL, next_sequence INTEGER NOT NULL
  );
  CREATE TABLE transactions (
    sequence INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, height INTEGER NOT NULL, position INTEGER NOT NULL
  );
  CREATE TABLE intents (intent TEXT, sequence INTEGER, PRIMARY KEY (intent, sequence)) WITHOUT ROWID;
  CREATE TABLE leaves (cid TEXT, sequence INTEGER, PRIMARY KEY (cid, sequence)) WITHOUT ROWID;
  PRAGMA user_version = ${version};
`

const queries = {
  last: 'SELECT * FROM blocks ORDER BY height DESC LIMIT 1',
  block: 'SELECT * FROM blocks WHERE height = ?',
  byHash: 'SELECT height, position FROM transactions WHERE hash = ?',
  byIntent: `SELECT t.height, t.position FROM intents JOIN transactions t USING (sequence)
    WHERE intent = ? ORDER BY sequence LIMIT 1`,
  byCid: `SELECT t.height, t.position FROM leaves JOIN transactions t USING (sequence)
    WHERE cid = ? ORDER BY sequence LIMIT 1`,
} as const

const changes = {
  addBlock: 'INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?)',
  addTransaction: 'INSERT INTO transactions VALUES (?, ?, ?, ?)',
  addIntent: 'INSERT OR IGNORE INTO intents VALUES (?, ?)',
  addLeaf: 'INSERT OR IGNORE INTO leaves VALUES (?, ?)',
} as const

/** Finds what is in the chain without reading it. It is made of the chain, and says nothing that is not there. */
export class ChainIndex implements Disposable {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  private constructor(database: DatabaseSync) {
    this.#database = database
  }

  /**
   * One that is damaged, or has another form, is made anew.
   *
   * @throws Error when the disk fails
   */
  static open(path: string): ChainIndex {
    try {
      return ChainIndex.#openOf(path)
    } catch (error) {
      if (isOfDisk(error)) throw error
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
      return ChainIndex.#openOf(path)
    }
  }

  /** For who only asks, beside the one that writes it. @throws Error when there is none of this form */
  static look(path: string): ChainIndex {
    const database = new DatabaseSync(path, { readOnly: true })
    if (versionOf(database) === version) return new ChainIndex(database)
    database.close()
    throw new Error('the index has another form')
  }

  static #openOf(path: string): ChainIndex {
    const database = new DatabaseSync(path)
    try {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      if (versionOf(database) === 0) database.exec(`BEGIN; ${tables} COMMIT`)
      if (versionOf(database) !== version) throw new Error('the index has another form')
      const index = new ChainIndex(database)
      index.last()
      return index
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** The last block; undefined when there is none. */
  last(): IndexedBlock | undefined {
    return indexedOf(this.#get(queries.last))
  }

  block(height: number): IndexedBlock | undefined {
    return indexedOf(this.#get(queries.block, height))
  }

  byHash(hash: string): TransactionPlace | undefined {
    return this.#get(queries.byHash, hash) as TransactionPlace | undefined
  }

  /** The first one that has it as its own intent, or as that of a leaf. */
  byIntent(intentId: string): TransactionPlace | undefined {
    return this.#get(queries.byIntent, intentId) as TransactionPlace | undefined
  }

  /** The first one that commits to it. */
  byCid(cid: string): TransactionPlace | undefined {
    return this.#get(queries.byCid, cid) as TransactionPlace | undefined
  }

  add(block: Block, { tip, offset, bytes }: IndexedBlock): void {
    const { height, hash, timeUs, nextSequence } = tip
    this.#whole(() => {
      this.#run(changes.addBlock, height, offset, bytes, hash, timeUs, nextSequence)
      for (const [position, { said, hash: own, leaves }] of block.transactions.entries()) {
        const { sequence } = said
        this.#run(changes.addTransaction, sequence, own, height, position)
        this.#run(changes.addIntent, said.intent, sequence)
        for (const { intentId, cid } of leaves) {
          this.#run(changes.addIntent, intentId, sequence)
          this.#run(changes.addLeaf, cid, sequence)
        }
      }
    })
  }

  /** Forgets the last block, because the file does not have it. */
  removeLast(): void {
    const last = this.last()
    if (!last) return
    const { height } = last.tip
    const from = this.block(height - 1)?.tip.nextSequence ?? emptyTip.nextSequence
    this.#whole(() => {
      for (const table of ['transactions', 'intents', 'leaves']) {
        this.#run(`DELETE FROM ${table} WHERE sequence >= ?`, from)
      }
      this.#run('DELETE FROM blocks WHERE height = ?', height)
    })
  }

  [Symbol.dispose](): void {
    this.#statements.clear()
    this.#database.close()
  }

  #whole(change: () => void): void {
    this.#database.exec('BEGIN')
    try {
      change()
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #get(sql: string, ...values: readonly (string | number)[]): unknown {
    return this.#statement(sql).get(...values)
  }

  #run(sql: string, ...values: readonly (string | number)[]): void {
    this.#statement(sql).run(...values)
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    const made = this.#database.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }
}

/** SQLITE_IOERR and SQLITE_FULL: such an index is as good as it was (https://www.sqlite.org/rescode.html). */
function isOfDisk(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown }
  return typeof errcode === 'number' && [10, 13].includes(errcode & 0xff)
}

function versionOf(database: DatabaseSync): unknown {
  return database.prepare('PRAGMA user_version').get()?.['user_version']
}

interface BlockRow {
  readonly height: number
  readonly offset: number
  readonly bytes: number
  readonly hash: string
  readonly time_us: number
  readonly next_sequence: number
}

function indexedOf(row: unknown): IndexedBlock | undefined {
  if (row === undefined) return undefined
  const { height, hash, offset, bytes, time_us: timeUs, next_sequence: next } = row as BlockRow
  return { tip: { height, hash, timeUs, nextSequence: next }, offset, bytes }
}
