import type { RollupOptions } from '../rollups/candidates.ts'

/** What may be said of a store when it is opened. */
export interface DuckDbOptions {
  /** When looking for late readings is put off; see `lookUpRowsMax`. */
  readonly lookUpRowsMax?: number
  /** How many of those are stored at once; see `rowsPerLateTable`. */
  readonly rowsPerLateTable?: number
  /** What is rolled up, and when. */
  readonly rollups?: RollupOptions
  /** Hears of look-ups of late readings that failed; they are repeated. */
  readonly onLookUpFailure?: (error: unknown) => void
  /** Hears of failures to roll something up; what failed is repeated. */
  readonly onRollupFailure?: (error: unknown) => void
}
