import type { QuestDbConnection } from './connection.ts'
import type { Unapplied } from './unapplied.ts'

/** What work on the tables is done with. */
export interface WritePlace {
  readonly connection: QuestDbConnection
  readonly unapplied: Unapplied
}
