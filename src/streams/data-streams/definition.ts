import { isObject, parseFieldMap } from '../../contracts/definitions/field-map.ts'
import { type Json, Problems } from '../../contracts/definitions/problems.ts'
import type {
  FieldMap,
  PayloadFormat,
  StreamSchema,
  TimestampFormat,
} from '../../contracts/stream-schema.ts'
import type { Line } from '../../contracts/transform-step.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { parseId, type VaultId } from '../../core/ids.ts'
import { joinedHints, meantBy, spellingHint, unknownNameHint } from '../../core/suggestions.ts'
import { parseAlertRules } from './alert-definition.ts'
import { checkContextPaths } from './context-paths.ts'
import { eventTypesOf, schemaOfEvents } from './event-types.ts'
import { itemsOf } from './items.ts'
import { checkFormat } from './payload-format.ts'
import { parseProcessing, processingKeys } from './processing.ts'
import { refuseServiceProcessing, serviceSchema, unsupportedOfService } from './service-stream.ts'
import { parseSource, unsupportedSource } from './source.ts'
import { withoutSecrets } from './source-secrets.ts'
import { type StreamType, streamTypes } from './stream-type.ts'
import { parseTags, type Tags } from './tags.ts'
import { currentRules, timeRulesOf } from './time-rules.ts'
import { checkTimestampField } from './timestamp-field.ts'
import { parseTransform, storedFieldsOf } from './transform-definition.ts'
import { checkValues, valueRulesOf } from './value-rules.ts'

/**
 * What the units of a definition mean, by the key of each pair. It is found out once, when the
 * definition is checked, and kept with it: nothing has to know units later.
 */
export type Conversions = Readonly<Record<string, Line>>

/** How readings come and what they are. Plain data: it is stored as JSON. */
export interface VersionedDefinition extends ParsedVersion {
  readonly conversions: Conversions
}

/** The part of it that callers write. */
interface ParsedVersion {
  readonly source: Json
  readonly schema: FieldMap
  readonly processing: Json
  /** Which rules it was checked by; undefined: it was made before there were rules for times. */
  readonly rules?: number | undefined
}

export type StreamDefinition = ParsedDefinition & VersionedDefinition

/** A definition that is checked but for its units. */
export interface ParsedDefinition extends ParsedVersion {
  readonly name: string
  readonly vaultId: VaultId
  readonly type: StreamType
  readonly tags: Tags
}

/**
 * Characters of source, schema and processing together, as JSON: they are read again whenever a stream
 * is loaded, and kept with each version.
 */
const definitionLengthMax = 131_072

const definitionKeys = ['name', 'vaultId', 'type', 'source', 'schema', 'processing', 'tags']

const vaultHint =
  'Name in vaultId the vault that the stream belongs to: GET /vaults lists them, and POST /vaults makes one.'

/**
 * Checks a whole definition before anything of it is stored (decisions.md#definitions), all but its
 * units: what they mean is found out by `withConversions`.
 *
 * @throws DomainError `invalid_request` naming everything that is wrong, or
 *   `unsupported_definition` for what is right but cannot be done by this version
 */
export function parseDefinition(body: unknown): ParsedDefinition {
  const problems: ErrorDetail[] = []
  const value = isObject(body) ? body : {}
  if (!isObject(body)) problems.push({ path: '', message: 'must be a JSON object' })
  refuseUnknownKeys(value, problems)
  const name = parseName(value['name'], problems)
  const { vaultId: vaultText } = value
  const vaultId = typeof vaultText === 'string' ? parseId<VaultId>(vaultText) : undefined
  if (vaultId === undefined)
    problems.push({ path: 'vaultId', message: 'must be a uuid', hint: vaultHint })
  const type = streamTypes.find((known) => known === value['type'])
  if (type === undefined) {
    const message = `must be one of ${streamTypes.join(', ')}`
    problems.push({ path: 'type', message, hint: spellingHint(value['type'], streamTypes) })
  }
  const source = parseSource(value['source'], type, problems)
  const schema = parseSchema(value, { type, source }, problems)
  const processing = withFields(parseProcessing(value['processing'], problems), schema, problems)
  if (type === 'service') refuseServiceProcessing(processing, problems)
  checkTimestampField({ type, source }, schema, new Problems('', problems))
  checkFormat(source, schema, problems)
  checkContextPaths({ type, source }, schema, new Problems('', problems))
  checkValues(source, schema, problems)
  if (
    JSON.stringify({ source, schema, processing, conversions: {} }).length > definitionLengthMax
  ) {
    const message = `source, schema and processing have more than ${definitionLengthMax} characters`
    problems.push({ path: '', message })
  }
  const tags = parseTags(value['tags'], problems)
  if (problems.length > 0 || vaultId === undefined || type === undefined) {
    throw new DomainError('invalid_request', 'the stream definition is not valid', {
      details: problems,
      remedy: remedyOfProblems(problems),
    })
  }
  const rules = currentRules
  const definition = { name, vaultId, type, tags, source, schema, processing, rules }
  refuseUnsupported(definition)
  return definition
}

