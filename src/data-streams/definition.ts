import { DomainError, type ErrorDetail } from '../core/errors.ts'
import { parseId, type VaultId } from '../core/ids.ts'
import type { FieldMap, StreamSchema, TimestampFormat } from '../pipeline/stream-schema.ts'
import { isObject, parseFieldMap } from './field-map.ts'

/** Every type of stream that the interface names. */
export const streamTypes = [
  'iot_sensor',
  'api_pull',
  'event_stream',
  'database',
  'manufacturing',
  'building_systems',
  'occupancy',
  'service',
] as const

export type StreamType = (typeof streamTypes)[number]

/** Types whose readings are pushed to us, which is all that this version can take. */
const pushedTypes: readonly StreamType[] = [
  'iot_sensor',
  'manufacturing',
  'building_systems',
  'occupancy',
]

const timestampFormats: readonly TimestampFormat[] = ['rfc3339', 'epoch_s', 'epoch_ms', 'epoch_us']

type Json = Readonly<Record<string, unknown>>

/** The parts of a definition that a later version may change. Plain data: it is stored as JSON. */
export interface VersionedDefinition {
  readonly source: Json
  readonly schema: FieldMap
  readonly processing: Json
}

export interface StreamDefinition extends VersionedDefinition {
  readonly name: string
  readonly vaultId: VaultId
  readonly type: StreamType
}

/**
 * Checks a whole definition before anything of it is stored (D14).
 *
 * @throws DomainError `invalid_request` naming everything that is wrong, or
 *   `unsupported_definition` for what is right but cannot be done by this version
 */
export function parseDefinition(body: unknown): StreamDefinition {
  const problems: ErrorDetail[] = []
  const value = isObject(body) ? body : {}
  if (!isObject(body)) problems.push({ path: '', message: 'must be a JSON object' })
  refuseUnknown(value, ['name', 'vaultId', 'type', 'source', 'schema', 'processing'], {
    path: '',
    problems,
  })
  const { name } = value
  if (typeof name !== 'string' || name.trim() === '' || name.length > 200) {
    problems.push({ path: 'name', message: 'must be a text of 1 to 200 characters' })
  }
  const { vaultId: vaultText } = value
  const vaultId = typeof vaultText === 'string' ? parseId<VaultId>(vaultText) : undefined
  if (vaultId === undefined) problems.push({ path: 'vaultId', message: 'must be a uuid' })
  const type = streamTypes.find((known) => known === value['type'])
  if (type === undefined) {
    problems.push({ path: 'type', message: `must be one of ${streamTypes.join(', ')}` })
  }
  const source = parseSource(value['source'], problems)
  const schema = parseFieldMap(value['schema'], 'schema', problems)
  const processing = parseProcessing(value['processing'], problems)
  checkTimestampField(source, schema, problems)
  if (problems.length > 0 || vaultId === undefined || type === undefined) {
    throw new DomainError('invalid_request', 'the stream definition is not valid', {
      details: problems,
    })
  }
  const definition = { name: String(name), vaultId, type, source, schema, processing }
  refuseUnsupported(definition)
  return definition
}

/** What intake needs of a definition. */
export function schemaOf({ source, schema, processing }: VersionedDefinition): StreamSchema {
  return {
    fields: schema,
    validation: processing['validation'] === 'strict' ? 'strict' : 'lenient',
    timestampField: (source['timestampField'] as string | undefined) ?? 'timestamp',
    timestampFormat: (source['timestampFormat'] as TimestampFormat | undefined) ?? 'rfc3339',
  }
}

/** A declared field that also carries the time has to be able to hold it. */
function checkTimestampField(source: Json, schema: FieldMap, problems: ErrorDetail[]): void {
  const { timestampField, timestampFormat = 'rfc3339' } = source
  if (typeof timestampField !== 'string' || !Object.hasOwn(schema, timestampField)) return
  const type = schema[timestampField]?.type
  const isText = timestampFormat === 'rfc3339'
  const fits = isText
    ? type === 'string' || type === 'datetime'
    : type === 'number' || type === 'integer'
  if (fits) return
  const path = `schema.${timestampField}.type`
  problems.push({ path, message: `cannot hold a time in the format ${String(timestampFormat)}` })
}

interface Report {
  readonly path: string
  readonly problems: ErrorDetail[]
}

