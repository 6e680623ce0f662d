import { encode } from 'cborg'
import type {
  DecodedMessage,
  DecodedStream,
  Decoder,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { cutText } from '../src/core/cut-text.ts'
import { isWritableInstant } from '../src/core/time.ts'
import { endOfCborItem } from './cbor-lengths.ts'
import { batchOf } from './decode-batch.ts'
import { decodeItems, type ItemFormat, memberNamesOfItems } from './decode-binary.ts'
import { decodeJson } from './decode-json.ts'
import { fieldOf } from './field-names.ts'
import { memberNames } from './json-elements.ts'
import { numberOfLabel, SenmlItems } from './senml-items.ts'
import {
  type BaseValues,
  concernsOthers,
  type ResolvedRecord,
  SenmlProblem,
  SenmlRecordProblem,
  SenmlResolver,
} from './senml-records.ts'
import { claimOf } from './timestamp.ts'

type SenmlFormat = 'senml-json' | 'senml-cbor'

const senmlCborFormat: ItemFormat = {
  name: 'senml-cbor',
  open: (bytes) => new SenmlItems(bytes),
  endOf: endOfCborItem,
}

/** A decoder of SenML packs in JSON (RFC 8428, section 5). */
export function senmlJsonDecoder(stream: DecodedStream): Decoder {
  return (payload) => {
    const decoded = decodeJson(payload)
    const format = 'senml-json'
    return decodePack(payload, decoded, { stream, format, memberNames, keep: keepInJson })
  }
}

/** A decoder of SenML packs in CBOR (RFC 8428, section 6). */
export function senmlCborDecoder(stream: DecodedStream): Decoder {
  return (payload) => {
    const decoded = decodeItems(payload, senmlCborFormat)
    return decodePack(payload, decoded, {
      stream,
      format: 'senml-cbor',
      memberNames: labelsInCbor,
      keep: keepInCbor,
    })
  }
}

function keepInJson(base: BaseValues, record: Uint8Array): Uint8Array {
  const before = Object.keys(base).length === 0 ? '' : `${JSON.stringify(base)},`
  return Buffer.concat([Buffer.from(`[${before}`), record, Buffer.from(']')])
}

function labelsInCbor(record: Uint8Array): readonly unknown[] {
  return memberNamesOfItems(record, senmlCborFormat)
}

/** The byte that an array of no elements begins with; with a few more it is as much larger (RFC 8949, section 3). */
const emptyArray = 0x80

function keepInCbor(base: BaseValues, record: Uint8Array): Uint8Array {
  const numbers = Object.entries(base).map(
    ([label, value]) => [numberOfLabel(label), value] as const,
  )
  const before = numbers.length === 0 ? [] : [encode(new Map(numbers))]
  return Buffer.concat([Buffer.of(emptyArray + before.length + 1), ...before, record])
}

interface PackNeeds {
  readonly stream: DecodedStream
  readonly format: SenmlFormat
  readonly memberNames: (record: Uint8Array) => readonly unknown[]
  /** A pack of one record and of what those before it say for it: the bytes of the record stand in it as they came. */
  readonly keep: (base: BaseValues, record: Uint8Array) => Uint8Array
}

/** The records of one time: a reading. Or a record that is refused alone. */
interface Moment {
  readonly timeUs: number
  readonly isRelative: boolean
  readonly records: ResolvedRecord[]
  readonly fields: Record<string, unknown>
  problem: string | undefined
  /** The pack that a refused record is kept as. */
  readonly kept?: () => Uint8Array
}

function decodePack(
  payload: Uint8Array,
  decoded: DecodedMessage | UndecodableMessage,
  needs: PackNeeds,
): DecodedMessage | UndecodableMessage {
  if (!decoded.ok) return decoded
  if (!decoded.isBatch) return { ok: false, problem: 'a SenML pack must be an array' }
  try {
    return messageOf(momentsOf(payload, decoded, needs), needs)
  } catch (error) {
    if (!(error instanceof SenmlProblem)) throw error
    return { ok: false, problem: error.message }
  }
}

/** Records of one time are one reading, in the order in which the times came. */
function momentsOf(
  payload: Uint8Array,
  { readings, unreadable, elements }: DecodedMessage,
  { stream, memberNames: namesOf, keep }: PackNeeds,
): readonly Moment[] {
  const resolver = new SenmlResolver()
  const moments = new Map<string, Moment>()
  let parts: readonly Uint8Array[] | undefined
  const bytesOf = (index: number) => (parts ??= elements?.(payload))?.[index] ?? payload
  for (const [index, item] of readings.entries()) {
    const { base } = resolver
    const unread = unreadable?.get(index)
    if (unread !== undefined && concernsOthers(namesOf(bytesOf(index)))) {
      throw new SenmlProblem(unread)
    }
    const record = unread ?? resolved(resolver, item)
    if (typeof record === 'string') {
      const kept = () => keep(base, bytesOf(index))
      moments.set(`refused ${index}`, { ...noRecords, problem: record, kept })
      continue
    }
    if (record === undefined) continue
    const { timeUs, isRelative } = record
    const key = `${isRelative} ${timeUs}`
    let moment = moments.get(key)
    if (moment === undefined) {
      // "Now" counts from 1970 here, and from the receipt later: then it is no time all the more.
      const problem = isWritableInstant(timeUs)
        ? undefined
        : 'a time is not in the years 0001 to 9999'
      moment = { timeUs, isRelative, records: [], fields: {}, problem }
      moments.set(key, moment)
    }
    if (isWritableInstant(timeUs)) add(moment, record, stream)
    else moment.records.push(record)
  }
  return [...moments.values()]
}

const noRecords = { timeUs: 0, isRelative: true, records: [], fields: {} }

/** What a record measures, or what is wrong with it alone. @throws SenmlProblem */
function resolved(resolver: SenmlResolver, record: unknown): ResolvedRecord | string | undefined {
  try {
    return resolver.resolve(record)
  } catch (error) {
    if (error instanceof SenmlRecordProblem) return error.message
    throw error
  }
}

function add(moment: Moment, record: ResolvedRecord, stream: DecodedStream): void {
  const { value, sum } = record
  const field = fieldOf(stream, record.baseName + record.ownName, lastPartOf(record))
  moment.records.push(record)
  if (value !== undefined) put(moment, field, value)
  if (sum !== undefined) put(moment, `${field}_sum`, sum)
}

function put(moment: Moment, field: string, value: unknown): void {
  // It would be taken for a prototype, and no definition can have such a field.
  if (field === '__proto__') moment.problem ??= 'a field cannot have the name __proto__'
  else if (Object.hasOwn(moment.fields, field)) {
    moment.problem ??= `the pack has two values for ${cutText(field, 100)} at one time`
  } else moment.fields[field] = value
}

/** What tells the sensors of a device apart: the name behind the base name, or its last part. */
function lastPartOf({ baseName, ownName }: ResolvedRecord): string {
  if (baseName !== '' && ownName !== '') return ownName
  const name = baseName + ownName
  const parts = name.split(/[:/]/).filter((part) => part !== '')
  return parts.at(-1) ?? name
}

function messageOf(
  moments: readonly Moment[],
  { format, stream }: PackNeeds,
): DecodedMessage | UndecodableMessage {
  const unreadable = new Map<number, string>()
  const elementFormats = new Map<number, SenmlFormat>()
  for (const [index, { problem, kept }] of moments.entries()) {
    if (problem !== undefined) unreadable.set(index, problem)
    if (kept !== undefined) elementFormats.set(index, format)
  }
  const [first] = unreadable.values()
  // With nothing in it that could be a reading, the pack is kept as it came.
  const isUseless = moments.every(({ problem, fields }) => problem !== undefined && isEmpty(fields))
  if (first !== undefined && isUseless) return { ok: false, problem: first }
  const readingsAt = (receivedAtUs: number) =>
    moments.map((moment) => readingAt(moment, receivedAtUs, stream))
  // What is sure to be no time says so, whenever it comes.
  const message = { readings: readingsAt(0), readingsAt, unreadable }
  // A pack of one reading is kept as it came, one of several in parts that are packs themselves.
  if (moments.length === 1) return batchOf({ ...message, format })
  const elements = () =>
    moments.map(({ records, kept }) => kept?.() ?? Buffer.from(JSON.stringify(packOf(records))))
  return batchOf({ ...message, format: 'senml-json', elements, elementFormats })
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0
}

function readingAt(
  { timeUs, isRelative, fields, problem }: Moment,
  receivedAtUs: number,
  stream: DecodedStream,
) {
  // "Now" is what a reading without a time means anyway.
  if (problem !== undefined || (isRelative && timeUs === 0)) return fields
  const atUs = isRelative ? receivedAtUs + timeUs : timeUs
  const { timestampField, timestampFormat } = stream.schema
  const time = timeMemberOf(stream.schema) ?? timestampField
  return { ...fields, [time]: claimOf(atUs, timestampFormat) }
}

/** Records that need none before them, and mean the same. */
function packOf(records: readonly ResolvedRecord[]): readonly object[] {
  return records.map(({ baseName, ownName, timeUs, value, label, sum }) => ({
    ...(baseName !== '' && { bn: baseName }),
    ...(ownName !== '' && { n: ownName }),
    ...(timeUs !== 0 && { t: timeUs / 1_000_000 }),
    ...(label !== undefined && { [label]: value }),
    ...(sum !== undefined && { s: sum }),
  }))
}
