/** A backup that was asked for, and what became of it. */
export interface BackupTable {
  readonly id: string
  readonly state: string
  readonly destination: string
  readonly with_master_key: number
  readonly created_at: number
  readonly finished_at: number | null
  readonly error: string | null
  /** JSON; of a completed one. */
  readonly manifest: string | null
}
