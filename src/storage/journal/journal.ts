/**
 * Position of one entry in the journal: entries are numbered from 0 in the order in which they
 * became durable, and a number is never given twice. A consumer's position is the offset of the
 * entry that it wants next.
 */
export type Offset = number

/** Entries that were written together. */
export interface JournalBatch {
  readonly firstOffset: Offset
  readonly count: number
  readonly bytes: Uint8Array
}

export interface JournalStatus {
  /** Offset that the next entry will get. */
  readonly head: Offset
  /** Bytes of entries that were not trimmed yet. */
  readonly bytes: number
  readonly bytesMax: number
  /** The problem that keeps it from accepting entries, or nothing. */
  readonly problem: string | undefined
}

/** The durable log between intake and its consumers. What it has accepted survives a power cut. */
export interface Journal {
  /**
   * Appends a batch as a whole or not at all; resolves when it is on disk. Gives up the memory of
   * `bytes`.
   *
   * @throws DomainError `journal_full` (retryable: space, or the size limit) or
   *   `journal_unavailable` (the disk failed; nothing is accepted until a restart) or `data_folder_gone` (retryable:
   *   the file is not at its path any more)
   */
  append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<Offset>

  /** Forgets the entries below an offset: no consumer will ask for them again. */
  trim(below: Offset): Promise<void>

  status(): Promise<JournalStatus>
}

/** What a consumer sees of the journal. */
export interface JournalReader {
  /**
   * Batches in order, beginning with the one that holds the offset: at least one if there is one,
   * then as long as there are fewer than `entriesMax` entries from the offset on, and not too many bytes to be held
   * at once.
   */
  read(from: Offset, entriesMax: number): readonly JournalBatch[]

  /** Offset that the next entry will get. */
  nextOffset(): Offset

  close(): void
}
