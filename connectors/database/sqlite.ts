import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { extname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { Poll } from '../../src/contracts/poll-connector.ts'
import { wallDate } from '../../src/core/clock.ts'
import { race } from '../../src/core/race.ts'
import type { Bound, Column, Dialect, Result, Session } from './dialect.ts'
import type { DatabaseOptions } from './options.ts'
import type { SqliteAnswer, SqliteQuestion } from './sqlite-process.ts'
import { sqliteColumns } from './sqlite-values.ts'

/** A page that does not fit is given up. */
const memoryMegabytes = 256

/** Files of SQLite in folders that the operator has named: those of all others are nobody's business. */
export function sqlite(folders: readonly string[]): Dialect {
  return {
    quoted: (name) => `"${name.replaceAll('"', '""')}"`,
    placeholder: () => '?',
    limited: (rest, count) => `SELECT ${rest} LIMIT ${count}`,
    comparesPairs: true,
    connect: async (options, { signal }) => {
      return new SqliteSession({ path: allowedPath(options.database, folders), options, signal })
    },
  }
}

/** The path without links: none may lead out of the folders. */
function allowedPath(path: string, folders: readonly string[]): string {
  if (folders.length === 0) {
    throw new SourceRefused(
      'files are not read: STREAMVAULT_SQLITE_FOLDERS names no folders that they may be in',
    )
  }
  const real = realPath(path)
  const isAllowed = folders.some((folder) => {
    const allowed = realPath(folder)
    return (
      allowed !== undefined && real?.startsWith(allowed.endsWith(sep) ? allowed : allowed + sep)
    )
  })
  // Whether there is such a file elsewhere is not told.
  if (real === undefined || !isAllowed) {
    throw new SourceRefused(`${path} is not a file in the folders of STREAMVAULT_SQLITE_FOLDERS`)
  }
  return real
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

interface SqliteSessionNeeds {
  readonly path: string
  readonly options: DatabaseOptions
  readonly signal: Poll['signal']
}

class SqliteSession implements Session {
  readonly #needs: SqliteSessionNeeds
  readonly #process: ChildProcess

  constructor(needs: SqliteSessionNeeds) {
    this.#needs = needs
    const module = `./sqlite-process${extname(new URL(import.meta.url).pathname)}`
    this.#process = fork(fileURLToPath(new URL(module, import.meta.url)), [], {
      execArgv: [`--max-old-space-size=${memoryMegabytes}`],
      // Nothing of ours is there for whoever takes it over: no settings, no secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // What has become of it is found when it is asked.
    this.#process.on('error', () => undefined)
  }

  /** Columns that are computed are of no type: what is in the first row tells. */
  async describe(statement: string): Promise<readonly Column[]> {
    return (await this.read(statement.replace(/LIMIT 0$/, 'LIMIT 1'), [])).columns
  }

  async read(statement: string, values: readonly Bound[]): Promise<Result> {
    const { path, options } = this.#needs
    const answer = await this.#answer({
      path,
      statement,
      values: values.map(({ text, kind }) => (kind === 'number' ? numberOf(text) : text)),
    })
    if ('problem' in answer) throw judged(answer)
    const { columns, rows } = answer
    return { columns: sqliteColumns(columns, rows[0], options), rows }
  }

  /** That of this machine: whoever writes the file runs on it. */
  async nowUs(): Promise<number> {
    return wallDate().getTime() * 1_000
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL')
  }

  async #answer(question: SqliteQuestion): Promise<SqliteAnswer> {
    const { timeoutMs } = this.#needs.options
    const patience = AbortSignal.timeout(timeoutMs)
    const waiting = new AbortController()
    const signal = AbortSignal.any([this.#needs.signal, patience, waiting.signal])
    const ended = once(this.#process, 'exit', { signal }).then(() => {
      throw new Error('what reads the file has ended')
    })
    ended.catch(() => undefined)
    try {
      const answered = once(this.#process, 'message', { signal })
      answered.catch(() => undefined)
      this.#process.send(question)
      const [answer] = await race([answered, ended])
      return answer as SqliteAnswer
    } catch (error) {
      this.#process.kill('SIGKILL')
      if (this.#needs.signal.aborted || !patience.aborted) throw error
      throw new Error(`the statement has taken more than ${timeoutMs / 1_000} s`, { cause: error })
    } finally {
      waiting.abort()
    }
  }
}

/** Results that pass: SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_IOERR, SQLITE_PROTOCOL. */
const passing: readonly number[] = [5, 6, 7, 9, 10, 15]

function judged({ problem, code }: { readonly problem: string; readonly code: number }): Error {
  return passing.includes(code & 0xff) ? new Error(problem) : new SourceRefused(problem)
}

/** As a text it would be compared with numbers as a text, where the column is computed. */
function numberOf(text: string): string | number | bigint {
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text)
  const number = Number(text)
  return Number.isFinite(number) ? number : text
}
