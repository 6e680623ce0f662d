/** Log that is merged into the file at once, at least: until then its rows are kept in memory, too. */
export const checkpointBytesMin = 8_000_000

/**
 * Bytes that are left of blocks which nobody uses, when the buffers are told to let go of them, at
 * least.
 */
const keptBytesMin = 4_000_000

/**
 * Bytes that rows take of each column that they go to, about, however few they are: for values and
 * for their validity.
 */
const bytesPerColumn = 20_000

/**
 * Log of each column that rows go to, about, that is worth a checkpoint: that writes the last block of each anew, and
 * with hundreds of tables one would follow the other. Until then rows fill the block that they have in memory.
 */
const logBytesPerColumn = 50_000

/** Log that is merged into the file at the latest: its rows are in memory, which has a limit. */
const logBytesMax = 200_000_000

/** Over how many columns, of all tables, the last rows were spread, and what DuckDB needs for more of that kind. */
export class Spread {
  #logBytes = 0

  /** Log that a checkpoint merges into the file. */
  get checkpointBytes(): number {
    return Math.max(checkpointBytesMin, this.#logBytes)
  }

  /**
   * What is left of blocks that nobody uses, on top of what rows take that are not in the file yet. Those would be
   * swapped out, and read again for the next ones, when too little is left to the tables they go to, each of which keeps
   * some blocks in use, whatever the limit is.
   */
  get keptBytes(): number {
    return Math.max(keptBytesMin, this.#logBytes)
  }

  /**
   * Follows rows that went to so many columns.
   *
   * @returns whether other settings are due
   */
  follow(columns: number): boolean {
    const wanted = Math.min(columns * logBytesPerColumn, logBytesMax)
    const now = this.#logBytes
    if (wanted > now / 2 && wanted <= now) return false
    // Less by and by only: the next rows may go to many columns again.
    this.#logBytes = Math.max(wanted, Math.ceil(now / 2))
    return true
  }
}

/** Memory that columns take when rows go to them, beside the rows themselves, about. */
export function memoryOf(columns: number): number {
  return columns * bytesPerColumn
}
