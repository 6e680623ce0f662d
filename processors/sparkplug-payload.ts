import { ScalarType } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { narrowed } from '../src/core/time.ts'
import { UnreadableItem } from './decode-binary.ts'
import { instantItem, integerItem } from './decode-scalars.ts'
import { readFields } from './protobuf-message.ts'
import type { FieldPlan, MessagePlan } from './protobuf-plan.ts'
import { ProtobufWire } from './protobuf-wire.ts'

/** The payload of a Sparkplug B message: section 6.4 of Sparkplug 3.0. */
export interface SparkplugPayload {
  /** Milliseconds since the epoch. */
  readonly timestamp?: number
  readonly metrics?: readonly SparkplugMetric[]
  readonly seq?: number
  /** Where some metrics cannot be read: what is wrong with them, by their place among all. */
  readonly unreadable?: ReadonlyMap<number, string>
  /** The places of the others; nothing where all can be read. */
  readonly places?: readonly number[]
}

/** A metric, of which all may be missing but a name or an alias. */
export interface SparkplugMetric {
  readonly name?: string
  /** 64 bits: a name like any other, whose neighbours are other names. */
  readonly alias?: bigint
  /** Milliseconds since the epoch. */
  readonly timestamp?: number
  readonly datatype?: number
  readonly is_null?: boolean
  readonly int_value?: number
  /** 64 bits without a sign, whatever the type of the metric makes of them. */
  readonly long_value?: bigint
  readonly float_value?: number
  readonly double_value?: number
  readonly boolean_value?: boolean
  readonly string_value?: string
}

/** Data types, section 6.4.16, as far as their values can be those of a field. */
const dataType = {
  int8: 1,
  int16: 2,
  int32: 3,
  int64: 4,
  uint8: 5,
  uint16: 6,
  uint32: 7,
  uint64: 8,
  float: 9,
  double: 10,
  boolean: 11,
  string: 12,
  dateTime: 13,
  text: 14,
  uuid: 15,
} as const

/** Metrics of one message, and of all births of an edge node together. */
export const metricsMax = 10_000

/** Values of one message: each metric has some, and those that we pass over count as well. */
const valuesMax = 200_000

function single(number: number, name: string, scalar: ScalarType, oneof?: string): FieldPlan {
  const value = { kind: 'scalar', scalar } as const
  return { name, number, shape: 'single', value, isImplicit: false, isRequired: false, oneof }
}

function bits(number: number, name: string, oneof?: string): FieldPlan {
  const value = { kind: 'bits' } as const
  return { name, number, shape: 'single', value, isImplicit: false, isRequired: false, oneof }
}

function planOf(typeName: string, ...fields: readonly FieldPlan[]): MessagePlan {
  return { typeName, fields: new Map(fields.map((field) => [field.number, field])) }
}

/** What has no place in a reading (properties, data sets, templates, bytes) is not even read. */
const metricPlan = planOf(
  'Metric',
  single(1, 'name', ScalarType.STRING),
  bits(2, 'alias'),
  single(3, 'timestamp', ScalarType.UINT64),
  single(4, 'datatype', ScalarType.UINT32),
  single(7, 'is_null', ScalarType.BOOL),
  single(10, 'int_value', ScalarType.UINT32, 'value'),
  bits(11, 'long_value', 'value'),
  single(12, 'float_value', ScalarType.FLOAT, 'value'),
  single(13, 'double_value', ScalarType.DOUBLE, 'value'),
  single(14, 'boolean_value', ScalarType.BOOL, 'value'),
  single(15, 'string_value', ScalarType.STRING, 'value'),
)

const metricsField = 2

const payloadPlan = planOf(
  'Payload',
  single(1, 'timestamp', ScalarType.UINT64),
  {
    name: 'metrics',
    number: metricsField,
    shape: 'list',
    value: { kind: 'message', message: metricPlan, isDelimited: false },
    isImplicit: true,
    isRequired: false,
    oneof: undefined,
  },
  single(3, 'seq', ScalarType.UINT64),
)

/** The payload, or what is wrong with it. A metric that cannot be read is left out, unless none can. */
export function decodeSparkplugPayload(bytes: Uint8Array): SparkplugPayload | string {
  return unless(() => payloadIn(bytes)) ?? unless(() => readableIn(bytes)) ?? problemIn(bytes)
}

function payloadIn(bytes: Uint8Array): SparkplugPayload {
  const wire = new ProtobufWire(bytes, valuesMax)
  return readFields(wire, payloadPlan, { end: bytes.length, levels: 2 })
}

/** Undefined where the work finds something unreadable. */
function unless<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof UnreadableItem) return undefined
    throw error
  }
}

function problemIn(bytes: Uint8Array): string {
  try {
    payloadIn(bytes)
  } catch (error) {
    if (error instanceof UnreadableItem) return error.message
    throw error
  }
  throw new Error('a payload can be read now, and could not before')
}

