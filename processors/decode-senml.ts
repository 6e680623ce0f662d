import { isWritableInstant } from '../src/core/time.ts'
import type { DecodedMessage, Decoder, UndecodableMessage } from '../src/pipeline/reading.ts'
import { endOfCborItem } from './cbor-lengths.ts'
import type { DecodedStream } from './decode.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { decodeItems, type ItemFormat } from './decode-binary.ts'
import { parseJson } from './decode-json.ts'
import { fieldOf } from './field-names.ts'
import { SenmlItems } from './senml-items.ts'
import { type ResolvedRecord, SenmlProblem, SenmlResolver } from './senml-records.ts'
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
    const parsed = parseJson(payload)
    return parsed.ok ? decodePack(parsed.value, 'senml-json', stream) : parsed
  }
}

/** A decoder of SenML packs in CBOR (RFC 8428, section 6). */
export function senmlCborDecoder(stream: DecodedStream): Decoder {
  return (payload) => {
    const decoded = decodeItems(payload, senmlCborFormat)
    if (!decoded.ok) return decoded
    return decodePack(decoded.isBatch ? decoded.readings : undefined, 'senml-cbor', stream)
  }
}

/** The records of one time: a reading. */
interface Moment {
  readonly timeUs: number
  readonly isRelative: boolean
  readonly records: ResolvedRecord[]
  readonly fields: Record<string, unknown>
  problem: string | undefined
}

function decodePack(
  pack: unknown,
  format: SenmlFormat,
  stream: DecodedStream,
): DecodedMessage | UndecodableMessage {
  if (!Array.isArray(pack)) return { ok: false, problem: 'a SenML pack must be an array' }
  if (pack.length > readingsPerMessageMax) return { ok: false, problem: tooManyReadings }
  try {
    return messageOf(momentsOf(pack, stream), format, stream)
  } catch (error) {
    if (!(error instanceof SenmlProblem)) throw error
    return { ok: false, problem: error.message }
  }
}

/** Records of one time are one reading, in the order in which the times came. */
function momentsOf(pack: readonly unknown[], stream: DecodedStream): readonly Moment[] {
  const resolver = new SenmlResolver()
  const moments = new Map<string, Moment>()
  for (const item of pack) {
    const record = resolver.resolve(item)
    if (record === undefined) continue
    const { timeUs, isRelative } = record
    const key = `${isRelative} ${timeUs}`
    let moment = moments.get(key)
    if (moment === undefined) {
      moment = { timeUs, isRelative, records: [], fields: {}, problem: undefined }
      moments.set(key, moment)
    }
    add(moment, record, stream)
  }
  return [...moments.values()]
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
    moment.problem ??= `the pack has two values for ${field.slice(0, 100)} at one time`
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
  format: SenmlFormat,
  stream: DecodedStream,
): DecodedMessage | UndecodableMessage {
  const unreadable = new Map<number, string>()
  for (const [index, { problem }] of moments.entries()) {
    if (problem !== undefined) unreadable.set(index, problem)
  }
  const readingsAt = (receivedAtUs: number) =>
    moments.map((moment) => readingAt(moment, receivedAtUs, stream))
  // What is sure to be no time says so, whenever it comes.
  const message = { readings: readingsAt(0), readingsAt, unreadable }
  // A pack of one reading is kept as it came, one of several in parts that are packs themselves.
  if (moments.length === 1) return batchOf({ ...message, format })
  const elements = () => moments.map(({ records }) => Buffer.from(JSON.stringify(packOf(records))))
  return batchOf({ ...message, format: 'senml-json', elements })
}

/** @throws SenmlProblem for a time that no reading can have */
function readingAt(
  { timeUs, isRelative, fields }: Moment,
  receivedAtUs: number,
  stream: DecodedStream,
) {
  // "Now" is what a reading without a time means anyway.
  if (isRelative && timeUs === 0) return fields
  const atUs = isRelative ? receivedAtUs + timeUs : timeUs
  if (!isWritableInstant(atUs)) throw new SenmlProblem('a time is not in the years 0001 to 9999')
  const { timestampField, timestampFormat } = stream.schema
  return { ...fields, [timestampField]: claimOf(atUs, timestampFormat) }
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
