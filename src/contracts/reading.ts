import type { ErrorDetail } from '../core/errors.ts'
import type { StreamId, UserId } from '../core/ids.ts'
import type { RefusalReason } from '../core/refusal-catalogue.ts'

import type { MessageContext } from './mapping.ts'
import type { ContextRoot } from './path.ts'
import type { FormatOptions, PayloadFormat, StreamSchema } from './stream-schema.ts'

import type { TransformStep } from './transform-step.ts'

/** Readings of one message, still of unknown shape. */
export interface DecodedMessage {
  readonly ok: true
  readonly readings: readonly unknown[]
  /** Makes the readings anew for a time of receipt, where they have times that count from it. */
  readonly readingsAt?: ((receivedAtUs: number) => readonly unknown[]) | undefined
  /** False for a single object, true for an array (of one reading, too). */
  readonly isBatch: boolean
  readonly format: PayloadFormat
  /** Readings that could not be read although their neighbours could: what is wrong, by their index. */
  readonly unreadable?: ReadonlyMap<number, string>
  /** Where each reading stood in the batch that was sent, when these are only some of it. */
  readonly places?: readonly number[]
  /**
   * The bytes that each reading of a batch was sent as, given those of the message. The quarantine
   * keeps what was sent, byte for byte, and not what we would print of it.
   */
  readonly elements?: (payload: Uint8Array) => readonly Uint8Array[]
  /** Formats of elements that are kept in another one than the message's, by their index. */
  readonly elementFormats?: ReadonlyMap<number, PayloadFormat>
  /** What is known to be refused without being judged, by its index. */
  readonly refused?: ReadonlyMap<number, RefusedReading>
  /** What the quarantine keeps of a reading, by its index, where that is not its element. */
  readonly kept?: (index: number, payload: Uint8Array) => KeptReading
}

/** As much of a message as another mapping needs to find one of its readings again. */
export interface KeptReading {
  readonly payload: Uint8Array
  readonly format: PayloadFormat
  /** Whether it is one element of a batch, and no message. */
  readonly isElement: boolean
  /** Its place among samples, whose times count from the first one. */
  readonly place?: number
}

/** Finds the readings in a decoded message, and their fields. Pure. */
export type Mapper = (
  decoded: DecodedMessage,
  context: MessageContext & { readonly place?: number | undefined },
) => DecodedMessage

/** A message that cannot be taken apart into readings. */
export interface UndecodableMessage {
  readonly ok: false
  readonly problem: string
}

/** Takes a message apart; the scan of its stream may spare it the trouble. Pure. */
export type Decoder = (payload: Uint8Array, scan?: Scan) => DecodedMessage | UndecodableMessage

/** One version of a data stream, as far as a reading needs it. */
export interface StreamVersion {
  readonly streamId: StreamId
  readonly ownerId: UserId
  readonly version: number
  readonly schema: StreamSchema
  /**
   * The format of payloads that come without a content type, as over MQTT. JSON when nothing is
   * said.
   */
  readonly format?: PayloadFormat
  readonly formatOptions?: FormatOptions
  /**
   * It takes no readings now: sources that can be told are told, the others' are quarantined
   * (decisions.md#pauses-and-states).
   */
  readonly isPaused?: boolean
  /** Only the service itself writes into it. */
  readonly isInternal?: boolean
  /**
   * Its filter lets messages of several topics in: the same reading on two of them is two readings
   * (decisions.md#identity-of-a-reading).
   */
  readonly distinguishesSenders?: boolean
  /**
   * Steps that are done to a reading that fits the schema, before it is stored; nothing if there
   * are none.
   */
  readonly transform?: readonly TransformStep[]
}

/** What an entry names a version of a stream by. */
export type NamedVersion = Pick<StreamVersion, 'streamId' | 'version'>

/** A reading that fits its stream. It exists only after validation. */
export interface AcceptedReading {
  readonly accepted: true
  readonly isFiltered?: never
  readonly timestampUs: number
  /** Canonical JSON of the declared fields, as they are after the transform. */
  readonly values: string
  /** Canonical JSON of the fields that the schema does not know; empty when there are none. */
  readonly extra: string
  /** Declared fields whose value is out of range, kept because the stream is lenient. */
  readonly flagged: readonly string[]
  /**
   * The digest that it is known by among readings of its time: 64 bits, in hex (see `digestOf`).
   */
  readonly digest: string
  /** Who sent it, where that is a part of what it is. */
  readonly sender?: string
}

/** A reading that fits, and that a filter of its stream keeps from being stored. */
export interface FilteredReading {
  readonly accepted: true
  readonly isFiltered: true
  readonly timestampUs: number
  readonly digest: string
}

/** A reading that does not fit: it is kept in quarantine, with the reason. */
export interface RefusedReading {
  readonly accepted: false
  readonly isFiltered?: never
  readonly reason: RefusalReason
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** The time that it claims, where that much could be read. */
  readonly timestampUs: number | undefined
}

export type Verdict = AcceptedReading | FilteredReading | RefusedReading

/** When a reading arrived, and how far ahead of the server its own clock may be. */
export interface Receipt {
  readonly receivedAtUs: number
  /** The server's time, where it is not judged at its receipt. */
  readonly judgedAtUs?: number | undefined
  readonly futureToleranceUs: number
  /** Who sent it, where the stream tells that apart (see `senderOf`). */
  readonly sender?: string | undefined
  /** Shared by the readings of a message whose stream has a transform. */
  readonly allowance?: Allowance | undefined
}

/** Work that expressions may still do, in steps of about 0.1 microseconds. */
export interface Allowance {
  left: number
}

/** The stages of one schema, ready to be run on its readings. Pure. */
export type Judge = (reading: unknown, receipt: Receipt) => Verdict

/**
 * Looks for plain readings in the text of a message, which the judge of the same schema then takes in
 * place of objects. It answers nothing as soon as anything is not plain (an unknown field, an escape,
 * a value out of range), and has refused nothing by that: parsing tells what it is. Pure.
 */
export type Scan = (text: string) => Pick<DecodedMessage, 'readings' | 'isBatch'> | undefined

/** A stream's newest version with its compiled stages. */
export interface CompiledStream extends StreamVersion {
  /** Decodes payloads in the format of the stream. */
  readonly decode: Decoder
  readonly judge: Judge
  /** Nothing where a message is a reading, or a list of some, and its members are the fields. */
  readonly map?: Mapper | undefined
  /** What its fields and its time read of what is known of a message beside its bytes; undefined: nothing. */
  readonly reads?: ReadonlySet<ContextRoot> | undefined
  /** Nothing when the schema has more than plain fields. */
  readonly scan: Scan | undefined
}

/** What a decoder may know of the stream that a message is for. */
export type DecodedStream = Pick<StreamVersion, 'schema' | 'formatOptions'>