function refuseUnknown(value: Json, known: readonly string[], { path, problems }: Report): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    problems.push({ path: path === '' ? key : `${path}.${key}`, message: 'is not known' })
  }
}

const sourceKeys = [
  'deviceId',
  'protocol',
  'endpoint',
  'topic',
  'credentials',
  'timestampField',
  'timestampFormat',
]

function parseSource(value: unknown, problems: ErrorDetail[]): Json {
  if (value === undefined) return {}
  if (!isObject(value)) {
    problems.push({ path: 'source', message: 'must be an object' })
    return {}
  }
  refuseUnknown(value, [...sourceKeys, ...fetchedSourceKeys], { path: 'source', problems })
  const { timestampField, timestampFormat } = value
  if (timestampField !== undefined && (typeof timestampField !== 'string' || !timestampField)) {
    problems.push({ path: 'source.timestampField', message: 'must be the name of a field' })
  }
  if (timestampFormat !== undefined && !timestampFormats.some((one) => one === timestampFormat)) {
    const message = `must be one of ${timestampFormats.join(', ')}`
    problems.push({ path: 'source.timestampFormat', message })
  }
  for (const key of ['deviceId', 'protocol', 'endpoint', 'topic']) {
    if (value[key] !== undefined && typeof value[key] !== 'string') {
      problems.push({ path: `source.${key}`, message: 'must be a text' })
    }
  }
  return value
}

/** Keys of sources that are fetched from; known, so that the answer names the type and not the key. */
const fetchedSourceKeys = [
  'method',
  'headers',
  'body',
  'schedule',
  'timezone',
  'timeout',
  'authentication',
  'itemsPath',
  'pagination',
  'query',
  'incrementalColumn',
  'keyColumn',
  'group',
  'eventTypes',
]

const processingKeys = [
  'frequency',
  'aggregation',
  'validation',
  'alerting',
  'alertThresholds',
  'transform',
  'deduplicate',
]

const aggregations: readonly unknown[] = ['average', 'latest', 'min', 'max', 'sum', 'count']

function parseProcessing(value: unknown, problems: ErrorDetail[]): Json {
  if (value === undefined) return {}
  if (!isObject(value)) {
    problems.push({ path: 'processing', message: 'must be an object' })
    return {}
  }
  refuseUnknown(value, processingKeys, { path: 'processing', problems })
  const { validation, frequency, aggregation, deduplicate } = value
  const report = (key: string, message: string) =>
    problems.push({ path: `processing.${key}`, message })
  if (validation !== undefined && validation !== 'strict' && validation !== 'lenient') {
    report('validation', 'must be strict or lenient')
  }
  if (frequency !== undefined && !isDuration(frequency)) {
    report('frequency', 'must be a duration such as 30s, 1m, 6h or 1d')
  }
  if (aggregation !== undefined && !aggregations.includes(aggregation)) {
    report('aggregation', `must be one of ${aggregations.join(', ')}`)
  }
  if (deduplicate !== undefined && typeof deduplicate !== 'boolean') {
    report('deduplicate', 'must be true or false')
  }
  return value
}

function isDuration(value: unknown): boolean {
  return typeof value === 'string' && /^[1-9]\d{0,5}(s|m|h|d)$/.test(value)
}

/** Refuses what would be stored and then silently not be done. */
function refuseUnsupported({ type, source, processing }: StreamDefinition): void {
  const details: ErrorDetail[] = []
  if (!pushedTypes.includes(type)) {
    details.push({ path: 'type', message: `this version has no connector for ${type}` })
  }
  const { protocol } = source
  if (protocol !== undefined && protocol !== 'mqtt' && protocol !== 'http') {
    details.push({ path: 'source.protocol', message: 'this version takes mqtt and http' })
  }
  for (const key of ['endpoint', 'topic', 'credentials', ...fetchedSourceKeys]) {
    if (source[key] === undefined) continue
    details.push({ path: `source.${key}`, message: 'this version only takes pushed readings' })
  }
  for (const key of ['alerting', 'alertThresholds', 'transform', 'deduplicate']) {
    if (processing[key] === undefined || processing[key] === false) continue
    details.push({ path: `processing.${key}`, message: 'this version does not do that yet' })
  }
  if (details.length > 0) {
    throw new DomainError('unsupported_definition', 'the stream cannot be run by this version', {
      details,
    })
  }
}
