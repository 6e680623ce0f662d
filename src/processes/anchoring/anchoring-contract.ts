import type { MessagePort } from 'node:worker_threads'
import type { FilesAddress } from '../../config/files.ts'
import type { LedgerSettings } from '../../core/ledger-settings.ts'
import type { LogSettings } from '../../core/log-settings.ts'

/** What the thread is started with. What it may be asked is in `anchoring-procedures.ts` of its domain. */
export interface AnchoringThreadData {
  readonly statePath: string
  readonly dataDir: string
  /** As it was configured; else it is in the data folder. */
  readonly masterKey: string | undefined
  /** Networks that are configured, besides the sandbox. */
  readonly ledgers: readonly LedgerSettings[]
  /** The folder of the sandbox. */
  readonly ledgerFolder: string
  /** Where the files of users are: the folder is that of the data folder. */
  readonly filesAddress: FilesAddress
  readonly filesFolder: string
  /** Whether anything is put on a ledger; vaults are compared with it in any case. */
  readonly isAnchoring: boolean
  readonly patienceUs: number
  readonly batchWaitUs: number
  /** Where the state is written. */
  readonly desk: MessagePort
  readonly log: LogSettings
}
