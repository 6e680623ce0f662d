import { protobufFields } from '../../../processors/decode-protobuf.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Json, Problems } from '../../contracts/definitions/problems.ts'
import type { FieldMap, FieldType, ProtobufOptions } from '../../contracts/stream-schema.ts'
import { changesBetween } from '../../core/changes-between.ts'
import { hasWrittenTime, isInbound, messageFieldsOf } from './source-kinds.ts'

/** What can be said of a time field that is given: what is wrong with it, or what its owner should know. */
interface Finding {
  readonly problem?: string
  readonly warning?: string
}

/** Refuses a time field that no message of the stream can have: all readings would have the time of their receipt. */
export function checkTimestampField(source: Json, schema: FieldMap, problems: Problems): void {
  const { problem } = findingOf(source, schema)
  if (problem !== undefined) problems.within('source').add('timestampField', problem)
  if (isFormatIdle(source)) {
    problems.within('source').add('timestampFormat', 'has no effect: messages have no time')
  }
  const { timestampField, timestampFormat = 'rfc3339' } = source
  if (typeof timestampField !== 'string') return
  const type = typeOf(timestampField, schema)
  if (type === undefined || typesFor(timestampFormat).includes(type)) return
  const message = `cannot hold a time in the format ${String(timestampFormat)}`
  problems.within('schema').add(`${timestampField}.type`, message)
}

/** The usual field is not named, and no register or object is called like it. */
function isFormatIdle({ timestampField, timestampFormat, ...source }: Json): boolean {
  if (timestampFormat === undefined || timestampField !== undefined) return false
  return messageFieldsOf(source)?.includes('timestamp') === false
}

/** What an owner should know of a definition that does not say all that it could. */
export function definitionWarnings({
  source,
  schema,
}: {
  readonly source: Json
  readonly schema: FieldMap
}): readonly string[] {
  const { warning, problem } = findingOf(source, schema)
  // A definition of before is shown with what would be refused today.
  const found = warning ?? problem
  return found === undefined ? [] : [`source.timestampField: ${found}`]
}

function findingOf(source: Json, schema: FieldMap): Finding {
  const { timestampField: name, timestampFormat } = source
  if (typeof name !== 'string' || isWritten(source)) return {}
  if (Object.hasOwn(schema, name)) return elsewhere(name, source) ?? {}
  const [first = ''] = name.split('.')
  if (name.includes('.')) {
    const what = Object.hasOwn(schema, first) ? `a field within ${first} cannot be it` : isNoPath
    return { problem: `must be a field of the reading itself: ${what}` }
  }
  const found = elsewhere(name, source)
  if (found !== undefined) return found
  const likely = Object.keys(schema).find(
    (one) =>
      isSlip(name, one) && typesFor(timestampFormat).some((type) => schema[one]?.type === type),
  )
  if (likely !== undefined) return { problem: `is no field of the schema: is ${likely} meant?` }
  return { warning: `the schema has no field ${name}; ${unlessSent}` }
}

const isNoPath = 'names with a point are not followed'
const unlessSent = 'readings that come without it have the time of their receipt'

/** Judges a name by formats and sources that say themselves which fields there are. */
function elsewhere(name: string, source: Json): Finding | undefined {
  const fields = knownFields(source)
  if (fields === undefined || fields.includes(name)) return undefined
  const what = `messages have no field ${name}, by what the source says of them`
  // Over HTTP the content type says what a message is: the same stream takes JSON there.
  const isPushed = source['endpoint'] === undefined && !isInbound(source)
  return isPushed ? { warning: `${what}; ${unlessSent}` } : { problem: what }
}

function knownFields(source: Json): readonly unknown[] | undefined {
  const { format, columns, field, protobuf } = source
  const listed = messageFieldsOf(source)
  if (listed !== undefined) return listed
  switch (format) {
    case 'csv':
      return Array.isArray(columns) ? columns : undefined
    case 'plain':
      return [field]
    case 'protobuf':
      return isProtobuf(protobuf) ? protobufFields(protobuf) : undefined
    default:
      return undefined
  }
}

function isProtobuf(value: unknown): value is ProtobufOptions {
  return (
    isObject(value) &&
    typeof value['descriptor'] === 'string' &&
    typeof value['message'] === 'string'
  )
}

/** The time of these is said in another way, and written into the field by the service. */
function isWritten(source: Json): boolean {
  const { format } = source
  return (
    hasWrittenTime(source) || ['senml-json', 'senml-cbor', 'sparkplug'].includes(String(format))
  )
}

/** Whether one name is the other one with a slip of the pen in it. */
function isSlip(name: string, other: string): boolean {
  if (folded(name) === folded(other)) return true
  return Math.min(name.length, other.length) >= slipLengthMin && changesBetween(name, other) === 1
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll('_', '')
}

/** Two shorter names that differ by a letter may both be meant. */
const slipLengthMin = 4

function typesFor(format: unknown): readonly FieldType[] {
  return format === undefined || format === 'rfc3339'
    ? ['string', 'datetime']
    : ['number', 'integer']
}

function typeOf(name: string, schema: FieldMap): FieldType | undefined {
  return Object.hasOwn(schema, name) ? schema[name]?.type : undefined
}
