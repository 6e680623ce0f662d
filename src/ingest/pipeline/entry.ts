import type { KeptContext } from '../../contracts/mapping.ts'
import type { PayloadFormat } from '../../contracts/stream-schema.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { type StreamId, uuidAt, uuidBytes } from '../../core/ids.ts'
import type { Offset } from '../../storage/journal/journal.ts'

/**
 * What the journal holds: one entry per reading, final when it is written.
 *
 * Layout of format 1, little-endian. Times are microseconds since the epoch, as doubles: they are
 * exact up to 2^53, which is the year 2255.
 *
 *     0  u32  bytes that follow           26  f64  received at
 *     4  u8   format of the entry         34  f64  timestamp (NaN: none)
 *     5  u8   kind                        42  8 B  digest
 *     6  16 B stream id                   50  u32  bytes of the notes
 *    22  u32  version of the stream       54       notes (JSON or empty), then the body
 *
 * The body of an accepted reading is the canonical JSON of its declared fields; that of a
 * quarantined one is the bytes as they arrived. A filtered one (kind 7) has no body. An imported
 * one (kind 9) is like an accepted one, but it is history: it moves no alert
 * (decisions.md#the-time-of-alerts), and how long it takes to be stored says nothing about the
 * service.
 *
 * Format 2 has the same layout, and is of what people do with the quarantine. Its kinds name
 * entries of the quarantine by the offset of the reading's first entry. A reading that was counted as
 * received is not received once more when it comes out: of the several that a message may turn out to
 * hold, the first takes its place and the others are received.
 *
 *     3  redriven    like 1: a refused reading fits now         notes + origin
 *     4  unfit       like 2: of a message that fits in part     notes + origin
 *     5  rejudged    stays, for another reason                  notes: of 2, and origin; no body
 *     6  removed     deleted by a person                        notes: offsets; no body
 *     8  redriven    like 7: it fits now, and is filtered       notes: origin; no body
 *
 * Entries of what people do with stored readings have format 2, too:
 *
 *    16  cleared     readings of a range of time removed       notes: the range; no body
 *
 * Entries that move alerts without a reading have it as well (decisions.md#the-time-of-alerts), and
 * no body. They are nobody's readings: only the decider looks at them.
 *
 *    10  timer       what was due by then is due               no notes; timestamp in steady time
 *    11  person      somebody did something to an alert        notes: what, and who
 *    12  fleet       the rules of fleets, from here on         notes: the rules
 *    13  downtime    nobody was heard since the timestamp      no notes; of no stream; in steady time
 *
 * An entry of format 2 without a body also says how far a source has been read (see `SourcePosition`), which stands
 * behind its readings:
 *
 *    14  position    the next round goes on behind it          notes: the position; no body
 *
 * An entry of format 2 also says what the wall clock is held against, so that waits that entries say
 * something about take as long as they are to. Both times are of one moment, the timestamp in steady
 * time (see `src/core/clock.ts`):
 *
 *    17  clock       the wall clock was set                    no notes; of no stream
 *
 * What has no meaning for a kind is 0 (version, digest) or none (timestamp).
 */
export const entryFormat = 1
export const quarantineFormat = 2
export const headerBytes = 54
export const kindAccepted = 1
export const kindQuarantined = 2
export const kindRedriven = 3
export const kindUnfit = 4
export const kindRejudged = 5
export const kindRemoved = 6
export const kindFiltered = 7
export const kindRedrivenFiltered = 8
export const kindImported = 9
export const kindAlertTimer = 10
export const kindAlertAction = 11
export const kindFleetRules = 12
export const kindDowntime = 13
export const kindPosition = 14
export const kindCleared = 16
export const kindClock = 17

/** Thrown for bytes that this version of the program must not guess the meaning of. */
export class EntryFormatError extends Error {
  override readonly name = 'EntryFormatError'
}

/** The entry of the quarantine that a reading comes out of, and its place in what that holds. */
export interface Origin {
  readonly offset: Offset
  readonly index: number
}

export interface AcceptedNotes {
  readonly extra?: string
  readonly flagged?: readonly string[]
  /** Who sent it, where the stream has several senders (see `senderOf`). */
  readonly sender?: string
  readonly origin?: Origin
}

export interface QuarantineNotes {
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly source: string
  /** How the bytes are to be read; JSON when nothing is said. */
  readonly format?: PayloadFormat
  /** The payload is one element of a batch; absent where it is a message as it came. */
  readonly element?: true
  /** As in `AcceptedNotes`. */
  readonly sender?: string
  /** What is known of the message beside its bytes. */
  readonly context?: KeptContext
  /** Its place among samples, whose times count from the first one. */
  readonly place?: number
  readonly origin?: Origin
}

export interface RemovalNotes {
  readonly offsets: readonly Offset[]
}

/** The readings that are removed: those of the stream in [startUs, endUs) that came before. */
export interface ClearedRange {
  readonly startUs: number
  readonly endUs: number
}

/** What every entry has. */
interface EntryHeader {
  /** The 16 bytes of the stream's id as a Latin-1 string: a cheap key for maps. */
  readonly streamKey: string
  readonly streamVersion: number
  readonly receivedAtUs: number
}

export interface AcceptedEntry extends EntryHeader {
  readonly accepted: true
  readonly timestampUs: number
  readonly digest: bigint
  readonly values: string
  readonly extra: string | undefined
  readonly flagged: readonly string[]
}

export interface QuarantinedEntry extends EntryHeader {
  readonly accepted: false
  readonly timestampUs: number | undefined
  readonly notes: QuarantineNotes
  /** A view of the batch's memory, valid as long as the batch is. */
  readonly payload: Uint8Array
}

/** A reading that a filter has kept from being stored: it is counted, and nothing more. */
export interface FilteredEntry extends EntryHeader {
  readonly accepted: false
  readonly filtered: true
  readonly timestampUs: number
  readonly digest: bigint
}

/** An entry about a reading. */
export type Entry = AcceptedEntry | QuarantinedEntry | FilteredEntry

/** The uuid behind an entry's stream key. */
export function streamIdOf(streamKey: string): string {
  return uuidAt(Buffer.from(streamKey, 'latin1'), 0)
}

/** The stream key of an entry about a stream. */
export function streamKeyOf(streamId: string): string {
  return uuidBytes(streamId as StreamId).toString('latin1')
}
