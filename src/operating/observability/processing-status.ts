import type { SealingStatus } from '../../evidence/seals/sealer.ts'
import type { ConsumerStatus } from '../../ingest/pipeline/consumer.ts'
import type { RetentionStatus } from '../../reading/retention/retention-schedule.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { QueryLoad, StoredTotals } from '../../storage/time-series/time-series-store.ts'
import type { WindowTotals } from '../../storage/time-series/windows/window-store.ts'
import type { FanOutStatus } from '../../telling/notifications/fan-out.ts'

/** How far the worker has come, and what it holds. */
export interface ProcessingStatus {
  readonly shipper: ConsumerStatus
  readonly decider: ConsumerStatus
  readonly held: HeldEntries
  readonly totals: StoredTotals
  readonly queries: QueryLoad
  readonly retention: RetentionStatus
  readonly notifying: NotifyingStatus
  /** Used by JavaScript in the thread, garbage included. */
  readonly heapBytes: number
  /** Streams that consumers and rules have at hand. */
  readonly atHand: { readonly shipper: number; readonly decider: number; readonly alerts: number }
  readonly windows: WindowTotals & { readonly behindSeconds: number; readonly tooSlow: number }
  readonly seals: SealingStatus
}

/** Entries that are stored, and that a server could still lose. */
export interface HeldEntries {
  /** The first that the journal has to keep. */
  readonly from: Offset
  readonly bytes: number
  /** What the server has lost, and the journal does not have any more. */
  readonly problem: string | undefined
}

/** What is told of events, for who watches the service. */
export interface NotifyingStatus extends FanOutStatus {
  /** Entries that found no room in the inbox of their user, since the start. */
  readonly inboxRefused: number
  /** Mails that were not written since the start: there were too many for their addresses. */
  readonly mailsWithheld: number
}
