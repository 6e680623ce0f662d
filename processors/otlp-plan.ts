import { ScalarType } from '@bufbuild/protobuf'
import type { FieldPlan, MessagePlan, ValuePlan } from './protobuf-plan.ts'

/**
 * The messages of OTLP that a reading is made of (opentelemetry-proto 1.x: metrics/v1, common/v1, resource/v1), with the
 * names that their JSON has. What no reading has, such as exemplars, is not in these plans, and is passed over.
 */

function field(number: number, name: string, value: ValuePlan, oneof?: string): FieldPlan {
  return { name, number, shape: 'single', value, isImplicit: false, isRequired: false, oneof }
}

function scalar(number: number, name: string, type: ScalarType, oneof?: string): FieldPlan {
  return field(number, name, { kind: 'scalar', scalar: type }, oneof)
}

function message(plan: MessagePlan): ValuePlan {
  return { kind: 'message', message: plan, isDelimited: false }
}

function list(number: number, name: string, value: ValuePlan): FieldPlan {
  return { ...field(number, name, value), shape: 'list' }
}

function planOf(typeName: string, ...fields: readonly FieldPlan[]): MessagePlan {
  return { typeName, fields: new Map(fields.map((one) => [one.number, one])) }
}

/** A value holds values: its plan is completed when theirs are there. */
const valueFields = new Map<number, FieldPlan>()
const anyValue: MessagePlan = { typeName: 'AnyValue', fields: valueFields }
const keyValue = planOf(
  'KeyValue',
  scalar(1, 'key', ScalarType.STRING),
  field(2, 'value', message(anyValue)),
)
const arrayValue = planOf('ArrayValue', list(1, 'values', message(anyValue)))
const kvlistValue = planOf('KeyValueList', list(1, 'values', message(keyValue)))
for (const one of [
  scalar(1, 'stringValue', ScalarType.STRING, 'value'),
  scalar(2, 'boolValue', ScalarType.BOOL, 'value'),
  scalar(3, 'intValue', ScalarType.INT64, 'value'),
  scalar(4, 'doubleValue', ScalarType.DOUBLE, 'value'),
  field(5, 'arrayValue', message(arrayValue), 'value'),
  field(6, 'kvlistValue', message(kvlistValue), 'value'),
  scalar(7, 'bytesValue', ScalarType.BYTES, 'value'),
]) {
  valueFields.set(one.number, one)
}

function attributes(number: number): FieldPlan {
  return list(number, 'attributes', message(keyValue))
}

/** Nanoseconds since 1970 have more digits than a double. */
const time = field(3, 'timeUnixNano', { kind: 'bits', isFixed: true })

const numberPoint = planOf(
  'NumberDataPoint',
  time,
  scalar(4, 'asDouble', ScalarType.DOUBLE, 'value'),
  scalar(6, 'asInt', ScalarType.SFIXED64, 'value'),
  attributes(7),
  scalar(8, 'flags', ScalarType.UINT32),
)

const histogramPoint = planOf(
  'HistogramDataPoint',
  time,
  scalar(4, 'count', ScalarType.FIXED64),
  scalar(5, 'sum', ScalarType.DOUBLE),
  list(6, 'bucketCounts', { kind: 'scalar', scalar: ScalarType.FIXED64 }),
  list(7, 'explicitBounds', { kind: 'scalar', scalar: ScalarType.DOUBLE }),
  attributes(9),
  scalar(10, 'flags', ScalarType.UINT32),
  scalar(11, 'min', ScalarType.DOUBLE),
  scalar(12, 'max', ScalarType.DOUBLE),
)

const buckets = planOf(
  'Buckets',
  scalar(1, 'offset', ScalarType.SINT32),
  list(2, 'bucketCounts', { kind: 'scalar', scalar: ScalarType.UINT64 }),
)

const exponentialPoint = planOf(
  'ExponentialHistogramDataPoint',
  attributes(1),
  time,
  scalar(4, 'count', ScalarType.FIXED64),
  scalar(5, 'sum', ScalarType.DOUBLE),
  scalar(6, 'scale', ScalarType.SINT32),
  scalar(7, 'zeroCount', ScalarType.FIXED64),
  field(8, 'positive', message(buckets)),
  field(9, 'negative', message(buckets)),
  scalar(10, 'flags', ScalarType.UINT32),
  scalar(12, 'min', ScalarType.DOUBLE),
  scalar(13, 'max', ScalarType.DOUBLE),
  scalar(14, 'zeroThreshold', ScalarType.DOUBLE),
)

const quantile = planOf(
  'ValueAtQuantile',
  scalar(1, 'quantile', ScalarType.DOUBLE),
  scalar(2, 'value', ScalarType.DOUBLE),
)

const summaryPoint = planOf(
  'SummaryDataPoint',
  time,
  scalar(4, 'count', ScalarType.FIXED64),
  scalar(5, 'sum', ScalarType.DOUBLE),
  list(6, 'quantileValues', message(quantile)),
  attributes(7),
  scalar(8, 'flags', ScalarType.UINT32),
)

const temporalities = new Map([
  [0, 'unspecified'],
  [1, 'delta'],
  [2, 'cumulative'],
])

/** What stands beside the points of a kind of data. */
export const dataPlan = planOf(
  'Data',
  field(2, 'aggregationTemporality', { kind: 'enum', names: temporalities, first: 'unspecified' }),
)

/** What stands beside the data of a metric. */
export const metricPlan = planOf(
  'Metric',
  scalar(1, 'name', ScalarType.STRING),
  scalar(3, 'unit', ScalarType.STRING),
)

const attributesOnly = planOf('InstrumentationScope', attributes(3))

/** What stands beside the metrics of a scope. */
export const scopePlan = planOf('ScopeMetrics', field(1, 'scope', message(attributesOnly)))

/** What stands beside the scopes of a resource. */
export const resourcePlan = planOf(
  'ResourceMetrics',
  field(1, 'resource', message(planOf('Resource', attributes(1)))),
)

export type DataKind = 'gauge' | 'sum' | 'histogram' | 'exponentialHistogram' | 'summary'

/** A kind of data that a metric can have: its name in JSON, its number in Protobuf, and what its points are. */
export interface KindPlan {
  readonly kind: DataKind
  readonly number: number
  readonly point: MessagePlan
}

export const kindPlans: readonly KindPlan[] = [
  { kind: 'gauge', number: 5, point: numberPoint },
  { kind: 'sum', number: 7, point: numberPoint },
  { kind: 'histogram', number: 9, point: histogramPoint },
  { kind: 'exponentialHistogram', number: 10, point: exponentialPoint },
  { kind: 'summary', number: 11, point: summaryPoint },
]
