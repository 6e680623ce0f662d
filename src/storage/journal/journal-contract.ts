import type { MessagePort } from 'node:worker_threads'
import type { JournalStatus, Offset } from './journal.ts'

/** What the thread is started with. */
export interface JournalThreadData {
  readonly path: string
  /** Entries beyond this are refused. */
  readonly bytesMax: number
  /** The newest entries stay for so many bytes, also when no consumer needs them any more. */
  readonly retainedBytes?: number
  /** Where those who follow the journal are told of a new head: a number, after each commit. */
  readonly followers: readonly MessagePort[]
}

/** What other threads may ask of the journal's thread. */
export interface JournalProcedures {
  append(batch: { readonly bytes: Uint8Array; readonly count: number }): Offset
  trim(below: Offset): Promise<void>
  status(): JournalStatus
  close(): void
}
