import type { Generated } from 'kysely'

/** Roots over what is stored of streams, and what is still to be sealed. */
export interface SealTables {
  seal_marks: SealMarkTable
  seals: SealTable
  seal_batches: SealBatchTable
}

/** A stretch of event time that is to be sealed, or sealed again. */
interface SealMarkTable {
  readonly stream_id: string
  readonly start_us: number
  readonly width_us: number
  /** The entry that it was marked for last. */
  readonly journal_offset: number
  /** When it is to be sealed, but for what may still be under way. */
  readonly due_at: number
  /** JSON {error, message}: why it could not be sealed when that was tried last. */
  readonly problem: string | null
}

/** One revision of the root over a stretch. */
interface SealTable {
  /** The order in which they come into batches. */
  readonly number: Generated<number>
  readonly stream_id: string
  readonly start_us: number
  readonly width_us: number
  /** From 1. */
  readonly revision: number
  /** Readings. */
  readonly count: number
  /** Hex. */
  readonly root: string
  /** The root of the revision before. */
  readonly previous: string | null
  /** See `encodeChunks` of src/evidence/seals/chunk-bytes.ts. */
  readonly chunks: Uint8Array
  readonly sealed_at: number
  /** Null until it is in a batch. */
  readonly batch_id: string | null
  /** Its place among the seals of the batch. */
  readonly batch_index: number | null
  /** The hashes of the way from it to the root of the batch, one after the other. */
  readonly batch_path: Uint8Array | null
}

/** Seals with one root, which is anchored under the id of the batch. */
interface SealBatchTable {
  readonly id: string
  /** See `batchText` of src/ledgers/seals/seal-text.ts. */
  readonly text: string
  readonly created_at: number
}
