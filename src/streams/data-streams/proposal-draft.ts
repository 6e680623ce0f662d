import type { Item } from '../../../processors/mapping/item.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Json } from '../../contracts/definitions/problems.ts'
import type { ItemsLevel } from '../../contracts/mapping.ts'
import { follow, parsePath } from '../../contracts/path.ts'
import type { Judge } from '../../contracts/reading.ts'
import type { FieldDefinition, FieldMap, StreamSchema } from '../../contracts/stream-schema.ts'
import { ofTexts } from '../inference/field-types.ts'
import { inferFields, type Note, Notes, type Trees, treesOf } from '../inference/fields.ts'
import { findItems, itemsWithin, tableItems } from '../inference/levels.ts'
import { newRoom } from '../inference/seen.ts'
import { type FoundTime, findTime } from '../inference/time-search.ts'
import { type FoundFormat, timeFormatOf } from '../inference/times.ts'
import { type FoundTopics, inferTopics } from '../inference/topics.ts'
import { fieldsOf } from './source.ts'
import { kindOf, protocolsOf } from './source-kinds.ts'
import type { SampledMessage, Samples } from './stream-samples.ts'
import type { StreamType } from './stream-type.ts'

export interface ProposalNeeds {
  readonly judgeOf: (schema: StreamSchema) => Judge
  readonly nowUs: number
  /** What is said of the source already: it goes before what is found. */
  readonly given?: { readonly type: StreamType; readonly source: Json }
}

/** How much may be found: what has turned out to refuse samples is not looked for again. */
export interface Limits {
  readonly levelsMax: number
  readonly time: 'required' | 'optional' | 'none'
  readonly fields: ReadonlyMap<string, 'bare' | 'text' | 'out'>
}

/** A definition that is still to be judged. */
export interface Draft {
  readonly source: Json
  readonly schema: FieldMap
  readonly notes: readonly Note[]
  readonly levels: number
  /** Whether it says where the time is. */
  readonly hasTime: boolean
}

export function draftOf(samples: Samples, limits: Limits, needs: ProposalNeeds): Draft {
  const notes = new Notes()
  const { nowUs: latestUs } = needs
  const { levels, items } = foundItems(samples, limits, needs)
  const trees = treesOf(items, levels, newRoom())
  const time = foundTime({ levels, items, trees }, limits, { latestUs, notes })
  const topics = topicsOf(samples, needs)
  const found = inferFields({ trees, timePath: time?.path, topics: topics.varying, notes })
  const fields = ofFormat(found, samples, notes)
  const schema = withLimits(fields, limits, notes)
  addNotes({ time, topics }, notes)
  const source = {
    ...(topics.filter !== undefined && { topic: topics.filter }),
    ...sourceOfSamples(samples, schema, time?.path),
    ...writtenItems(levels),
    ...timeOf(time),
    ...(takesItems(needs) && isTree(samples) && { missing: [null] }),
  }
  return { source, schema, notes: notes.all, levels: levels.length, hasTime: time !== undefined }
}

/** Fields as far as their format has them. */
function ofFormat(
  fields: Readonly<Record<string, FieldDefinition>>,
  { source: { format, headerLines } }: Samples,
  notes: Notes,
): Readonly<Record<string, FieldDefinition>> {
  // Paths lead to columns that header lines name.
  const isTable = format === 'csv' && headerLines === undefined
  if (format !== 'plain' && !isTable) return fields
  const kept: Record<string, FieldDefinition> = {}
  for (const [name, field] of Object.entries(fields)) {
    const { from } = field
    const isColumn = typeof from === 'string' && !from.startsWith('$topic')
    if (isColumn) notes.add(from, 'left out: a column is called by the name of its field')
    else kept[name] = format === 'plain' && from === undefined ? ofPayload(field) : field
  }
  return kept
}

/** A payload that says nothing is a reading, too. */
function ofPayload({ required: _required, ...field }: FieldDefinition): FieldDefinition {
  return ofTexts(field)
}

function isTree({ source: { format } }: Samples): boolean {
  return format === undefined || treeFormats.has(format)
}

/** Formats whose readings have levels. */
const treeFormats: ReadonlySet<string> = new Set(['ndjson', 'cbor', 'msgpack'])

/** Whether a stream of such a source can say where in its messages readings are. */
function takesItems({ given }: ProposalNeeds): boolean {
  if (given === undefined) return true
  const { type, source } = given
  // What stands there is a reading already.
  if (source['items'] !== undefined || source['itemsPath'] !== undefined) return false
  return fieldsOf(kindOf(type, source), protocolsOf(type))['items'] !== undefined
}

interface Found {
  readonly levels: readonly ItemsLevel[]
  readonly items: readonly Item[]
}

