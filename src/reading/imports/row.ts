/** One row of a file, on its way to be judged. */
export interface Row {
  /** The reading as JSON; of a row that cannot be read, its own bytes. */
  readonly payload: Buffer
  /** Why it cannot be read. */
  readonly problem?: string
  /** How much of the file is read, from 0 to 1. */
  readonly share: number
}

/** A file that is not what it says, or of which no row could become a reading. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}
