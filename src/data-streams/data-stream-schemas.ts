import {
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  describedOnly,
  idParams,
  keyHeaders,
  nullable,
  number,
  query,
  record,
  text,
  uri,
  uuid,
} from '../http/schema.ts'
import { streamTypes } from './stream-type.ts'

const fieldSchema = component('Field', {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['number', 'integer', 'boolean', 'string', 'datetime', 'object', 'array'] },
    unit: text,
    required: { type: 'boolean', default: false },
    range: { description: '[min, max] or {min, max}, both inclusive.' },
    min: number,
    max: number,
    enum: { type: 'array', maxItems: 256, items: {} },
    fields: { type: 'object', description: 'Of an object: its fields.' },
    items: { type: 'object', description: 'Of an array: what each element is.' },
  },
  examples: [{ type: 'number', unit: 'C', range: [-40, 125] }],
})

const newDataStream = component('NewDataStream', {
  ...record(
    {
      name: { ...text, minLength: 1, maxLength: 200 },
      vaultId: uuid,
      type: { type: 'string', enum: [...streamTypes] },
      source: {
        type: 'object',
        description:
          'Where readings come from; keys depend on the type. `format` (json, ndjson, cbor, msgpack) is what payloads without a content type are in, as over MQTT.',
      },
      schema: {
        type: 'object',
        description: 'The fields of a reading, by name: at most 256, at most 8 levels deep.',
        additionalProperties: fieldSchema,
      },
      processing: {
        type: 'object',
        properties: {
          validation: { enum: ['lenient', 'strict'], default: 'lenient' },
          frequency: { ...text, pattern: String.raw`^[1-9]\d{0,5}(s|m|h|d)$`, examples: ['1m'] },
          aggregation: { enum: ['average', 'latest', 'min', 'max', 'sum', 'count'] },
        },
      },
    },
    { optional: ['source', 'processing'] },
  ),
  examples: [
    {
      name: 'boiler temperature',
      vaultId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
      type: 'iot_sensor',
      schema: { temperature: { type: 'number', unit: 'C', range: [-40, 125] } },
    },
  ],
})

const shownFields = {
  streamId: uuid,
  name: text,
  vaultId: uuid,
  type: { type: 'string', enum: [...streamTypes] },
  status: { enum: ['created', 'active'] },
  endpoint: { ...uri, description: 'Where readings are pushed to.' },
  createdAt: dateTime,
}

const dataStreamSchema = component('DataStream', record(shownFields))

export const createStream = {
  operationId: 'createStream',
  summary: 'Create a data stream.',
  description: 'The whole definition is checked before anything of it is stored.',
  tags: ['Data streams'],
  headers: keyHeaders,
  body: describedOnly(newDataStream),
  response: { 201: dataStreamSchema },
} as const

export const listStreams = {
  operationId: 'listStreams',
  summary: "List one's own data streams.",
  description: 'With a key, this will be the list of asset streams, which is to come.',
  tags: ['Data streams'],
  querystring: query(cursorQuery),
  response: {
    200: cursorListOf(dataStreamSchema),
  },
} as const

export const readStream = {
  operationId: 'readStream',
  summary: 'Read the definition of a data stream.',
  description: 'Secrets of its source are empty.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  response: {
    200: component(
      'DataStreamDefinition',
      record({
        ...shownFields,
        version: { type: 'integer', minimum: 1 },
        source: { type: 'object' },
        schema: { type: 'object', additionalProperties: fieldSchema },
        processing: { type: 'object' },
      }),
    ),
  },
} as const

const countersSchema = component('StreamCounters', {
  ...record({
    received: count,
    stored: count,
    duplicates: count,
    unchanged: count,
    filtered: count,
    quarantined: count,
    discarded: count,
    pending: count,
  }),
  description: 'received is the sum of all the others.',
})

export const readStreamStatus = {
  operationId: 'readStreamStatus',
  summary: 'Read how a data stream is doing.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  response: {
    200: component(
      'StreamStatus',
      record({
        streamId: uuid,
        status: { ...text, examples: ['active'] },
        lastDataReceived: nullable(dateTime),
        dataPointsToday: count,
        errorCount: count,
        health: record(
          {
            status: { enum: ['healthy', 'degraded'] },
            problem: text,
            uptime: { ...count, description: 'Seconds since the stream was created.' },
            avgLatency: { ...number, description: 'Milliseconds from receipt to the store.' },
          },
          { optional: ['problem'] },
        ),
        processing: record({
          queueLength: count,
          processingRate: { ...number, description: 'Readings stored per second.' },
          lastProcessed: nullable(dateTime),
        }),
        counters: countersSchema,
      }),
    ),
  },
} as const
