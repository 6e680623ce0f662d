import type { Offset } from '../../../journal/journal.ts'
import type { Shape } from '../../time-series-store.ts'
import type { QuestDbServer } from '../connection.ts'

/** Rows on a server, as they were at one position. */
export interface ServedRows {
  readonly server: QuestDbServer
  /** Which process of the server has them: another one may have lost some. */
  readonly process: string
  readonly position: Offset
  /** What was marked as too old in this round or a later one was still there at the position. */
  readonly expiryRound: number
  /** Of each of its tables. */
  readonly shapes: readonly Shape[]
}
