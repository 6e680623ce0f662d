import type { BackupId } from '../../core/ids.ts'
import type { BackupProgress } from './backup-writer.ts'
import type { Manifest } from './manifest.ts'

/** What can become of a backup. One that a restart has cut off has failed. */
export const backupStates = ['running', 'completed', 'failed', 'cancelled'] as const

export type BackupState = (typeof backupStates)[number]

/** What is known of one backup. */
export interface Backup {
  readonly id: BackupId
  readonly state: BackupState
  /** The place, as people write it. */
  readonly to: string
  readonly withMasterKey: boolean
  readonly createdAtUs: number
  readonly finishedAtUs: number | undefined
  /** Progress of a backup that is running. */
  readonly progress: BackupProgress | undefined
  /** Why it has failed. */
  readonly error: string | undefined
  /** Manifest of a completed backup. */
  readonly manifest: Manifest | undefined
}
