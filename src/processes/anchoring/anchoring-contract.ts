import type { MessagePort } from 'node:worker_threads'
import type { LogLevel } from '../../core/log-level.ts'

/** What the thread is started with. What it may be asked is in `anchoring-procedures.ts` of its domain. */
export interface AnchoringThreadData {
  readonly statePath: string
  readonly dataDir: string
  /** As it was configured; else it is in the data folder. */
  readonly masterKey: string | undefined
  /** The folder of the sandbox. */
  readonly ledgerFolder: string
  readonly patienceUs: number
  readonly batchWaitUs: number
  /** Where the state is written. */
  readonly desk: MessagePort
  readonly logLevel: LogLevel
}
