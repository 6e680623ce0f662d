import type { TracingFigures } from '../../core/tracing.ts'
import type { Backlog } from './backlog.ts'
import type { DeliveryStats } from './deliverer-needs.ts'
import type { DeliveryChannel } from './delivery.ts'
import type { DeskRequest } from './desk.ts'

/** What the thread that delivers has done, and has to do. */
export interface DeliveryFigures extends Backlog {
  readonly webhooks: DeliveryStats
  readonly mail: DeliveryStats
  /** Undefined: no traces. */
  readonly tracing: TracingFigures | undefined
}

export interface ChangedReceivers {
  readonly channel: DeliveryChannel
  readonly receiverIds: readonly string[]
}

/** What other threads may ask of the thread that delivers. */
export interface DeliveryProcedures {
  /** Forgets what it knows of these receivers, and looks for what is due for them. */
  changed(changed: ChangedReceivers): void
  stats(): Promise<DeliveryFigures>
  /** Resolves when what was under way has ended, or is left for the next start. */
  stop(): Promise<void>
}

/** What the thread that delivers may ask of the one that writes the state. */
export interface DeskProcedures {
  exchange(request: DeskRequest): Promise<readonly string[]>
  dueReceivers(channel: DeliveryChannel): Promise<readonly string[]>
}
