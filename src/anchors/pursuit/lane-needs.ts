import type { SteadyClock } from '../../core/clock.ts'
import type { Ledger } from '../../ledgers/ledger.ts'
import type { AnchorRules } from '../intents/next-step.ts'
import type { AnchorDesk } from './desk.ts'
import type { OpenWork } from './open-work.ts'

/** However long something was tried before this start: a service that was down for a day has asked nobody. */
export const graceUsMax = 60_000_000

export interface LaneNeeds {
  readonly network: string
  /**
   * Opens the ledger. It is asked again after a failure.
   *
   * @throws Error why it cannot be opened
   */
  readonly open: () => Promise<Ledger>
  readonly work: OpenWork
  readonly desk: AnchorDesk
  readonly clock: SteadyClock
  readonly rules: Omit<AnchorRules, 'jitter'>
  /** 0 to 1. */
  readonly random: () => number
  /** Hears of failures that are ours, and not the ledger's. */
  readonly onFailure: (error: unknown) => void
}

/** How a lane is doing. */
export interface LaneFigures {
  readonly network: string
  /** Why the ledger cannot be asked; undefined while it can. */
  readonly problem: string | undefined
  /** Transactions that were signed, since the start. */
  readonly signed: number
  /** Transactions that are on the ledger for good, since the start. */
  readonly completed: number
  /** Transactions under way. */
  readonly inFlight: number
}
