import type { ItemsLevel, MissingValue, TimeUnit, ValueRules } from './mapping.ts'

/** Contract: what a data stream's definition says about its readings, after it was checked. */

export type FieldType =
  | 'number'
  | 'integer'
  | 'boolean'
  | 'string'
  | 'datetime'
  | 'object'
  | 'array'

export interface FieldDefinition {
  readonly type: FieldType
  readonly unit?: string
  readonly required?: boolean
  /** Inclusive bounds of a number. */
  readonly min?: number
  readonly max?: number
  readonly enum?: readonly (string | number | boolean)[]
  /** Members of an object. */
  readonly fields?: FieldMap
  /** Elements of an array. */
  readonly items?: FieldDefinition
  /** Where its value stands: the first of these paths that leads somewhere. Undefined: its name is the path. */
  readonly from?: string | readonly string[]
  /** As in `ValueRules`, for this field alone: added to those of the stream. */
  readonly missing?: readonly MissingValue[]
  readonly texts?: 'typed' | 'as-sent'
  readonly decimal?: '.' | ','
}

export type FieldMap = Readonly<Record<string, FieldDefinition>>

/**
 * `strict` refuses unknown fields and values out of range; `lenient` keeps and flags them
 * (decisions.md#lenient-and-strict-streams).
 */
export type ValidationMode = 'strict' | 'lenient'

/** How a time is written; any other text is a pattern such as `dd.MM.yyyy HH:mm:ss`. */
export type TimestampFormat =
  | 'rfc3339'
  | 'epoch_s'
  | 'epoch_ms'
  | 'epoch_us'
  | 'epoch_ns'
  | 'local'
  // oxlint-disable-next-line typescript/ban-types
  | (string & {})

/** Rules for times, of definitions that were made since there are such rules. */
export interface TimeRules {
  /** A reading without a time is refused. */
  readonly isRequired: boolean
  /** The time zone of times that name none: that of UTC if nothing is said. */
  readonly zone?: string
  /** A number that is added to the time. */
  readonly offset?: { readonly path: string; readonly unit: TimeUnit }
  /** The first time that is plausible, in microseconds. */
  readonly minUs?: number
}

/** How the bytes of a message are read. */
export type PayloadFormat =
  | 'json'
  | 'ndjson'
  | 'cbor'
  | 'msgpack'
  | 'plain'
  | 'csv'
  | 'form'
  | 'senml-json'
  | 'senml-cbor'
  | 'protobuf'
  | 'sparkplug'
  | 'cloudevents'
  | 'otlp'
  | 'line-protocol'
  | 'prometheus'
  | 'prometheus-remote-write'

/** Formats whose messages have times in a place of their own: the service writes them into the field of the time. */
export const timedFormats: readonly unknown[] = [
  'senml-json',
  'senml-cbor',
  'sparkplug',
  'otlp',
  'line-protocol',
  'prometheus',
  'prometheus-remote-write',
] satisfies readonly PayloadFormat[]

/** The unit of times in line protocol; `m` is a minute. */
export type LinePrecision = 'ns' | 'us' | 'ms' | 's' | 'm' | 'h'

/** How the bytes of a message are compressed. */
export type ContentCoding = 'gzip' | 'zstd'

export interface ProtobufOptions {
  /** Base64 of a google.protobuf.FileDescriptorSet. */
  readonly descriptor: string
  /** The full name of the message that a payload is. */
  readonly message: string
  /** A repeated field of it, whose elements are the readings. */
  readonly repeated?: string
}

/** What some formats have to be told, because their bytes do not say it. */
export interface FormatOptions {
  /** The field that a plain payload is the value of. Not needed where there is only one. */
  readonly field?: string
  /** The fields of a line of CSV in their order; null leaves a column out. */
  readonly columns?: readonly (string | null)[]
  /** What separates the columns of CSV: a comma if nothing is said. */
  readonly delimiter?: string
  /** Lines of CSV at the beginning of each message that are no readings. */
  readonly headerLines?: number
  /** Which of them names the columns, where the definition does not: the last one if nothing is said. */
  readonly columnsLine?: number
  /** Fields by the full names of records of SenML, or metrics of Sparkplug. */
  readonly names?: Readonly<Record<string, string>>
  readonly protobuf?: ProtobufOptions
  /** The unit of times in line protocol: nanoseconds if nothing is said. */
  readonly precision?: LinePrecision
  /** The topics of Sparkplug that are subscribed to, which may be all of an edge node, or some. */
  readonly topic?: string
  /** How messages are compressed, of a source that does not say it with each of them. */
  readonly contentCoding?: ContentCoding
}

/** Readings that are events of several types, each of which has a schema of its own. */
export interface EventTypes {
  /** The field of a reading that names its type. */
  readonly field: string
  /** Schemas by the names of types. */
  readonly types: Readonly<Record<string, FieldMap>>
}

/** All that decides whether a reading is accepted, and how it is read. */
export interface StreamSchema {
  /** The fields of a reading; where readings are events, those of all types together. */
  readonly fields: FieldMap
  readonly events?: EventTypes
  readonly validation: ValidationMode
  /** The name of a field; where there are rules for times, a path. */
  readonly timestampField: string
  readonly timestampFormat: TimestampFormat
  /** Undefined: a definition of before, whose readings have the time of their receipt where they say none. */
  readonly time?: TimeRules
  /** From the message to its readings; undefined: a message is a reading, or a list of some. */
  readonly items?: readonly ItemsLevel[]
  /** For all fields. */
  readonly values?: ValueRules
  /** `drop`: what is no field of a reading is left out of it. */
  readonly extra?: 'drop'
  /** A message is a CloudEvent, or a list of some: its readings are the data. */
  readonly isCloudEvents?: true | undefined
}