/** What to do about a definition, where more is known than to correct the places that are named. */
function remedyOfProblems(problems: readonly ErrorDetail[]): string | undefined {
  const hints = joinedHints(problems.map(({ hint }) => hint))
  return (
    hints ?? (problems.some(({ path }) => path.startsWith('source')) ? sourceRemedy : undefined)
  )
}

const sourceRemedy =
  'Correct each place that details names; docs/connectors.md names the page of each protocol, which has all keys of its source.'

/** A key that does not exist here may stand in one of the parts. */
function refuseUnknownKeys(value: Json, problems: ErrorDetail[]): void {
  const all = new Problems('', problems)
  for (const key of Object.keys(value).filter((name) => !definitionKeys.includes(name))) {
    all.add(key, 'is not known', () => keyHint(key))
  }
}

function keyHint(key: string): string | undefined {
  const own = spellingHint(key, definitionKeys)
  const inProcessing = spellingHint(key, processingKeys) && meantBy(key, processingKeys)
  const inSource = sourceKeysOfAll.includes(key) ? key : undefined
  const placed =
    (inProcessing &&
      `Put ${inProcessing} into processing${inProcessing === key ? '' : `, in place of ${key}`}.`) ??
    (inSource && `Put ${inSource} into source.`)
  return own ?? placed ?? unknownNameHint(key, definitionKeys)
}

const sourceKeysOfAll = [
  'protocol',
  'endpoint',
  'topic',
  'schedule',
  'format',
  'items',
  'timestampField',
  'timestampFormat',
  'timezone',
]

/** The name of a stream; what is wrong with it is added to the problems. */
export function parseName(value: unknown, problems: ErrorDetail[]): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 200) return value
  problems.push({ path: 'name', message: 'must be a text of 1 to 200 characters' })
  return ''
}

/** The text that a version is stored as: secrets are kept elsewhere. */
export function versionedJson(definition: VersionedDefinition): string {
  const { source, schema, processing, conversions, rules } = definition
  return JSON.stringify({ source: withoutSecrets(source), schema, processing, conversions, rules })
}

/** The steps of a transform stand on the fields of the schema, and alert rules on those after it. */
function withFields(given: Json, schema: FieldMap, problems: ErrorDetail[]): Json {
  const before = problems.length
  const place = { schema, path: 'processing.transform' }
  const { transform } = given
  const processing =
    transform === undefined
      ? given
      : { ...given, transform: parseTransform(transform, place, problems) }
  if (problems.length === before) {
    parseAlertRules(processing, storedFieldsOf({ schema, processing }), problems)
  }
  return processing
}

/**
 * Reads the schema; what is wrong with it is added to the problems. Events may have a schema each:
 * that of the stream is all of them together.
 */
export function parseSchema(
  { schema }: Json,
  { type, source }: { readonly type: StreamType | undefined; readonly source: Json },
  problems: ErrorDetail[],
): FieldMap {
  if (type === 'service') return serviceSchema(schema, problems)
  if (source['eventTypes'] === undefined) return parseFieldMap(schema, 'schema', problems)
  // What is wrong with them has been said.
  const isSound = !problems.some(({ path }) => path.startsWith('source'))
  const events = isSound ? eventTypesOf(source) : undefined
  if (events === undefined) return {}
  const all = schemaOfEvents(events, problems)
  if (schema !== undefined && canonicalJson(schema) !== canonicalJson(all)) {
    problems.push({ path: 'schema', message: 'must be left out: source.eventTypes are the schema' })
  }
  return all
}

/** What intake needs of a definition. */
export function schemaOf({ source, schema, processing, rules }: ParsedVersion): StreamSchema {
  const events = eventTypesOf(source)
  const items = itemsOf(source)
  const values = valueRulesOf(source)
  const time = timeRulesOf(source, rules)
  return {
    fields: schema,
    ...(events !== undefined && { events }),
    ...(items !== undefined && { items }),
    ...(source['extra'] === 'drop' && { extra: 'drop' as const }),
    ...(source['format'] === 'cloudevents' && { isCloudEvents: true as const }),
    ...(values !== undefined && { values }),
    ...(time !== undefined && { time }),
    validation: processing['validation'] === 'strict' ? 'strict' : 'lenient',
    timestampField: (source['timestampField'] as string | undefined) ?? 'timestamp',
    timestampFormat: (source['timestampFormat'] as TimestampFormat | undefined) ?? 'rfc3339',
  }
}

/** The format of its readings where nothing else says so. */
export function formatOf({ source }: ParsedVersion): PayloadFormat {
  return (source['format'] as PayloadFormat | undefined) ?? 'json'
}

/** Refuses what would be stored and then silently not be done. */
function refuseUnsupported({ type, source, processing }: ParsedDefinition): void {
  const ofService = type === 'service' ? unsupportedOfService(processing) : []
  const details = [...unsupportedSource(type, source), ...ofService]
  if (details.length > 0) {
    throw new DomainError('unsupported_definition', 'the stream cannot be run by this version', {
      details,
    })
  }
}
