import type { ErrorDetail } from '../core/errors.ts'
import type { StreamId, UserId } from '../core/ids.ts'
import type { StreamSchema } from './stream-schema.ts'

/** Why a reading was not accepted. Stable names: they are stored, counted and filtered by. */
export type RefusalReason =
  | 'malformed'
  | 'schema_mismatch'
  | 'timestamp_invalid'
  | 'timestamp_in_future'

/** Readings of one message, still of unknown shape. */
export interface DecodedMessage {
  readonly ok: true
  readonly readings: readonly unknown[]
  /** False for a single object, true for an array (of one reading, too). */
  readonly isBatch: boolean
}

/** One version of a data stream, as far as a reading needs it. */
export interface StreamVersion {
  readonly streamId: StreamId
  readonly ownerId: UserId
  readonly version: number
  readonly schema: StreamSchema
}

/** A reading that fits its stream. It exists only after validation. */
export interface AcceptedReading {
  readonly accepted: true
  readonly timestampUs: number
  /** Canonical JSON of the declared fields. */
  readonly values: string
  /** Canonical JSON of the fields that the schema does not know; empty when there are none. */
  readonly extra: string
  /** Declared fields whose value is out of range, kept because the stream is lenient. */
  readonly flagged: readonly string[]
  /** First 64 bits, in hex, of the SHA-256 of the canonical JSON of all fields. */
  readonly digest: string
}

/** A reading that does not fit: it is kept in quarantine, with the reason. */
export interface RefusedReading {
  readonly accepted: false
  readonly reason: RefusalReason
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** The time that it claims, where that much could be read. */
  readonly timestampUs: number | undefined
}

export type Verdict = AcceptedReading | RefusedReading

/** When a reading arrived, and how far ahead of that its own clock may be. */
export interface Receipt {
  readonly receivedAtUs: number
  readonly futureToleranceUs: number
}

/** The stages of one schema, ready to be run on its readings. Pure. */
export type Judge = (reading: unknown, receipt: Receipt) => Verdict

/** A stream's newest version with its compiled stages. */
export interface CompiledStream extends StreamVersion {
  readonly judge: Judge
}
