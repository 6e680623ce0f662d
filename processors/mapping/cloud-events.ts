import type { MessageContext } from '../../src/contracts/mapping.ts'
import { parsePath } from '../../src/contracts/path.ts'
import type {
  DecodedMessage,
  KeptReading,
  Mapper,
  RefusedReading,
} from '../../src/contracts/reading.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../../src/contracts/time-member.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { passSources, rememberSources, sourcesIn } from '../../src/core/number-sources.ts'
import { comparableUs, parseRfc3339 } from '../../src/core/time.ts'
import { decoderOf, formatOfMediaType } from '../decode.ts'
import { readingsPerMessageMax, tooManyReadings } from '../decode-batch.ts'
import { claimOf } from '../timestamp.ts'
import { writtenJson } from '../written-json.ts'
import { isObject } from './item.ts'
import type { PlacedContext } from './level.ts'

/** CloudEvents 1.0: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md */

type Attributes = Readonly<Record<string, unknown>>

/** What an event has of data, each of which is a reading; `digits` are those that their numbers were sent with. */
interface EventData {
  readonly readings: readonly unknown[]
  readonly digits: readonly unknown[]
}

const requiredAttributes = ['specversion', 'id', 'source', 'type'] as const

/** The member of a reading that has the attributes of its event. */
const attributesMember = 'cloudevent'

/** An event that is no reading. */
class EventProblem extends Error {
  override readonly name = 'EventProblem'
}

/**
 * Finds the data in CloudEvents, and then what the stream makes of these. Without a time of its own a reading has that of
 * its event; where readings are events of several types, its type is that of the event.
 *
 * @param map what finds the readings in the data; undefined: the data are the readings
 */
export function cloudEventMapper(schema: StreamSchema, map: Mapper | undefined): Mapper {
  const prepare = preparing(schema)
  return (decoded, context) => {
    const headers = attributesOfHeaders(context)
    const found = decoded.readings.map((value, index): Found => {
      const problem = decoded.unreadable?.get(index)
      if (problem !== undefined) return { problem }
      try {
        const { attributes, data } = headers ? binary(headers, value) : structured(value, schema)
        const event = checked(attributes)
        return { event, parts: partsOf(event, data, { prepare, map, context }) }
      } catch (error) {
        if (!(error instanceof EventProblem)) throw error
        return { problem: error.message }
      }
    })
    return messageOf(decoded, found, headers !== undefined)
  }
}

/** An event with what was found in it, or why it has no reading. */
type Found =
  | { readonly problem: string }
  | { readonly event: Attributes; readonly parts: readonly Part[] }

/** One of the data of an event. */
interface Part {
  readonly value: unknown
  readonly digits: unknown
  readonly mapped: Pick<DecodedMessage, 'readings' | 'refused' | 'kept'>
  readonly isOnly: boolean
}

interface Preparing {
  readonly prepare: (value: unknown, digits: unknown, event: Attributes) => unknown
  readonly map: Mapper | undefined
  readonly context: PlacedContext
}

function partsOf(
  event: Attributes,
  { readings, digits }: EventData,
  { prepare, map, context }: Preparing,
): readonly Part[] {
  return readings.map((value, index) => {
    const reading = prepare(value, digits[index], event)
    const message = { ok: true, readings: [reading], isBatch: false, format: 'json' } as const
    const mapped = map?.(message, context) ?? message
    return { value, digits: digits[index], mapped, isOnly: readings.length === 1 }
  })
}

