import { isDeepStrictEqual } from 'node:util'
import { inflated, isCompressed } from '../../../processors/content-coding.ts'
import { decoderOf, elementDecoderOf, isSelfDescribing } from '../../../processors/decode.ts'
import { rowReadings } from '../../../processors/mapping/row-reading.ts'
import type {
  CompiledStream,
  DecodedMessage,
  RefusedReading,
  UndecodableMessage,
  Verdict,
} from '../../contracts/reading.ts'
import { parseId, type StreamId } from '../../core/ids.ts'
import { passSources } from '../../core/number-sources.ts'
import type { EntryWriter } from '../pipeline/entry-writer.ts'
import { judgeMessage, keptBy, malformed } from '../pipeline/intake.ts'
import { digestProblem, senderOfNoDigest } from '../pipeline/sender.ts'
import type { HeldReading } from './quarantine-store.ts'

/** What another judgement makes of an entry of the quarantine. */
export interface Redrive {
  readonly held: HeldReading
  /** How many readings fit now; with one that does, the entry leaves the quarantine. */
  readonly accepted: number
  /** Why it stays, where none fits. */
  readonly refusal: RefusedReading | undefined
  /** Writes what follows for the journal: nothing when it stays for the same reason. */
  readonly write: (writer: EntryWriter) => void
}

/**
 * Judges the original bytes by a version of the stream. Pure.
 *
 * A reading without a time of its own keeps the time at which it was received. Whether a time lies in
 * the future is asked of the time of this judgement: a clock that was an hour ahead yesterday says
 * nothing about tomorrow. Who sent it stays what it was, whatever the source says now.
 */
export function redrive(stream: CompiledStream, held: HeldReading, nowUs: number): Redrive {
  const read = decode(stream, held)
  const decoded = read.ok ? mapped(stream, read, held) : read
  if (!decoded.ok) return staying(stream, held, malformed(decoded.problem))
  const { sender } = held
  if (sender === senderOfNoDigest) return staying(stream, held, malformed(digestProblem))
  const verdicts = judgeMessage(stream, decoded, held.receivedAtUs, { judgedAtUs: nowUs, sender })
  if (verdicts.length === 0) return staying(stream, held, nothingIn)
  const accepted = verdicts.filter((verdict) => verdict.accepted).length
  const [first] = verdicts
  if (accepted === 0 && first?.accepted === false) return staying(stream, held, first)
  const write = (writer: EntryWriter) => leave(writer, stream, { held, decoded, verdicts })
  return { held, accepted, refusal: undefined, write }
}

/** What a file has brought is no message: its members are the fields already. */
function mapped(
  { map, schema }: CompiledStream,
  decoded: DecodedMessage,
  { context = {} }: HeldReading,
): DecodedMessage {
  if (context.isRow === true) return rowReadings(decoded, schema)
  return map?.(decoded, context) ?? decoded
}

/** A list that is empty now was refused for what stands elsewhere in the message: somebody has to decide. */
const nothingIn: RefusedReading = {
  accepted: false,
  reason: 'mapping_failed',
  message: 'source.items leads to a list without readings',
  details: [{ path: 'source.items', message: 'leads to a list without readings' }],
  timestampUs: undefined,
}

function staying(stream: CompiledStream, held: HeldReading, refusal: RefusedReading): Redrive {
  const write = (writer: EntryWriter) => stay(writer, stream, held, refusal)
  return { held, accepted: 0, refusal, write }
}

/** What came in a format that the stream did not name may be in the one that it names now. */
function decode(stream: CompiledStream, held: HeldReading): DecodedMessage | UndecodableMessage {
  const { isElement } = held
  if (isElement) return decodeElement(stream, held)
  const read = uncompressed(stream, held.payload)
  if (!read.ok) return read
  const payload = read.content
  const decoded = decoderOf(held.format, stream)(payload)
  const { format = 'json' } = stream
  return decoded.ok || format === held.format ? decoded : stream.decode(payload)
}