/** What can be read of a payload. @throws UnreadableItem when something else is wrong than single metrics */
function readableIn(bytes: Uint8Array): SparkplugPayload | undefined {
  const { rest, metrics: spans } = cutIn(bytes)
  if (spans.length > metricsMax) return undefined
  const metrics: SparkplugMetric[] = []
  const places: number[] = []
  const unreadable = new Map<number, string>()
  for (const [place, { tagAt, end }] of spans.entries()) {
    const wire = new ProtobufWire(bytes.subarray(tagAt, end), valuesMax / 10)
    try {
      wire.tag(end - tagAt)
      const bounds = { end: wire.endOfValue(end - tagAt), levels: 1 }
      metrics.push(readFields(wire, metricPlan, bounds))
      places.push(place)
    } catch (error) {
      if (!(error instanceof UnreadableItem)) throw error
      unreadable.set(place, error.message)
    }
  }
  if (metrics.length === 0) return undefined
  return { ...payloadIn(joined(bytes, rest)), metrics, unreadable, places }
}

interface Span {
  readonly tagAt: number
  readonly end: number
}

/** Where metrics stand in a payload, and what stands beside them. @throws UnreadableItem */
function cutIn(bytes: Uint8Array): { readonly metrics: Span[]; readonly rest: Span[] } {
  const wire = new ProtobufWire(bytes, valuesMax)
  const metrics: Span[] = []
  const rest: Span[] = []
  while (wire.position < bytes.length) {
    const tagAt = wire.position
    const tag = wire.tag(bytes.length)
    wire.skip(tag, bytes.length)
    const isMetric = tag.number === metricsField && tag.wireType === WireType.LengthDelimited
    const spans = isMetric ? metrics : rest
    spans.push({ tagAt, end: wire.position })
  }
  return { metrics, rest }
}

function joined(bytes: Uint8Array, spans: readonly Span[]): Uint8Array {
  return Buffer.concat(spans.map(({ tagAt, end }) => bytes.subarray(tagAt, end)))
}

/** Payloads of one metric each, with all that stands beside it: the bytes of a metric stand in them as they came. */
export function payloadsOfMetrics(bytes: Uint8Array): readonly Uint8Array[] {
  const { metrics, rest } = cutIn(bytes)
  return metrics.map((span) => joined(bytes, [...rest, span]))
}

/**
 * The value of a metric as a field has it. Nothing for null, and for what no field can hold: data
 * sets, templates, bytes, files, arrays.
 *
 * @param datatype what its birth has said, where the message does not say it
 * @throws UnreadableItem for an integer that a double would round, and for a time that cannot be
 */
export function valueOf(metric: SparkplugMetric, datatype = metric.datatype): unknown {
  if (metric.is_null === true) return undefined
  const { int_value: int, long_value: long, string_value: text } = metric
  switch (datatype) {
    case dataType.int8:
      return int && (int << 24) >> 24
    case dataType.int16:
      return int && (int << 16) >> 16
    case dataType.int32:
      return int && int | 0
    case dataType.int64:
      return integer(long === undefined ? undefined : BigInt.asIntN(64, long))
    case dataType.uint8:
    case dataType.uint16:
    case dataType.uint32:
    case dataType.uint64:
      return integer(int ?? long)
    case dataType.float:
      return metric.float_value
    case dataType.double:
      return metric.double_value
    case dataType.boolean:
      return metric.boolean_value
    case dataType.string:
    case dataType.text:
    case dataType.uuid:
      return text
    case dataType.dateTime:
      return long === undefined ? undefined : instantOf(BigInt.asIntN(64, long))
    case undefined:
      return valueOfNoType(metric)
    default:
      return undefined
  }
}

/** Without a type an integer may be negative, or not: only what is the same in both is known. */
function valueOfNoType(metric: SparkplugMetric): unknown {
  const { int_value: int, long_value: long } = metric
  if ((int !== undefined && int >= 2 ** 31) || (long !== undefined && long >= 2n ** 63n)) {
    throw new UnreadableItem('a number without a type may be negative, or not')
  }
  const { float_value: float, double_value: double, boolean_value: boolean } = metric
  return integer(int ?? long) ?? float ?? double ?? boolean ?? metric.string_value
}

function instantOf(ms: bigint): unknown {
  return instantItem(narrowed(ms * 1_000n)).value
}

function integer(value: number | bigint | undefined): unknown {
  return value === undefined ? undefined : integerItem(value).value
}

const rebirthMetric = 'Node Control/Rebirth'

/** A command that asks an edge node for its births: section 6.4.21 of Sparkplug 3.0 (NCMD). */
export function rebirthCommand(nowUs: number): Uint8Array {
  const timestamp = BigInt(Math.floor(nowUs / 1_000))
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .uint64(timestamp)
    .tag(2, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .string(rebirthMetric)
    .tag(3, WireType.Varint)
    .uint64(timestamp)
    .tag(4, WireType.Varint)
    .uint32(dataType.boolean)
    .tag(14, WireType.Varint)
    .bool(true)
    .join()
    .finish()
}
