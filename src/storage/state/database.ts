import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type Compilable,
  type CompiledQuery,
  Kysely,
  type RawBuilder,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
} from 'kysely'
import { Migrator } from 'kysely/migration'
import { giveBackPages, keepReclaimable } from '../../core/free-pages.ts'
import { LruMap } from '../../core/lru-map.ts'
import { migrations } from './migrations/index.ts'
import type { StateSchema } from './schema.ts'

export type StateDatabase = Kysely<StateSchema>

/** Where a domain sends its changes. One call is one transaction: all of it happens, or nothing. */
export interface StateWriter {
  commit(...changes: readonly Compilable[]): Promise<void>
  /**
   * Commits changes that make no sense alone: when one of them finds no row to change, and is not
   * `optional`, nothing happens. Resolves with whether they happened. No transaction spans two threads, so what has to
   * hold at the time of a change is written into its statement.
   */
  attempt(...changes: readonly Compilable[]): Promise<boolean>
}

/** A change as plain data, as it crosses from one thread to the other. */
export interface PlainChange {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** Makes sense without a row, too. */
  readonly isOptional?: true
  /** Writes an event: who is concerned is told within the same transaction. */
  readonly notifies?: true
}

interface MarkedChange extends Compilable, Pick<PlainChange, 'isOptional' | 'notifies'> {}

/** A change that is written as text, where no builder can say it. */
export function written(state: StateDatabase, statement: RawBuilder<unknown>): Compilable {
  return { compile: () => statement.compile(state) }
}

/** A change that an attempt takes for made when it finds no row, too. */
export function optional(change: Compilable): MarkedChange {
  const anchors = 'anchors' in change && { anchors: true }
  return { compile: () => change.compile(), isOptional: true, ...anchors }
}

/** An optional change that writes an event. */
export function notifying(change: Compilable): MarkedChange {
  return { ...optional(change), notifies: true }
}

/** A change that writes an intent: whoever anchors is woken once it is committed. */
export function anchoring(change: Compilable): Compilable & { readonly anchors: true } {
  return { compile: () => change.compile(), anchors: true }
}

/** Whether some of these changes write an intent. */
export function haveAnchors(changes: readonly Compilable[]): boolean {
  return changes.some((change) => 'anchors' in change)
}

/**
 * Tells everybody who is concerned of the events that a transaction has written, as a part of it.
 * Resolves with what is to follow once it is committed.
 */
export type Notify = (transaction: StateDatabase) => Promise<() => void>

/** Statements that a connection keeps prepared. */
const preparedMax = 200

/** Somebody looks into the file with a tool of their own, and has it locked for a moment: that is no failure. */
const lockPatienceMs = 2_000

/** Opens the state for writing and brings its tables up to date. To be used by one thread only. */
export async function openStateForWriting(path: string): Promise<StateDatabase> {
  const connection = new DatabaseSync(path, { timeout: lockPatienceMs })
  keepReclaimable(connection, path)
  connection.exec('PRAGMA journal_mode = WAL')
  // FULL: positions must never fall back behind a trim of the journal.
  connection.exec('PRAGMA synchronous = FULL')
  const database = kyselyOver(connection)
  connections.set(database, connection)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) {
    await database.destroy()
    throw new Error('the state database could not be migrated', { cause: error })
  }
  return database
}

const connections = new WeakMap<StateDatabase, DatabaseSync>()

/**
 * Gives some free pages of the state's file back to the disk, between two transactions. Resolves with whether there
 * may be more.
 */
export async function giveBackSpace(database: StateDatabase, pagesMax: number): Promise<boolean> {
  const connection = connections.get(database)
  if (!connection) return false
  return await database.connection().execute(async () => giveBackPages(connection, pagesMax))
}

/** Opens the state for reading, through a connection of the calling thread. */
export function openStateForReading(path: string): StateDatabase {
  return kyselyOver(new DatabaseSync(path, { readOnly: true }))
}

/** Runs changes that another thread compiled, in one transaction. */
export async function commitChanges(
  database: StateDatabase,
  changes: readonly PlainChange[],
  notify: Notify = notifyNobody,
): Promise<void> {
  const afterwards = await database.transaction().execute(async (transaction) => {
    for (const { sql, parameters } of changes) {
      await transaction.executeQuery({ sql, parameters } as CompiledQuery)
    }
    return await notifiedOf(changes, transaction, notify)
  })
  afterwards()
}

/**
 * Runs changes in one transaction, where one that changes no row takes back those before it.
 * Resolves with whether all are made.
 */
export async function attemptChanges(
  database: StateDatabase,
  changes: readonly PlainChange[],
  notify: Notify = notifyNobody,
): Promise<boolean> {
  const nothingToChange = new Error('a change found no row')
  try {
    const afterwards = await database.transaction().execute(async (transaction) => {
      for (const { sql, parameters, isOptional } of changes) {
        const result = await transaction.executeQuery({ sql, parameters } as CompiledQuery)
        if (result.numAffectedRows === 0n && !isOptional) throw nothingToChange
      }
      return await notifiedOf(changes, transaction, notify)
    })
    afterwards()
    return true
  } catch (error) {
    if (error === nothingToChange) return false
    throw error
  }
}

/** Events that nobody is notified of now wait for whoever notifies next. */
const notifyNobody: Notify = async () => () => undefined

async function notifiedOf(
  changes: readonly PlainChange[],
  transaction: StateDatabase,
  notify: Notify,
): Promise<() => void> {
  return await (changes.some(({ notifies }) => notifies) ? notify : notifyNobody)(transaction)
}

/** Commits through a connection of the calling thread, where there is no other writer. */
export class LocalStateWriter implements StateWriter {
  readonly #database: StateDatabase
  readonly #notify: Notify

  constructor(database: StateDatabase, notify: Notify) {
    this.#database = database
    this.#notify = notify
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    await commitChanges(this.#database, changes.map(plain), this.#notify)
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await attemptChanges(this.#database, changes.map(plain), this.#notify)
  }
}

/**
 * A change that is compiled now, and not when it is committed: of thousands each has its turn of the event loop then,
 * instead of all having one.
 */
export function compiled(change: Compilable | MarkedChange): MarkedChange {
  const query = change.compile()
  return { ...change, compile: () => query }
}

/** A change in the form that another thread can be sent. */
export function plain(change: Compilable | MarkedChange): PlainChange {
  const { sql, parameters } = change.compile()
  return {
    sql,
    parameters,
    ...('isOptional' in change && change.isOptional && { isOptional: true }),
    ...('notifies' in change && change.notifies && { notifies: true }),
  }
}

function kyselyOver(connection: DatabaseSync): StateDatabase {
  return new Kysely<StateSchema>({ dialect: new SqliteDialect({ database: adapt(connection) }) })
}

/** node:sqlite in the shape that Kysely's SQLite dialect expects. */
function adapt(connection: DatabaseSync): SqliteDatabase {
  const prepared = new LruMap<string, SqliteStatement>(preparedMax)
  return {
    close: () => connection.close(),
    prepare(sql) {
      // SQLite ends a transaction by itself when the disk fails, and then refuses to roll it back:
      // that second error would hide the first.
      if (sql === 'rollback' && !connection.isTransaction) return nothingToRollBack
      let statement = prepared.get(sql)
      if (!statement) {
        statement = adaptStatement(connection.prepare(sql))
        prepared.set(sql, statement)
      }
      return statement
    },
  }
}

const nothingToRollBack: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  }
}
