import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { DomainError, messageOf } from '../../core/errors.ts'
import { type QueryLimits, QueryTurns, queryLimits } from '../query-turns.ts'

/**
 * Limit of DuckDB's buffers. In ordinary work they stay far below it, because they are told to give
 * memory back (`releaseMemory`). What needs much is a checkpoint, which takes whatever a table's
 * last row group holds: with long texts that is hundreds of megabytes.
 */
const memoryLimit = '512MB'

/** What is left of the buffers when they are told to let go of what nobody uses. */
const memoryKept = '8MB'

const threads = '2'

/** Log that is merged into the file at once: until then its rows are kept in memory, too. */
const checkpointBytes = '8MB'

/**
 * A block holds one column of a table, however few its rows: readings that are spread over many
 * months must not take a quarter of a megabyte for each.
 */
const blockBytes = '16384'

interface OpenFile {
  readonly instance: DuckDBInstance
  readonly writer: DuckDBConnection
}

/** A table goes once, and there is a rest before the next one. */
const readAttemptsMax = 10

/**
 * A DuckDB file that is not closed under its users.
 *
 * A query that is still running when its instance is closed, or one that begins afterwards, brings
 * down the process; so closing waits for those who read, and nobody gets in meanwhile.
 */
export class DuckDbFile {
  readonly path: string
  readonly #limits: QueryLimits
  readonly #turns: QueryTurns
  readonly #readers = new Set<Promise<unknown>>()
  #open: OpenFile | undefined
  /** Pending while the file is being closed or opened. */
  #changing: Promise<void> | undefined

  private constructor(path: string, open: OpenFile, limits: QueryLimits) {
    this.path = path
    this.#open = open
    this.#limits = limits
    this.#turns = new QueryTurns(limits)
  }

  static async open(path: string, limits: QueryLimits = queryLimits): Promise<DuckDbFile> {
    return new DuckDbFile(path, await openFile(path), limits)
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
  async read<Result>(work: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    const timed = (connection: DuckDBConnection) => withinTime(connection, work, this.#limits.ms)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#turns.take(() => this.look(timed))
      } catch (error) {
        if (attempt >= readAttemptsMax || !isTableMissing(error)) throw error
      }
    }
  }

  /** The same for what the service itself wants to know: it waits for no turn, and takes its time. */
  async look<Result>(work: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    while (this.#changing) await this.#changing.catch(() => undefined)
    if (!this.#open) throw closedError()
    const reading = withConnection(this.#open.instance, work)
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
    })
  }

  /**
   * Gives back the memory of blocks that nobody uses: DuckDB itself keeps what it has read or written
   * until the limit is reached, so a file that grows would take ever more. Must not be called within
   * a transaction, which could then lack memory; does nothing while somebody reads, for the same
   * reason.
   *
   * @returns whether it was done
   */
  async releaseMemory(): Promise<boolean> {
    if (this.#readers.size > 0 || this.#changing) return false
    await this.#alone(async () => {
      // Refused when more than that is in use: then there is nothing to give back.
      await this.writer.run(`SET memory_limit = '${memoryKept}'`).catch(() => undefined)
      await this.writer.run(`SET memory_limit = '${memoryLimit}'`)
    })
    return true
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
  const instance = await DuckDBInstance.create(path, {
    memory_limit: memoryLimit,
    threads,
    default_block_size: blockBytes,
    checkpoint_threshold: checkpointBytes,
  })
  return { instance, writer: await instance.connect() }
}

async function withConnection<Result>(
  instance: DuckDBInstance,
  work: (connection: DuckDBConnection) => Promise<Result>,
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
  work: (connection: DuckDBConnection) => Promise<Result>,
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
