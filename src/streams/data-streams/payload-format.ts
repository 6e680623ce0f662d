import { protobufProblem } from '../../../processors/decode-protobuf.ts'
import { fieldsMax, isObject } from '../../contracts/definitions/field-map.ts'
import {
  type Fields,
  integer,
  newField,
  oneOf,
  part,
  text,
} from '../../contracts/definitions/fields.ts'
import { type Json, Problems, type Rule } from '../../contracts/definitions/problems.ts'
import type {
  ContentCoding,
  FieldMap,
  FormatOptions,
  PayloadFormat,
  ProtobufOptions,
} from '../../contracts/stream-schema.ts'
import { timeNameOf } from '../../contracts/time-member.ts'
import { cutText } from '../../core/cut-text.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { LruMap } from '../../core/lru-map.ts'
import { isInbound } from './source-kinds.ts'

/** What payloads may be in that come without a content type. */
const formats = [
  'json',
  'ndjson',
  'cbor',
  'msgpack',
  'plain',
  'csv',
  'form',
  'senml-json',
  'senml-cbor',
  'protobuf',
  'sparkplug',
  'line-protocol',
  'otlp',
  'prometheus',
  'prometheus-remote-write',
  'cloudevents',
] as const satisfies readonly PayloadFormat[]

const codings = ['gzip', 'zstd'] as const satisfies readonly ContentCoding[]

/** Loggers have up to four; what has more is no table. */
const headerLinesMax = 10

const delimiters: readonly string[] = [',', ';', '\t', '|', ' ']

/** Columns that are left out count as well. */
const columnsMax = fieldsMax

const columns: Rule = (value, key, problems) => {
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > columnsMax) {
    problems.add(key, `must be an array of 1 to ${columnsMax} names of fields`)
    return
  }
  const inner = problems.within(key)
  for (const [index, name] of listed.entries()) {
    if (name === null) continue
    if (typeof name !== 'string') inner.add(`${index}`, 'must be the name of a field, or null')
    else if (listed.indexOf(name) < index) inner.add(`${index}`, 'comes twice')
  }
}

const delimiter: Rule = (value, key, problems) => {
  if (delimiters.some((known) => known === value)) return
  problems.add(key, 'must be a comma, a semicolon, a tab, a | or a space')
}

/** Names of other systems that have fields of their own. */
const namesMax = 1_000
const nameLengthMax = 1_000
const fieldPattern = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

const names: Rule = (value, key, problems) => {
  const entries = isObject(value) ? Object.entries(value) : []
  if (entries.length === 0 || entries.length > namesMax) {
    problems.add(key, `must be an object of 1 to ${namesMax} names of fields`)
    return
  }
  const inner = problems.within(key)
  for (const [name, field] of entries) {
    if (name.length > nameLengthMax) inner.add(cutText(name, 100), 'is too long')
    const fits = typeof field === 'string' && fieldPattern.test(field) && field !== '__proto__'
    if (!fits) inner.add(cutText(name, 100), 'must be the name of a field')
  }
}

const descriptorText = newField<string>(
  (value, key, problems) => {
    if (typeof value !== 'string') problems.add(key, 'must be base64 of a FileDescriptorSet')
  },
  { type: 'string' },
)

const protobufPart = part({
  descriptor: {
    ...descriptorText,
    isRequired: true,
    doc: 'Base64 of a google.protobuf.FileDescriptorSet.',
  },
  message: { ...text, isRequired: true, doc: 'The full name of the message that a payload is.' },
  repeated: { ...text, doc: 'A repeated field of it, whose elements are the readings.' },
})

const protobuf: Rule = (value, key, problems) => {
  const before = problems.found.length
  protobufPart.rule(value, key, problems)
  if (problems.found.length > before) return
  const found = protobufProblem(value as ProtobufOptions) ?? {}
  for (const [name, problem] of Object.entries(found)) problems.within(key).add(name, problem)
}

/** How payloads are read: the keys of a source that are about it. */
export const formatFields = {
  format: {
    ...oneOf(...formats),
    default: 'json',
    doc: 'what payloads without a content type are in: see [formats](payload-formats.md)',
  },
  field: { ...text, doc: 'of `plain`: the field that a payload is the value of' },
  columns: {
    ...newField<readonly (string | null)[]>(columns, {
      type: 'array',
      minItems: 1,
      maxItems: columnsMax,
      items: { type: ['string', 'null'] },
    }),
    doc: 'of `csv`: the fields of its columns, in their order; null for one that is left out',
  },
  delimiter: {
    ...newField<string>(delimiter, { enum: delimiters }),
    default: ',',
    doc: 'of `csv`: what stands between columns',
  },
  headerLines: {
    ...integer(0, headerLinesMax),
    default: 0,
    doc: 'of `csv`: how many lines at the beginning of each message are not readings',
  },
  columnsLine: {
    ...integer(1, headerLinesMax),
    doc: 'of `csv` with `headerLines` and without `columns`: which header line names the columns; the last one if not given',
  },
  names: {
    ...newField<Readonly<Record<string, string>>>(names, {
      type: 'object',
      minProperties: 1,
      maxProperties: namesMax,
      additionalProperties: { type: 'string', pattern: fieldPattern.source },
    }),
    doc: 'of SenML and Sparkplug: the fields that names of the other side stand for',
  },
  protobuf: {
    ...newField<ProtobufOptions>(protobuf, protobufPart.schema),
    doc: 'of `protobuf`: how its messages are made',
  },
  precision: {
    ...oneOf('ns', 'us', 'ms', 's', 'm', 'h'),
    default: 'ns',
    doc: 'of `line-protocol`: the unit of its times; `m` is a minute',
  },
  contentCoding: {
    ...oneOf(...codings),
    doc: 'how messages without a header for it are compressed, over MQTT for example: see [compressed messages](payload-formats.md#compressed-messages)',
  },
} satisfies Fields

