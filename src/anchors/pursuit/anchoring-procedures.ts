import type { PlainChange } from '../../storage/state/database.ts'
import type { DeskAnswer, DeskRequest } from './desk.ts'
import type { LaneFigures } from './lane-needs.ts'

/** What other threads may ask of the thread that anchors. */
export interface AnchoringProcedures {
  /** There may be something to do. */
  wake(): void
  /** One for each network. */
  figures(): readonly LaneFigures[]
  /** Resolves when what was under way has ended, or is left for the next start. */
  stop(): Promise<void>
}

/** What the thread that anchors may ask of the one that writes the state. */
export interface AnchorDeskProcedures {
  exchange(request: DeskRequest): Promise<DeskAnswer>
  /** As that of `StateWriter`. */
  attempt(changes: readonly PlainChange[]): Promise<boolean>
}
