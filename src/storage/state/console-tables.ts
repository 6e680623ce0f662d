/** A browser that is signed in to the console. */
export interface ConsoleSessionTable {
  readonly id: string
  /** Digest of what its cookie says, keyed with the master key: hex. */
  readonly digest: string
  readonly user_id: string
  readonly key_id: string
  /** Digest of the secret of the key that it was made with: as that one ends, so does the session. */
  readonly key_digest: string
  /** Where the browser signed in from. */
  readonly address: string
  readonly created_at: number
  /** Steady time, as is `used_at`: how long it lasts is measured by it. */
  readonly started_at: number
  readonly used_at: number
}

/** How a user wants to see the console. */
export interface ConsoleSettingsTable {
  readonly user_id: string
  /** JSON object. */
  readonly settings: string
}