/** Puts all that was found one behind the other. */
function messageOf(decoded: DecodedMessage, found: readonly Found[], isBinary: boolean) {
  const readings: unknown[] = []
  const unreadable = new Map<number, string>()
  const refused = new Map<number, RefusedReading>()
  /** Of each reading: its event, the place in it, and how the mapping calls the reading. */
  const origins: { element: number; part: Part | undefined; index: number }[] = []
  for (const [element, one] of found.entries()) {
    if ('problem' in one) {
      unreadable.set(readings.length, one.problem)
      readings.push(decoded.readings[element])
      origins.push({ element, part: undefined, index: 0 })
      continue
    }
    for (const part of one.parts) {
      for (const [index, refusal] of part.mapped.refused ?? []) {
        refused.set(readings.length + index, refusal)
      }
      for (const [index, reading] of part.mapped.readings.entries()) {
        readings.push(reading)
        origins.push({ element, part, index })
      }
      if (readings.length > readingsPerMessageMax) return tooMany(decoded)
    }
  }
  const bytesOf = onlyOnce(decoded)
  const kept = (at: number, payload: Uint8Array): KeptReading => {
    const { element, part, index } = origins[at] as (typeof origins)[number]
    const bytes = bytesOf(element, payload)
    const asSent = { payload: bytes, format: decoded.format, isElement: decoded.isBatch }
    const own = part?.mapped.kept?.(index, bytes)
    if (part === undefined || (part.isOnly && (own === undefined || own.payload === bytes))) {
      return asSent
    }
    const isWhole = own === undefined || own.payload === bytes
    const data = isWhole ? Buffer.from(writtenJson(part.value, part.digits)) : own.payload
    const event = found[element] as { readonly event: Attributes }
    const text = isBinary ? data : eventAround(event.event, data)
    return {
      payload: text,
      format: 'json',
      isElement: false,
      ...(own?.place !== undefined && { place: own.place }),
    }
  }
  const { places, elements: _elements, elementFormats: _formats, ...rest } = decoded
  return {
    ...rest,
    readings,
    isBatch: decoded.isBatch || readings.length !== decoded.readings.length,
    unreadable,
    refused,
    kept,
    ...(places && { places: origins.map(({ element }) => places[element] ?? element) }),
  }
}

/** A message with too many readings is refused as one. */
function tooMany({ readings, format, isBatch }: DecodedMessage): DecodedMessage {
  const kept = (_: number, payload: Uint8Array) => ({ payload, format, isElement: false })
  const unreadable = new Map([[0, tooManyReadings]])
  return { ok: true, readings: [readings], isBatch, format, unreadable, kept }
}

function onlyOnce({ isBatch, elements }: DecodedMessage) {
  let cut: readonly Uint8Array[] | undefined
  return (element: number, payload: Uint8Array): Uint8Array =>
    isBatch ? ((cut ??= elements?.(payload) ?? [])[element] ?? payload) : payload
}

/** An event with other data, which are JSON. */
function eventAround(event: Attributes, data: Uint8Array): Uint8Array {
  const attributes = JSON.stringify({ ...event, datacontenttype: 'application/json' })
  return Buffer.concat([Buffer.from(`${attributes.slice(0, -1)},"data":`), data, Buffer.from('}')])
}

/** Makes a reading of data: what its event says and the data do not, is put into it. */
function preparing(schema: StreamSchema): Preparing['prepare'] {
  const { events, timestampFormat } = schema
  const time = timeMemberOf(schema)
  const isRead = attributesRead(schema)
  return (value, digits, event) => {
    if (!isObject(value)) {
      throw new EventProblem('the data of a CloudEvent must be an object, or a list of objects')
    }
    const reading: Record<string, unknown> = { ...value }
    const sent = event['time']
    if (time !== undefined && sent !== undefined && !Object.hasOwn(value, time)) {
      reading[time] = claimOf(timeOf(sent), timestampFormat)
    }
    if (events !== undefined) reading[events.field] = event['type']
    const read = Object.entries(event).filter(([name]) => isRead(name))
    if (read.length > 0) reading[attributesMember] = Object.fromEntries(read)
    passSources(value, reading)
    if (isObject(digits)) rememberSources(reading, digits as Readonly<Record<string, string>>)
    return reading
  }
}

function timeOf(sent: unknown): number {
  const found = typeof sent === 'string' ? parseRfc3339(sent) : { problem: 'is no text' }
  if (typeof found === 'object') {
    throw new EventProblem('the time of a CloudEvent must be in RFC 3339 format')
  }
  return comparableUs(found)
}

/** The attributes that something in the definition reads: others would be fields that no schema knows. */
function attributesRead({ fields, items, time, timestampField }: StreamSchema) {
  if (items !== undefined) return () => true
  const texts = Object.entries(fields).flatMap(([name, { from = name }]) => from)
  texts.push(timestampField, ...(time?.offset === undefined ? [] : [time.offset.path]))
  const names = new Set<unknown>()
  for (const text of texts) {
    const path = parsePath(text)
    if ('problem' in path || path.steps[0] !== attributesMember) continue
    if (path.steps.length === 1) return () => true
    names.add(path.steps[1])
  }
  return (name: string) => names.has(name)
}

