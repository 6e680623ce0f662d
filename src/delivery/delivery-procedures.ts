import type { Backlog } from './backlog.ts'
import type { DeliveryStats } from './deliverer.ts'
import type { DeskRequest } from './desk.ts'

/** What other threads may ask of the thread that delivers. */
export interface DeliveryProcedures extends Record<string, (argument: never) => unknown> {
  /** Forgets what it knows of these webhooks, and looks for what is due for them. */
  changed(webhookIds: readonly string[]): void
  stats(): Promise<DeliveryStats & Backlog>
  /** Resolves when what was under way has ended, or is left for the next start. */
  stop(): Promise<void>
}

/** What the thread that delivers may ask of the one that writes the state. */
export interface DeskProcedures extends Record<string, (argument: never) => unknown> {
  exchange(request: DeskRequest): Promise<readonly string[]>
  news(): Promise<readonly string[]>
}
