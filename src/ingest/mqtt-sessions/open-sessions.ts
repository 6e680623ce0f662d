import type { Clocks } from '../../core/clock.ts'
import { DurableSessions } from './durable-sessions.ts'
import { SessionsLog } from './sessions-log.ts'

/** The sessions of a data folder, and what ends with the service. */
export interface OpenSessions {
  readonly sessions: DurableSessions
  /** Rejects when the thread that writes them ends by an error. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/** Opens the file of the sessions and reads all of it. */
export async function openSessions(path: string, clock: Clocks): Promise<OpenSessions> {
  const { log, stored } = await SessionsLog.open(path)
  return {
    sessions: new DurableSessions({ log, stored, clock }),
    failed: log.failed,
    close: () => log.close(),
  }
}
