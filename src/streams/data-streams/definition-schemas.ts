import {
  among,
  choice,
  component,
  dateTime,
  eitherOf,
  listOf,
  nothing,
  nullable,
  number,
  query,
  record,
  text,
  typed,
  uri,
  uuid,
} from '../../requests/http/schema.ts'
import { sourceSchema } from './source-schema.ts'
import { streamStates } from './stream-state.ts'
import { streamTypes } from './stream-type.ts'
import { missingSchema } from './value-rules.ts'

export const fieldSchema = component('Field', {
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
    from: {
      anyOf: [text, { type: 'array', minItems: 1, maxItems: 8, items: text }],
      description:
        'The path of its value, or several, of which the first that leads somewhere counts. Its name, if not given.',
    },
    missing: {
      ...missingSchema,
      description: 'Values that stand for none, beside those of the source.',
    },
    texts: {
      enum: ['typed', 'as-sent'],
      description: 'Whether texts are read by the type. As the source says, if not given.',
    },
    decimal: { enum: ['.', ','], description: 'Of texts that are numbers.' },
  },
  examples: [{ type: 'number', unit: 'C', range: [-40, 125] }],
})

const fieldsSchema = {
  type: 'object',
  description: 'The fields of a reading, by name: at most 256, at most 8 levels deep.',
  additionalProperties: fieldSchema,
} as const

const transformSchema = {
  type: 'array',
  maxItems: 32,
  description: [
    'What happens to a reading before it is stored, step by step. Each step is one of rename {from,',
    'to}, convert {field, from, to}, scale {field, factor, offset}, derive {field, type, expression},',
    'filter {expression} and drop {field}. Expressions are in CEL.',
  ].join(' '),
  items: { type: 'object', minProperties: 1, maxProperties: 1 },
  examples: [
    [
      { convert: { field: 'temperature', from: 'degF', to: 'degC' } },
      { filter: { expression: 'temperature > -40.0' } },
    ],
  ],
} as const

/** How long something is kept. */
export const keptForSchema = {
  ...text,
  pattern: String.raw`^([1-9]\d{0,5}(s|m|h|d)|forever)$`,
  examples: ['30d'],
} as const

const retentionSchema = {
  ...record(
    {
      raw: { ...keptForSchema, description: 'Readings.' },
      aggregated: { ...keptForSchema, description: 'Results of windows.' },
    },
    { optional: ['raw', 'aggregated'] },
  ),
  description: 'How long data is kept, by its own time. What is left out is as the vault says.',
} as const

const alertDuration = { ...text, pattern: String.raw`^[1-9]\d{0,5}(s|m|h|d)$`, examples: ['5m'] }

/** A rule by which a stream's readings raise alerts. */
export const alertRuleSchema = component('AlertRule', {
  type: 'object',
  additionalProperties: false,
  description:
    'A comparison (operator and threshold, of a field or a function of it), silentFor, or a condition.',
  properties: {
    id: { ...text, description: 'What it is about, if not given.' },
    severity: { enum: ['info', 'warning', 'critical'], default: 'warning' },
    field: text,
    operator: { enum: ['>', '>=', '<', '<=', '==', '!='] },
    threshold: { type: ['number', 'string', 'boolean'] },
    clearThreshold: { ...number, description: 'What ends the alert. The threshold, if not given.' },
    for: { ...alertDuration, description: 'How long it has to hold. At once, if not given.' },
    clearFor: { ...alertDuration, description: 'How long it has to be over.' },
    function: {
      enum: ['avg', 'min', 'max', 'sum', 'count', 'first', 'last', 'range', 'stddev', 'rate'],
      description:
        'Of the readings of a window; rate is the change per second between two readings.',
    },
    window: alertDuration,
    silentFor: { ...alertDuration, description: 'Broken when nothing arrives for so long.' },
    condition: { ...text, description: 'In CEL, over the fields of a reading.' },
  },
  examples: [
    { field: 'temperature', operator: '>', threshold: 80, clearThreshold: 75, for: '5m' },
    { silentFor: '15m', severity: 'critical' },
  ],
})

const alertRulesSchema = {
  description:
    'Alert rules: a list, or for each field {min, max} or a list; none where it is false or null. At most 50 with those of the other key.',
  anyOf: [
    listOf(alertRuleSchema, { maxItems: 50 }),
    { type: 'object', additionalProperties: { type: ['object', 'array'] } },
    { enum: [false, null] },
  ],
  examples: [{ temperature: { min: -20, max: 80, severity: 'critical' } }],
} as const

