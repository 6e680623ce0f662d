import { availableParallelism } from 'node:os'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { openDuckDb } from '../../../core/duckdb-instance.ts'
import { DomainError, messageOf } from '../../../core/errors.ts'
import { type QueryLimits, QueryTurns, queryLimits } from '../query-turns.ts'
import { rowsOf } from './rows-of.ts'
import { checkpointBytesMin, memoryOf, Spread } from './spread.ts'
import { type ReadLength, threadsOfWriter, WorkingThreads } from './working-threads.ts'

/**
 * Limit of DuckDB's buffers. In ordinary work they stay far below it, because they are told to give
 * memory back (`releaseMemory`). What needs much is a checkpoint, which takes whatever a table's
 * last row group holds: with long texts that is hundreds of megabytes.
 */
const memoryLimit = '512MB'

/**
 * The smallest blocks in which DuckDB packs times and whole numbers of 64 bits: smaller ones have twice the bytes
 * on disk, and eight times as many pieces, of which each that was ever looked at stays in memory, beside the
 * buffers. Larger ones would take more for each column of a table with few rows: readings that are spread over
 * many months must not take a quarter of a megabyte for each.
 */
const blockBytes = 65_536

/**
 * The version that new files are written for; one that is there stays what it is. To be read by
 * the oldest versions of DuckDB costs a table of few rows more time with each checkpoint, for what
 * is known of its columns, and twice the bytes.
 */
const storageVersion = 'v1.5.0'

/**
 * Rows that are left at most to be put together by whatever checkpoint comes next. Beside those
 * who read one makes a group of what came since the last one, and the first one beside which
 * nobody reads puts all of these groups together, in memory.
 */
const rowsToMergeMax = 250_000

type Work<Result> = (connection: DuckDBConnection) => Promise<Result>

interface OpenFile {
  readonly instance: DuckDBInstance
  readonly writer: DuckDBConnection
}

/** A table goes once, and there is a rest before the next one. */
const readAttemptsMax = 10

export interface FileOptions {
  readonly limits: QueryLimits
  /** Processors of the machine, as far as they are ours. */
  readonly processors: number
}

interface DuckDbFileNeeds extends FileOptions {
  readonly path: string
}

/**
 * A DuckDB file that is not closed under its users.
 *
 * A query that is still running when its instance is closed, or one that begins afterwards, brings
 * down the process; so closing waits for those who read, and nobody gets in meanwhile.
 */
export class DuckDbFile {
  readonly path: string
  readonly #needs: DuckDbFileNeeds
  readonly #turns: QueryTurns
  readonly #readers = new Set<Promise<unknown>>()
  #spread = new Spread()
  #rowsToMerge = 0
  #threads: WorkingThreads
  #open: OpenFile | undefined
  /** Pending while the file is being closed or opened. */
  #changing: Promise<void> | undefined

  private constructor(needs: DuckDbFileNeeds, open: OpenFile) {
    this.#needs = needs
    const { path, processors, limits } = needs
    this.path = path
    this.#open = open
    this.#threads = new WorkingThreads(processors)
    this.#turns = new QueryTurns(limits)
  }

  static async open(path: string, options: Partial<FileOptions> = {}): Promise<DuckDbFile> {
    const { limits = queryLimits, processors = availableParallelism() } = options
    return new DuckDbFile({ path, limits, processors }, await openFile(path))
  }

  /** Queries that are being answered, and that wait for their turn. */
  get queries(): { readonly running: number; readonly waiting: number } {
    return this.#turns
  }

  /** The one connection that writes. @throws Error when the file is closed */
  get writer(): DuckDBConnection {
    if (!this.#open) throw closedError()
    return this.#open.writer
  }

  /**
   * Lets somebody read through a connection of their own, when it is their turn; anew when a table that
   * was to be read has been removed meanwhile, as it was too old.
   *
   * @throws DomainError `overloaded`, `query_too_slow`; Error when the file is closed
   */
  async read<Result>(work: Work<Result>, length: ReadLength = 'long'): Promise<Result> {
    const timed = (connection: DuckDBConnection) =>
      withinTime(connection, work, this.#needs.limits.ms)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#turns.take(() => this.look(timed, length))
      } catch (error) {
        if (attempt >= readAttemptsMax || !isTableMissing(error)) throw error
      }
    }
  }

  /**
   * Lets the service itself read what it wants to know: it waits for no turn, and takes its time.
   */
  async look<Result>(work: Work<Result>, length: ReadLength = 'long'): Promise<Result> {
    while (this.#changing) await this.#changing.catch(() => undefined)
    if (!this.#open) throw closedError()
    const threads = this.#threads
    const reading = withConnection(this.#open.instance, (connection) =>
      threads.read(length, connection, work),
    )
    this.#readers.add(reading)
    try {
      return await reading
    } finally {
      this.#readers.delete(reading)
    }
  }

  async close(): Promise<void> {
    await this.#alone(async () => this.#shut())
  }

  /** Closes the file and opens it anew: what follows sees what is really there. */
  async reopen(): Promise<void> {
    await this.#alone(async () => {
      this.#shut()
      this.#open = await openFile(this.path)
      this.#spread = new Spread()
      this.#rowsToMerge = 0
      this.#threads = new WorkingThreads(this.#needs.processors)
    })
  }

