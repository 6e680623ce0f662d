import type { SessionChange, StoredSessions } from './sessions-file.ts'

/** What the thread is started with. */
export interface SessionsThreadData {
  readonly path: string
}

/** What other threads may ask of the thread of the MQTT sessions. */
export interface SessionsProcedures {
  load(): StoredSessions
  apply(changes: readonly SessionChange[]): void
  close(): void
}