/** @throws EventProblem for an event without what each must have */
function checked(attributes: Attributes): Attributes {
  const missing = requiredAttributes.filter((name) => {
    const value = attributes[name]
    return typeof value !== 'string' || value === ''
  })
  if (missing.length > 0) {
    throw new EventProblem(`the CloudEvent has no ${missing.join(', ')}: each must be a text`)
  }
  const version = String(attributes['specversion'])
  if (version === '1.0') return attributes
  throw new EventProblem(
    `the CloudEvent has specversion ${cutText(version, 20)}: only 1.0 is supported`,
  )
}

interface ReadEvent {
  readonly attributes: Attributes
  readonly data: EventData
}

/** An event whose attributes are headers: the message is its data. */
function binary(attributes: Attributes, value: unknown): ReadEvent {
  return { attributes, data: listed(value, sourcesIn(value)) }
}

/** An event in JSON (JSON Event Format, section 3). @throws EventProblem */
function structured(value: unknown, schema: StreamSchema): ReadEvent {
  if (!isObject(value)) throw new EventProblem('a CloudEvent must be an object')
  const { data, data_base64: base64, ...attributes } = value
  const isEncoded = base64 !== undefined && base64 !== null
  if (isEncoded && data !== undefined) {
    throw new EventProblem('the CloudEvent has data and data_base64')
  }
  const type = attributes['datacontenttype']
  const format = dataFormat(type)
  if (isEncoded) return { attributes, data: dataOf(fromBase64(base64), format, schema) }
  if (data === undefined || data === null) return { attributes, data: listed({}, undefined) }
  if (typeof data === 'string' && format !== 'json') {
    return { attributes, data: dataOf(Buffer.from(data), format, schema) }
  }
  const digits = sourcesIn(value)
  return { attributes, data: listed(data, isObject(digits) ? digits['data'] : undefined) }
}

function listed(value: unknown, digits: unknown): EventData {
  if (!Array.isArray(value)) return { readings: [value], digits: [digits] }
  return { readings: value, digits: Array.isArray(digits) ? digits : [] }
}

function dataFormat(type: unknown) {
  if (type === undefined || type === null) return 'json'
  const [name = ''] = typeof type === 'string' ? type.toLowerCase().split(';') : []
  const mediaType = name.trim()
  if (mediaType.endsWith('+json') && !Object.hasOwn(formatOfMediaType, mediaType)) return 'json'
  const format = Object.hasOwn(formatOfMediaType, mediaType)
    ? formatOfMediaType[mediaType]
    : undefined
  if (format !== undefined) return format
  throw new EventProblem(
    `the datacontenttype ${cutText(mediaType, 100)} is not a format of readings`,
  )
}

function fromBase64(base64: unknown): Buffer {
  const isBase64 =
    typeof base64 === 'string' && base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)
  if (!isBase64) throw new EventProblem('data_base64 is not base64')
  return Buffer.from(base64, 'base64')
}

function dataOf(
  bytes: Buffer,
  format: ReturnType<typeof dataFormat>,
  schema: StreamSchema,
): EventData {
  const message = decoderOf(format, { schema })(bytes)
  if (!message.ok) throw new EventProblem(`the data of the CloudEvent: ${message.problem}`)
  const [problem] = message.unreadable?.values() ?? []
  if (problem !== undefined) throw new EventProblem(`the data of the CloudEvent: ${problem}`)
  const { readings } = message
  return { readings, digits: readings.map((reading) => sourcesIn(reading)) }
}

/** What stands before the name of an attribute, by the bindings of HTTP and NATS, Kafka, AMQP and MQTT. */
const prefixes = ['ce-', 'ce_', 'cloudevents:', 'cloudevents_', ''] as const

const structuredType = /^application\/cloudevents(?:-batch)?\+/i

/** The attributes of an event in binary mode; nothing where the message itself has them. */
export function attributesOfHeaders({ headers = {} }: MessageContext): Attributes | undefined {
  if (structuredType.test(headers['content-type'] ?? '')) return undefined
  const prefix = prefixes.find((one) => headers[`${one}specversion`] !== undefined)
  if (prefix === undefined) return undefined
  const attributes = Object.entries(headers).flatMap(([header, value]) => {
    const name = header.slice(prefix.length)
    if (!header.startsWith(prefix) || !/^[a-z0-9]+$/.test(name)) return []
    return [[name, prefix === 'ce-' ? unescaped(value) : value] as const]
  })
  const type = headers['content-type']
  const described = type === undefined ? {} : { datacontenttype: type }
  return { ...described, ...Object.fromEntries(attributes) }
}

/** The text of a header of HTTP (HTTP Protocol Binding, section 3.1.3.2). */
function unescaped(value: string): string {
  const text = /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