function foundItems(samples: Samples, { levelsMax }: Limits, needs: ProposalNeeds): Found {
  const { messages } = samples
  const roots = messages.flatMap(({ readings }) => readings).filter(isObject)
  if (!isTree(samples) || !takesItems(needs)) return { levels: [], items: itemsWithin(roots, []) }
  const wanted = { latestUs: needs.nowUs, levelsWanted: levelsMax }
  const batches = messages.map(({ readings }) => readings)
  const areTables = messages.length > 0 && messages.every(({ isBatch }) => isBatch)
  return (areTables ? tableItems(batches, wanted) : undefined) ?? findItems(roots, wanted)
}

type LevelTime = Pick<FoundTime, 'format' | 'isLocal' | 'zone'> & { readonly path?: undefined }

function foundTime(
  { levels, items, trees }: Found & { readonly trees: Trees },
  limits: Limits,
  needs: { readonly latestUs: number; readonly notes: Notes },
): FoundTime | LevelTime | undefined {
  const last = levels.at(-1)
  const ofLevel = last && levelTime(last, items, needs.latestUs)
  if (ofLevel !== undefined) return ofLevel
  const found = limits.time === 'none' ? undefined : findTime(trees, needs)
  return found && { ...found, isOptional: found.isOptional || limits.time === 'optional' }
}

/** The format of times that a level gives to its readings. */
function levelTime(
  { as, path, time, start }: ItemsLevel,
  items: readonly Item[],
  latestUs: number,
): FoundFormat | undefined {
  const parents = new Set(items.flatMap(({ parent }) => parent ?? []))
  const values = [...parents].flatMap(({ raw }): readonly unknown[] => {
    if (as === 'samples' && start !== undefined) return [at(raw, start)]
    const entries = at(raw, path)
    if (as !== 'pivot' || time === undefined || !Array.isArray(entries)) return []
    return entries.map((entry: unknown) => at(entry, time))
  })
  const format = timeFormatOf(values, latestUs)
  return format === undefined || 'problem' in format ? undefined : format
}

/** What stands at a path of a level. */
function at(value: unknown, text: string): unknown {
  const parsed = parsePath(text)
  return 'problem' in parsed ? undefined : follow(value, parsed.steps)
}

function topicsOf({ messages }: Samples, { given }: ProposalNeeds): FoundTopics {
  const found = inferTopics(
    messages.map(({ context, readings }) => ({ context, names: namesIn(readings) })),
  )
  // Where a source is given, it says which topics are its own.
  return given === undefined ? found : { ...found, filter: undefined, varying: [] }
}

function namesIn(readings: SampledMessage['readings']): ReadonlySet<string> {
  return new Set(readings.filter(isObject).flatMap((reading) => Object.keys(reading)))
}

function withLimits(
  fields: Readonly<Record<string, FieldDefinition>>,
  limits: Limits,
  notes: Notes,
): FieldMap {
  const kept: Record<string, FieldDefinition> = {}
  for (const [name, field] of Object.entries(fields)) {
    const from = field.from === undefined ? {} : { from: field.from }
    switch (limits.fields.get(name)) {
      case undefined:
        kept[name] = field
        break
      case 'bare': {
        const { required: _required, items: _items, ...rest } = field
        kept[name] = rest
        break
      }
      case 'text':
        kept[name] = { type: 'string', texts: 'typed', ...from }
        break
      case 'out':
        notes.add(typeof field.from === 'string' ? field.from : name, 'left out: no type takes it')
    }
  }
  return kept
}

function addNotes(
  {
    time,
    topics,
  }: { readonly time: FoundTime | LevelTime | undefined; readonly topics: FoundTopics },
  notes: Notes,
): void {
  if (time?.isLocal === true && time.zone === undefined) {
    const message = 'times name no zone: they are read as UTC; say where they are from'
    notes.add('source.timezone', message)
  }
  if (topics.hasKinds) {
    const message = 'topics have messages of several kinds: a stream for each would fit them better'
    notes.add('source.topic', message)
  }
}

/** A column that is no field of the schema is left out, as `null` says. */
function sourceOfSamples(
  { source }: Samples,
  schema: FieldMap,
  timestampField = 'timestamp',
): Json {
  const { columns } = source
  if (columns === undefined) return { ...source }
  const isKnown = (name: string) => name === timestampField || Object.hasOwn(schema, name)
  return { ...source, columns: columns.map((name) => (isKnown(name) ? name : null)) }
}

function writtenItems(levels: readonly ItemsLevel[]): Json {
  const [first, ...others] = levels
  if (first === undefined) return {}
  if (others.length > 0) return { items: levels }
  return { items: first.as === 'list' ? first.path : first }
}

function timeOf(time: FoundTime | LevelTime | undefined): Json {
  if (time === undefined) return {}
  const { path, format, isLocal } = time
  const isUsual = path === undefined || path === 'timestamp'
  return {
    ...(!isUsual && { timestampField: path }),
    ...(format !== 'rfc3339' && { timestampFormat: format }),
    ...(isLocal && { timezone: time.zone ?? 'UTC' }),
    ...(!isUsual && time.isOptional && { timestampOptional: true }),
  }
}