  /**
   * Gives back the memory of blocks that nobody uses: DuckDB itself keeps what it has read or written
   * until the limit is reached, so a file that grows would take ever more. Must not be called within
   * a transaction, which could then lack memory; does nothing while somebody reads, for the same
   * reason.
   *
   * @returns whether it was done
   * @throws Error when the file is of no use until it is opened anew: a checkpoint failed
   */
  async releaseMemory(): Promise<boolean> {
    if (this.#readers.size > 0 || this.#changing) return false
    await this.#alone(async () => {
      if (this.#rowsToMerge > rowsToMergeMax) await this.#merge()
      const bytes = (await unwrittenBytes(this.writer)) + this.#spread.keptBytes
      // Refused when more than that is in use: then there is nothing to give back.
      await this.writer.run(`SET memory_limit = '${bytes}B'`).catch(() => undefined)
      await this.writer.run(`SET memory_limit = '${memoryLimit}'`)
    })
    return true
  }

  /** Writes what is in the log into the file, and puts small groups of rows together. */
  async #merge(): Promise<void> {
    this.#rowsToMerge = 0
    await this.writer.run('CHECKPOINT')
  }

  /**
   * Prepares for rows like the last ones, which went to so many columns, of all tables. Resolves with the
   * bytes of memory that columns take for that, beside the rows themselves, about.
   */
  async wrote({ rows, columns }: { rows: number; columns: number }): Promise<number> {
    if (this.#readers.size > 0) this.#rowsToMerge += rows
    else await this.#threads.write(this.writer)
    if (this.#spread.follow(columns)) {
      const { checkpointBytes } = this.#spread
      await this.writer.run(`SET checkpoint_threshold = '${checkpointBytes}B'`)
    }
    return memoryOf(columns)
  }

  #shut(): void {
    const open = this.#open
    this.#open = undefined
    open?.writer.closeSync()
    open?.instance.closeSync()
  }

  /** Does something while nobody reads. */
  async #alone(work: () => Promise<void>): Promise<void> {
    const before = this.#changing
    const change = async () => {
      await before?.catch(() => undefined)
      await Promise.allSettled(this.#readers)
      await work()
    }
    const changing = change()
    this.#changing = changing
    try {
      await changing
    } finally {
      if (this.#changing === changing) this.#changing = undefined
    }
  }
}

async function openFile(path: string): Promise<OpenFile> {
  const instance = await openDuckDb(path, {
    memory_limit: memoryLimit,
    threads: String(threadsOfWriter),
    default_block_size: String(blockBytes),
    storage_compatibility_version: storageVersion,
    checkpoint_threshold: `${checkpointBytesMin}B`,
  })
  return { instance, writer: await instance.connect() }
}

/** Memory of rows that are in the log, and not in the file yet. */
async function unwrittenBytes(connection: DuckDBConnection): Promise<number> {
  const [row] = await rowsOf(
    connection,
    `SELECT coalesce(sum(memory_usage_bytes), 0)::DOUBLE AS bytes FROM duckdb_memory()
     WHERE tag <> 'BASE_TABLE'`,
  )
  return Number(row?.['bytes'])
}

async function withConnection<Result>(
  instance: DuckDBInstance,
  work: Work<Result>,
): Promise<Result> {
  const connection = await instance.connect()
  try {
    return await work(connection)
  } finally {
    connection.closeSync()
  }
}

/** How often a query that is too slow is told to end: between two statements it does not hear. */
const interruptEveryMs = 50

/** @throws DomainError `query_too_slow` when it takes too long, or more memory than there is */
async function withinTime<Result>(
  connection: DuckDBConnection,
  work: Work<Result>,
  ms: number,
): Promise<Result> {
  let interrupting: NodeJS.Timeout | undefined
  const deadline = setTimeout(() => {
    interrupting = setInterval(() => connection.interrupt(), interruptEveryMs)
  }, ms)
  try {
    return await work(connection)
  } catch (error) {
    if (interrupting !== undefined) {
      throw new DomainError('query_too_slow', `the query takes longer than ${ms / 1_000} s`)
    }
    if (!messageOf(error).startsWith('Out of Memory')) throw error
    throw new DomainError('query_too_slow', 'the query needs more memory than there is')
  } finally {
    clearTimeout(deadline)
    clearInterval(interrupting)
  }
}

/** Whether a statement named a table that is not there. */
export function isTableMissing(error: unknown): boolean {
  return /^Catalog Error: Table .* does not exist/.test(messageOf(error))
}

function closedError(): Error {
  return new Error('the time-series file is closed')
}
