import {
  create,
  createFileRegistry,
  type DescMessage,
  fromJson,
  toBinary,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { field, repeated } from './protobuf-messages.ts'

/** The messages of OTLP as they are published (opentelemetry-proto 1.10: metrics, common, resource, their service). */

function one(type: string, name: string, number: number, rest = {}) {
  return field('MESSAGE', name, number, { typeName: `.otlp.${type}`, ...rest })
}

function many(type: string, name: string, number: number) {
  return repeated('MESSAGE', name, number, { typeName: `.otlp.${type}` })
}

const isOneof = { oneofIndex: 0 }

function maybe(name: string, number: number, oneofIndex: number) {
  return field('DOUBLE', name, number, { proto3Optional: true, oneofIndex })
}

function oneofs(...names: readonly string[]) {
  return { oneofDecl: names.map((name) => ({ name })) }
}

const times = [field('FIXED64', 'start_time_unix_nano', 2), field('FIXED64', 'time_unix_nano', 3)]

const temporality = field('ENUM', 'aggregation_temporality', 2, {
  typeName: '.otlp.AggregationTemporality',
})

const messageType = [
  { name: 'ExportMetricsServiceRequest', field: [many('ResourceMetrics', 'resource_metrics', 1)] },
  {
    name: 'ExportMetricsServiceResponse',
    field: [one('ExportMetricsPartialSuccess', 'partial_success', 1)],
  },
  {
    name: 'ExportMetricsPartialSuccess',
    field: [field('INT64', 'rejected_data_points', 1), field('STRING', 'error_message', 2)],
  },
  // google.rpc.Status, without its details.
  { name: 'Status', field: [field('INT32', 'code', 1), field('STRING', 'message', 2)] },
  {
    name: 'ResourceMetrics',
    field: [
      one('Resource', 'resource', 1),
      many('ScopeMetrics', 'scope_metrics', 2),
      field('STRING', 'schema_url', 3),
    ],
  },
  {
    name: 'Resource',
    field: [many('KeyValue', 'attributes', 1), field('UINT32', 'dropped_attributes_count', 2)],
  },
  {
    name: 'ScopeMetrics',
    field: [
      one('InstrumentationScope', 'scope', 1),
      many('Metric', 'metrics', 2),
      field('STRING', 'schema_url', 3),
    ],
  },
  {
    name: 'InstrumentationScope',
    field: [
      field('STRING', 'name', 1),
      field('STRING', 'version', 2),
      many('KeyValue', 'attributes', 3),
    ],
  },
  {
    name: 'Metric',
    field: [
      field('STRING', 'name', 1),
      field('STRING', 'description', 2),
      field('STRING', 'unit', 3),
      one('Gauge', 'gauge', 5, isOneof),
      one('Sum', 'sum', 7, isOneof),
      one('Histogram', 'histogram', 9, isOneof),
      one('ExponentialHistogram', 'exponential_histogram', 10, isOneof),
      one('Summary', 'summary', 11, isOneof),
      many('KeyValue', 'metadata', 12),
    ],
    ...oneofs('data'),
  },
  { name: 'Gauge', field: [many('NumberDataPoint', 'data_points', 1)] },
  {
    name: 'Sum',
    field: [
      many('NumberDataPoint', 'data_points', 1),
      temporality,
      field('BOOL', 'is_monotonic', 3),
    ],
  },
  { name: 'Histogram', field: [many('HistogramDataPoint', 'data_points', 1), temporality] },
  {
    name: 'ExponentialHistogram',
    field: [many('ExponentialHistogramDataPoint', 'data_points', 1), temporality],
  },
  { name: 'Summary', field: [many('SummaryDataPoint', 'data_points', 1)] },
  {
    name: 'NumberDataPoint',
    field: [
      ...times,
      field('DOUBLE', 'as_double', 4, isOneof),
      many('Exemplar', 'exemplars', 5),
      field('SFIXED64', 'as_int', 6, isOneof),
      many('KeyValue', 'attributes', 7),
      field('UINT32', 'flags', 8),
    ],
    ...oneofs('value'),
  },
  {
    name: 'HistogramDataPoint',
    field: [
      ...times,
      field('FIXED64', 'count', 4),
      maybe('sum', 5, 0),
      repeated('FIXED64', 'bucket_counts', 6),
      repeated('DOUBLE', 'explicit_bounds', 7),
      many('Exemplar', 'exemplars', 8),
      many('KeyValue', 'attributes', 9),
      field('UINT32', 'flags', 10),
      maybe('min', 11, 1),
      maybe('max', 12, 2),
    ],
    ...oneofs('_sum', '_min', '_max'),
  },
  {
    name: 'ExponentialHistogramDataPoint',
    field: [
      many('KeyValue', 'attributes', 1),
      ...times,
      field('FIXED64', 'count', 4),
      maybe('sum', 5, 0),
      field('SINT32', 'scale', 6),
      field('FIXED64', 'zero_count', 7),
      one('Buckets', 'positive', 8),
      one('Buckets', 'negative', 9),
      field('UINT32', 'flags', 10),
      many('Exemplar', 'exemplars', 11),
      maybe('min', 12, 1),
      maybe('max', 13, 2),
      field('DOUBLE', 'zero_threshold', 14),
    ],
    ...oneofs('_sum', '_min', '_max'),
  },
  {
    name: 'Buckets',
    field: [field('SINT32', 'offset', 1), repeated('UINT64', 'bucket_counts', 2)],
  },
  {
    name: 'SummaryDataPoint',
    field: [
      ...times,
      field('FIXED64', 'count', 4),
      field('DOUBLE', 'sum', 5),
      many('ValueAtQuantile', 'quantile_values', 6),
      many('KeyValue', 'attributes', 7),
      field('UINT32', 'flags', 8),
    ],
  },
  { name: 'ValueAtQuantile', field: [field('DOUBLE', 'quantile', 1), field('DOUBLE', 'value', 2)] },
  {
    name: 'Exemplar',
    field: [
      field('FIXED64', 'time_unix_nano', 2),
      field('DOUBLE', 'as_double', 3, isOneof),
      field('BYTES', 'span_id', 4),
      field('BYTES', 'trace_id', 5),
      field('SFIXED64', 'as_int', 6, isOneof),
      many('KeyValue', 'filtered_attributes', 7),
    ],
    ...oneofs('value'),
  },
  { name: 'KeyValue', field: [field('STRING', 'key', 1), one('AnyValue', 'value', 2)] },
  {
    name: 'AnyValue',
    field: [
      field('STRING', 'string_value', 1, isOneof),
      field('BOOL', 'bool_value', 2, isOneof),
      field('INT64', 'int_value', 3, isOneof),
      field('DOUBLE', 'double_value', 4, isOneof),
      one('ArrayValue', 'array_value', 5, isOneof),
      one('KeyValueList', 'kvlist_value', 6, isOneof),
      field('BYTES', 'bytes_value', 7, isOneof),
    ],
    ...oneofs('value'),
  },
  { name: 'ArrayValue', field: [many('AnyValue', 'values', 1)] },
  { name: 'KeyValueList', field: [many('KeyValue', 'values', 1)] },
]

const enumType = [
  {
    name: 'AggregationTemporality',
    value: ['UNSPECIFIED', 'DELTA', 'CUMULATIVE'].map((name, number) => ({
      name: `AGGREGATION_TEMPORALITY_${name}`,
      number,
    })),
  },
]

function withJsonName<Field extends { readonly name: string }>(described: Field) {
  const jsonName = described.name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return { ...described, jsonName }
}

const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: 'otlp.proto',
    syntax: 'proto3',
    package: 'otlp',
    messageType: messageType.map((type) => ({ ...type, field: type.field.map(withJsonName) })),
    enumType,
  }),
  () => undefined,
)

type MessageName = 'ExportMetricsServiceRequest' | 'ExportMetricsServiceResponse' | 'Status'

export function otlpMessage(name: MessageName): DescMessage {
  return registry.getMessage(`otlp.${name}`) as DescMessage
}

/** The Protobuf of a request that is given in JSON, by the library of the makers of Protobuf. */
export function protobufOf(request: unknown): Uint8Array {
  const message = otlpMessage('ExportMetricsServiceRequest')
  return toBinary(message, fromJson(message, request as never))
}

export function jsonOf(request: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(request))
}

/** A request with one metric, and nothing around it. */
export function requestOf(
  metric: object,
  around: { readonly resource?: object; readonly scope?: object } = {},
) {
  const { resource, scope } = around
  const scopeMetrics = [{ ...(scope && { scope }), metrics: [metric] }]
  return { resourceMetrics: [{ ...(resource && { resource }), scopeMetrics }] }
}