/** Keys that are about any format. */
const ofAnyFormat: readonly string[] = ['format', 'contentCoding']

const optionKeys = Object.keys(formatFields).filter((key) => key !== 'format')

const noOptions: FormatOptions = {}

/** The streams of a fleet have one descriptor: it is kept once, and not once for each of them. */
const descriptors = new LruMap<string, string>(200)

/** What decoders are told of a source that was checked. */
export function formatOptionsOf(source: Json): FormatOptions {
  const all = source['format'] === 'sparkplug' ? [...optionKeys, 'topic'] : optionKeys
  // What takes pages of an API apart leaves their header lines out.
  const keys = isApi(source) ? all.filter((key) => key !== 'headerLines') : all
  const given = keys.filter((key) => source[key] !== undefined)
  if (given.length === 0) return noOptions
  const options = Object.fromEntries(given.map((key) => [key, source[key]])) as FormatOptions
  return options.protobuf === undefined ? options : withSharedDescriptor(options, options.protobuf)
}

/** Whether it is pages of an API, which say by themselves how they are compressed. */
function isApi({ protocol, endpoint }: Json): boolean {
  return protocol === undefined && typeof endpoint === 'string' && /^https?:/i.test(endpoint)
}

function withSharedDescriptor(options: FormatOptions, given: ProtobufOptions): FormatOptions {
  const { descriptor } = given
  const known = descriptors.get(descriptor)
  if (known === undefined) descriptors.set(descriptor, descriptor)
  return { ...options, protobuf: { ...given, descriptor: known ?? descriptor } }
}

/** The formats that each key about the format is for. */
const usersOf: Readonly<Record<string, readonly PayloadFormat[]>> = {
  field: ['plain'],
  columns: ['csv'],
  delimiter: ['csv'],
  headerLines: ['csv'],
  columnsLine: ['csv'],
  names: ['senml-json', 'senml-cbor', 'sparkplug'],
  protobuf: ['protobuf'],
  precision: ['line-protocol'],
}

/**
 * Refuses a key that has no effect. Where messages are pushed and no format is given, the content type of a message may
 * still be one that the key is for.
 */
function checkOptions(source: Json, problems: Problems): void {
  const { format, endpoint } = source
  if (source['contentCoding'] !== undefined && (isInbound(source) || isApi(source))) {
    problems.add('contentCoding', 'has no effect: over HTTP the header content-encoding says it')
  }
  const isOpen = format === undefined && endpoint === undefined && !isInbound(source)
  if (isOpen) return
  for (const key of optionKeys) {
    if (ofAnyFormat.includes(key)) continue
    const users: readonly unknown[] = usersOf[key] ?? []
    if (source[key] === undefined || users.includes(format ?? 'json')) continue
    problems.add(key, `has no effect with this format: it is for ${users.join(', ')}`)
  }
}

/** Checks what names the columns of CSV: the definition, or a line of each message. */
function checkHeader({ format, columns: listed, ...source }: Json, problems: Problems): void {
  const { headerLines = 0, columnsLine } = source
  if (format === 'csv' && listed === undefined && (headerLines === 0 || isApi(source))) {
    const other = isApi(source) ? '' : ', or headerLines, one of which names the columns'
    problems.add('columns', `is required${other}`)
  }
  if (columnsLine === undefined) return
  if (isApi(source)) problems.add('columnsLine', 'has no effect: an API needs columns')
  else if (listed !== undefined) problems.add('columnsLine', 'has no effect with columns')
  else if (Number(columnsLine) > Number(headerLines)) {
    problems.add('columnsLine', 'must be one of the headerLines')
  }
}

/** Checks that the keys about the format go with the schema, as far as each is sound by itself. */
export function checkFormat(source: Json, schema: FieldMap, found: ErrorDetail[]): void {
  const problems = new Problems('source', found)
  const { format, timestampField } = source
  const time = timeNameOf(typeof timestampField === 'string' ? { timestampField } : {})
  checkOptions(source, problems)
  const isNoValue = (name: string) => ['object', 'array'].includes(schema[name]?.type ?? 'object')
  const { field, columns: listed } = source
  if (typeof field === 'string' && isNoValue(field)) {
    problems.add('field', 'must name a field of the schema that is not an object or array')
  }
  if (format === 'plain' && field === undefined) {
    const values = Object.keys(schema).filter((name) => name !== time)
    if (values.length !== 1 || values.some(isNoValue)) {
      problems.add('field', 'is required: it names the field that a payload is the value of')
    }
  }
  checkHeader(source, problems)
  if (format === 'protobuf' && source['protobuf'] === undefined) {
    problems.add('protobuf', 'is required')
  }
  const inner = problems.within('columns')
  for (const [index, name] of (Array.isArray(listed) ? listed : []).entries()) {
    if (typeof name !== 'string' || name === time || !isNoValue(name)) continue
    inner.add(`${index}`, 'must name a field of the schema that is not an object or array')
  }
}