const processingSchema = {
  type: 'object',
  properties: {
    validation: { enum: ['lenient', 'strict'], default: 'lenient' },
    frequency: { ...text, pattern: String.raw`^[1-9]\d{0,5}(s|m|h|d)$`, examples: ['1m'] },
    aggregation: { enum: ['average', 'latest', 'min', 'max', 'sum', 'count'] },
    transform: transformSchema,
    deduplicate: {
      type: 'boolean',
      default: false,
      description:
        'Drops readings that say the same as the one before; one is kept in each window of frequency.',
    },
    retention: retentionSchema,
    seal: {
      ...text,
      pattern: String.raw`^[1-9]\d{0,5}(s|m|h|d)$`,
      description: 'How long the stretches of time are whose readings are sealed: 15m to 24h.',
      examples: ['1h'],
    },
    alertThresholds: alertRulesSchema,
    alerting: alertRulesSchema,
  },
} as const

export const tagsSchema = {
  type: 'object',
  description: 'Texts to find the stream by: at most 32.',
  maxProperties: 32,
  additionalProperties: { ...text, minLength: 1, maxLength: 200 },
  examples: [{ site: 'berlin' }],
} as const

export const newDataStream = component('NewDataStream', {
  ...record(
    {
      name: { ...text, minLength: 1, maxLength: 200 },
      vaultId: uuid,
      type: { type: 'string', enum: [...streamTypes] },
      source: sourceSchema,
      schema: fieldsSchema,
      processing: processingSchema,
      tags: tagsSchema,
    },
    { optional: ['source', 'schema', 'processing', 'tags'] },
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
  type: choice(streamTypes),
  status: among(streamStates),
  endpoint: { ...uri, description: 'Where readings are pushed to.' },
  createdAt: dateTime,
}

const webhookUrl = {
  ...uri,
  description: 'Of a source with the protocol webhook: where messages are sent to.',
}

const warnings = listOf(text, {
  description: 'What is probably a mistake, if there is anything.',
})

export const dataStream = component(
  'DataStream',
  record({ ...shownFields, webhookUrl, warnings }, { optional: ['webhookUrl', 'warnings'] }),
)

/** Members of a stream that a device of a fleet has. */
export const placeFields = {
  fleetId: { ...uuid, description: 'The fleet that has its definition.' },
  device: { ...text, description: 'The name of its device in the fleet.' },
}

/** What lists show of a stream, with those that not every stream has. */
export const listedFields = { ...shownFields, ...placeFields, tags: tagsSchema }

/** Fields that can be changed, as reading a stream or a version of it shows them. */
const versionedFields = {
  source: typed<object>({ type: 'object' }),
  schema: typed<object>({ type: 'object', additionalProperties: fieldSchema }),
  processing: typed<object>({ type: 'object' }),
}

export const definition = component(
  'DataStreamDefinition',
  record(
    {
      ...shownFields,
      ...placeFields,
      webhookUrl,
      warnings,
      tags: tagsSchema,
      version: { type: 'integer', minimum: 1 },
      ...versionedFields,
    },
    { optional: ['fleetId', 'device', 'webhookUrl', 'warnings'] },
  ),
)

export const definitionChange = component('DataStreamChange', {
  ...query({
    name: { ...text, minLength: 1, maxLength: 200 },
    source: eitherOf(sourceSchema, nothing),
    schema: { type: 'object', additionalProperties: { oneOf: [fieldSchema, { type: 'null' }] } },
    processing: nullable(processingSchema),
    tags: nullable({ ...tagsSchema, additionalProperties: { ...text, type: ['string', 'null'] } }),
  }),
  description:
    'What is not sent stays. Of source, schema, processing and tags each member stays, is replaced completely, or is removed with null; null for source, processing or tags takes away all of their members.',
  examples: [{ name: 'boiler 7', tags: { site: 'berlin', floor: null } }],
})

export const streamVersion = component(
  'DataStreamVersion',
  record({
    version: { type: 'integer', minimum: 1 },
    createdAt: dateTime,
    createdBy: { ...nullable(text), description: 'The key that made it.' },
    name: text,
    tags: tagsSchema,
    ...versionedFields,
  }),
)
