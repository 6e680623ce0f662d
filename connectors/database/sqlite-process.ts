import { DatabaseSync } from 'node:sqlite'
import type { Raw } from './dialect.ts'

/** How long a writer of the file is waited for. */
const busyMs = 5_000

/** A page that has more is given up here: whoever asks would have all of it in memory. */
const pageBytesMax = 64 * 1024 * 1024

/** What the process is asked. The first one says which file. */
export interface SqliteQuestion {
  readonly path: string
  readonly statement: string
  readonly values: readonly (string | number | bigint)[]
}

/** What it answers: rows, or what SQLite says (https://www.sqlite.org/rescode.html). */
export type SqliteAnswer =
  | {
      readonly columns: readonly { readonly name: string; readonly type: string | null }[]
      readonly rows: readonly (readonly Raw[])[]
    }
  | { readonly problem: string; readonly code: number }

/**
 * Reads a file of SQLite in a process of its own: a statement cannot be interrupted but by ending who runs it, and a
 * file that was made to break SQLite breaks nothing else.
 */
function run(): void {
  let database: DatabaseSync | undefined
  process.once('disconnect', () => process.exit())
  process.on('message', (question: SqliteQuestion) => {
    try {
      database ??= opened(question.path)
      process.send?.(answerTo(database, question))
    } catch (error) {
      const { message, errcode = 0 } = error as Error & { readonly errcode?: number }
      process.send?.({ problem: message, code: errcode } satisfies SqliteAnswer)
    }
  })
}

function opened(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMs })
  database.exec('PRAGMA query_only = ON')
  return database
}

function answerTo(database: DatabaseSync, { statement, values }: SqliteQuestion): SqliteAnswer {
  const prepared = database.prepare(statement, { readBigInts: true, returnArrays: true })
  const columns = prepared.columns().map(({ name, type }) => ({ name, type }))
  const rows: (readonly Raw[])[] = []
  let bytes = 0
  for (const row of prepared.iterate(...values) as Iterable<unknown> as Iterable<readonly Raw[]>) {
    for (const value of row) bytes += sizeOf(value)
    if (bytes > pageBytesMax) {
      throw new Error(`a page has more than ${pageBytesMax} bytes: make pageSize smaller`)
    }
    rows.push(row)
  }
  return { columns, rows }
}

function sizeOf(value: Raw): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
}

run()