/** What is kept is compressed where it could not be read: what was read is kept as it was then. */
function uncompressed({ formatOptions }: CompiledStream, payload: Uint8Array) {
  const coding = formatOptions?.contentCoding
  const isPlain = coding === undefined || !isCompressed(payload, [coding])
  return isPlain ? ({ ok: true, content: payload } as const) : inflated(payload, coding)
}

/**
 * An element is one reading: an array within an array has never been a batch. Where a mapping reads a list as a whole,
 * it is a list of that element.
 */
function decodeElement(
  stream: CompiledStream,
  held: HeldReading,
): DecodedMessage | UndecodableMessage {
  const { payload, format } = held
  const alone = stream.map && decodeInList(stream, held)
  if (alone !== undefined) return alone
  const decoded = elementDecoderOf(format, stream)(payload)
  if (!decoded.ok) return decoded
  const { isBatch, readings } = decoded
  if (!isSelfDescribing(format)) {
    // What is read by a definition may be a batch in each of its parts.
    return readings.length === 1 ? decoded : { ok: false, problem: 'it is several readings now' }
  }
  if (isBatch) return { ok: false, problem: 'a reading must be an object' }
  return { ...decoded, readings: readings.map((one) => withoutAddress(one, stream.streamId)) }
}

/** How a list of one element begins and ends. */
const lists = {
  json: ['[', ']'],
  ndjson: ['[', ']'],
  cbor: [Buffer.from([0x81]), ''],
  msgpack: [Buffer.from([0x91]), ''],
} as const

/** Nothing for what was no element of a list: what comes with an address is a message of its own. */
function decodeInList(
  stream: CompiledStream,
  { payload, format }: HeldReading,
): DecodedMessage | UndecodableMessage | undefined {
  if (!isSelfDescribing(format)) return undefined
  const [begin, end] = lists[format]
  const list = Buffer.concat([Buffer.from(begin), payload, Buffer.from(end)])
  const decoded = elementDecoderOf(format, stream)(list)
  if (!decoded.ok) return decoded
  const [one, ...others] = decoded.readings
  if (others.length > 0) return { ok: false, problem: 'it is several readings' }
  if (withoutAddress(one, stream.streamId) !== one) return undefined
  return { ...decoded, elements: () => [payload] }
}

/** Among readings of several streams each says which one it belongs to: that is no field of it. */
function withoutAddress(reading: unknown, streamId: StreamId): unknown {
  const { streamId: address, ...fields } = (reading ?? {}) as { readonly streamId?: unknown }
  if (typeof address !== 'string' || parseId(address) !== streamId) return reading
  passSources(reading as object, fields)
  return fields
}

function stay(
  writer: EntryWriter,
  stream: CompiledStream,
  held: HeldReading,
  refusal: RefusedReading,
): void {
  const { reason, message, details, timestampUs } = held
  const before = { accepted: false, reason, message, details, timestampUs }
  if (isDeepStrictEqual(before, { ...refusal })) return
  const { id: offset, receivedAtUs: atUs, source } = held
  writer.rejudged(stream, refusal, { atUs, source, offset })
}

interface Leaving {
  readonly held: HeldReading
  readonly decoded: DecodedMessage
  readonly verdicts: readonly Verdict[]
}

/** Every reading gets an entry; those of a batch that still do not fit get one of the quarantine. */
function leave(
  writer: EntryWriter,
  stream: CompiledStream,
  { held, decoded, verdicts }: Leaving,
): void {
  const { id: offset, source, receivedAtUs, sender } = held
  const { place: _place, ...context } = held.context ?? {}
  const kept = keptBy(decoded, held.payload)
  for (const [index, verdict] of verdicts.entries()) {
    const atUs = receivedAtUs + index
    const origin = { offset, index }
    if (verdict.isFiltered) writer.filtered(stream, verdict, atUs, origin)
    else if (verdict.accepted) writer.accepted(stream, verdict, atUs, origin)
    else {
      const known = held.context && { context }
      const received = { atUs, source, ...kept(index), sender, ...known }
      writer.quarantined(stream, verdict, received, origin)
    }
  }
}
