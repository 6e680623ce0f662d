/**
 * After so many rows, or bytes of the journal and of the columns that were written to, DuckDB is asked to
 * give back unused memory.
 */
export const rowsPerRelease = 100_000
const bytesPerRelease = 24_000_000

/** What was written since memory was given back. */
export class ReleaseCount {
  #rows = 0
  #bytes = 0

  add({ rows = 0, bytes = 0 }: { readonly rows?: number; readonly bytes?: number }): void {
    this.#rows += rows
    this.#bytes += bytes
  }

  get isDue(): boolean {
    return this.#rows >= rowsPerRelease || this.#bytes >= bytesPerRelease
  }

  reset(): void {
    this.#rows = 0
    this.#bytes = 0
  }
}
