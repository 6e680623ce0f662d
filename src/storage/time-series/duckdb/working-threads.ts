import type { DuckDBConnection } from '@duckdb/node-api'

/** How much a reader has to look at: a short one is done within some tens of milliseconds. */
export type ReadLength = 'short' | 'long'

/**
 * One who writes has no help: while the other thread does the work, DuckDB waits for it by asking again and again,
 * which costs as much as the work.
 */
export const threadsOfWriter = 1

const threadsOfReadersMax = 2

/**
 * How many threads DuckDB works with, which is one setting for all who use a file.
 *
 * Who reads has help where a processor is left then for acknowledgements. On two of them only who reads little has:
 * a scan on both made those wait for its turns.
 */
export class WorkingThreads {
  readonly #processors: number
  #threads = threadsOfWriter
  #longReaders = 0
  #lastChange: Promise<void> = Promise.resolve()

  constructor(processors: number) {
    this.#processors = processors
  }

  /** Reads through a connection, with as many threads as are good for all who read now. */
  async read<Result>(
    length: ReadLength,
    connection: DuckDBConnection,
    work: (connection: DuckDBConnection) => Promise<Result>,
  ): Promise<Result> {
    if (length === 'long') this.#longReaders++
    try {
      const free = this.#longReaders > 0 ? this.#processors - 1 : this.#processors
      await this.#workWith(Math.max(1, Math.min(threadsOfReadersMax, free)), connection)
      return await work(connection)
    } finally {
      if (length === 'long') this.#longReaders--
    }
  }

  /** To be called while nobody reads. */
  async write(connection: DuckDBConnection): Promise<void> {
    await this.#workWith(threadsOfWriter, connection)
  }

  /** One change after the other: of two at once either could be the last. */
  async #workWith(threads: number, connection: DuckDBConnection): Promise<void> {
    if (this.#threads === threads) return
    this.#threads = threads
    const before = this.#lastChange
    const change = async () => {
      await before.catch(() => undefined)
      await connection.run(`SET threads = ${threads}`)
    }
    this.#lastChange = change()
    await this.#lastChange
  }
}
