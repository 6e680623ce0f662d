import type { Path } from '../../src/contracts/path.ts'
import type {
  DecodedMessage,
  KeptReading,
  Mapper,
  RefusedReading,
  Scan,
} from '../../src/contracts/reading.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'
import { sourcesIn } from '../../src/core/number-sources.ts'
import { readingsPerMessageMax, tooManyReadings } from '../decode-batch.ts'
import { decodeJson } from '../decode-json.ts'
import { MappedReading } from '../mapped-reading.ts'
import { ScannedReading, worthwhile } from '../scan.ts'
import { type TimeReader, timeReaderOf } from '../timestamp.ts'
import { writtenJson } from '../written-json.ts'
import { type Bounds, boundsOf, sharedLengthMax } from './bounds.ts'
import { cloudEventMapper } from './cloud-events.ts'
import { expand } from './expand.ts'
import { type FieldPlan, fieldPlanOf, pathsOfPlan, valuesOf } from './fields.ts'
import { type Item, isObject, mappingFailed, messageItem, valueAt } from './item.ts'
import { KeptMessages, type ReadPaths } from './kept-message.ts'
import { type FreeLevel, type Level, levelOf, type PlacedContext, pathsBeside } from './level.ts'
import { type PlainReader, plainReaderOf } from './plain-fields.ts'
import { reservedBy } from './reserved.ts'
import { messageScanOf } from './scan-message.ts'

/** A mapping, and what finds plain readings in the text of a message without it. */
export interface CompiledMapping {
  readonly map: Mapper
  readonly scan: Scan | undefined
}

/** The mapping of a schema; undefined where a message is a reading, or a list of some, as it is. */
export function mapperOf(schema: StreamSchema): Mapper | undefined {
  const mapping = mappingOf(schema, false)
  const map: Mapper | undefined =
    mapping && ((decoded, context) => mapped(decoded, mapping, context))
  return schema.isCloudEvents ? cloudEventMapper(schema, map) : map
}

/**
 * The mapping of a schema for those who need no values of a reading that fits, but its canonical text; undefined as by
 * `mapperOf`. What was scanned goes through it as it is.
 */
export function textMappingOf(schema: StreamSchema): CompiledMapping | undefined {
  if (schema.isCloudEvents) {
    const map = textMappingOf({ ...schema, isCloudEvents: undefined })?.map
    return { map: cloudEventMapper(schema, map), scan: undefined }
  }
  const mapping = mappingOf(schema, true)
  if (mapping === undefined) return undefined
  const scan = messageScanOf(schema, mapping.plan, mapping.levels)
  const map: Mapper = (decoded, context) => {
    const isScanned = decoded.format === 'json' && decoded.readings[0] instanceof ScannedReading
    return isScanned ? scanned(decoded, mapping, context) : mapped(decoded, mapping, context)
  }
  return { map, scan: scan && worthwhile(bounded(scan, mapping)) }
}

/** What the mapping refuses is no message of plain readings. */
function bounded(scan: Scan, { bounds: { countMax } }: Mapping): Scan {
  return (text) => {
    const found = scan(text)
    return found === undefined || found.readings.length > countMax ? undefined : found
  }
}

/** Readings that were found in the text of a message: what is kept of one is looked for when it is asked for. */
function scanned(
  decoded: DecodedMessage,
  mapping: Mapping,
  context: PlacedContext,
): DecodedMessage {
  const { elements: _elements, ...rest } = decoded
  let whole: DecodedMessage | undefined
  const kept = (index: number, payload: Uint8Array): KeptReading => {
    whole ??= mapped(read(payload), mapping, context)
    return whole.kept?.(index, payload) ?? { payload, format: 'json', isElement: false }
  }
  return { ...rest, kept }
}

function read(payload: Uint8Array): DecodedMessage {
  const decoded = decodeJson(payload)
  if (!decoded.ok) throw new Error(`a message that was scanned cannot be read: ${decoded.problem}`)
  return decoded
}

function mappingOf(schema: StreamSchema, isForText: boolean): Mapping | undefined {
  const plan = fieldPlanOf(schema)
  if (plan === undefined) return undefined
  const readTime = timeReaderOf(schema)
  const free = (schema.items ?? []).map((level, index) =>
    levelOf(level, `source.items.${index}`, readTime),
  )
  const reads = readsOf(plan, free)
  const levels = free.map((level, depth) => {
    return { ...level, reserved: reservedBy(reads[depth] ?? [], level.steps) }
  })
  const readPlain = isForText ? plainReaderOf(plan, schema) : undefined
  return { plan, levels, readTime, readPlain, reads, bounds: boundsOf(plan, levels, reads) }
}

interface Mapping {
  readonly plan: FieldPlan
  readonly levels: readonly Level[]
  readonly readTime: TimeReader
  readonly readPlain: PlainReader | undefined
  readonly reads: ReadPaths
  readonly bounds: Bounds
}

/** The paths that lead to what encloses items, by how many levels it is below the message. */
function readsOf(plan: FieldPlan, levels: readonly FreeLevel[]): ReadPaths {
  const depths = levels.map((level) => [...pathsBeside(level)])
  for (const path of pathsOfPlan(plan)) {
    const depth = path.root === 'message' ? 0 : levels.length - path.up
    if (path.root === 'message' || path.root === 'parent') depths[depth]?.push(path)
  }
  return depths
}

/** A reading that was found, or why there is none, and which element of a batch it came from. */
interface Found {
  readonly item: Item
  readonly element: number | undefined
  /** The item in the digits that its numbers were sent with. */
  readonly digits: () => Item | undefined
}

function mapped(decoded: DecodedMessage, mapping: Mapping, context: PlacedContext): DecodedMessage {
  const found = foundIn(decoded, mapping, context)
  const refused = refusedOf(found, decoded)
  const messages = new KeptMessages(mapping.levels, mapping.reads, sharedLengthMax / found.length)
  const { readingsAt, places, elements: _elements, elementFormats: _formats, ...rest } = decoded
  return {
    ...rest,
    unreadable: unreadableOf(found, decoded),
    readings: found.map((one) => readingOf(one, mapping, context)),
    isBatch: decoded.isBatch || mapping.levels.length > 0,
    refused,
    kept: (index, payload) => keptOf(found, index, { decoded, payload, messages }),
    ...(places && { places: found.map(({ element = 0 }) => places[element] ?? element) }),
    ...(readingsAt && {
      readingsAt: (receivedAtUs: number) =>
        mapped(
          { ...decoded, readingsAt: undefined, readings: readingsAt(receivedAtUs) },
          mapping,
          context,
        ).readings,
    }),
  }
}

/** A list is a message where the first level begins with it; else each of its elements is one. */
function isWhole({ isBatch }: DecodedMessage, { levels: [first] }: Mapping): boolean {
  if (!isBatch) return true
  if (first === undefined) return false
  const [step] = first.steps
  // Members of a list are no readings: those of its elements are.
  if (step === undefined) return first.given.as !== 'map' && first.given.as !== 'columns'
  return typeof step === 'number'
}

function foundIn(
  decoded: DecodedMessage,
  mapping: Mapping,
  context: PlacedContext,
): readonly Found[] {
  const { readings, isBatch, unreadable } = decoded
  if (isWhole(decoded, mapping)) {
    const [problem] = unreadable?.values() ?? []
    const message = isBatch ? readings : readings[0]
    if (problem !== undefined && isBatch) return [failed(message, `cannot be followed: ${problem}`)]
    const found = itemsOf(message, undefined, mapping, context)
    return limited(found, message, mapping, context)
  }
  const found = readings.flatMap((reading, element) =>
    unreadable?.has(element)
      ? [{ item: messageItem(reading), element, digits: nothing }]
      : itemsOf(reading, element, mapping, context),
  )
  if (found.length > readingsPerMessageMax) return [failed(readings, `leads to ${tooManyReadings}`)]
  return limited(found, readings, mapping, context)
}

/** Refuses a message of which too much would be read with each of its readings. */
function limited(
  found: readonly Found[],
  message: unknown,
  { bounds }: Mapping,
  context: PlacedContext,
): readonly Found[] {
  const items = found.map(({ item }) => item)
  const problem = bounds.problemOf(items, found.length, context)
  return problem === undefined ? found : [failed(message, problem)]
}

function failed(message: unknown, problem: string): Found {
  const failure = mappingFailed('source.items', problem)
  return { item: { ...messageItem(message), failure }, element: undefined, digits: nothing }
}

function itemsOf(
  message: unknown,
  element: number | undefined,
  { levels }: Mapping,
  context: PlacedContext,
): readonly Found[] {
  const items = expand(messageItem(message), levels, context)
  let twins: readonly Item[] | undefined
  const twinsOf = () => {
    const digits = Array.isArray(message) ? message.map(sourcesIn) : sourcesIn(message)
    return digits === undefined ? [] : expand(messageItem(digits), levels, context)
  }
  return items.map((item, index) => ({
    item,
    element,
    digits: () => (twins ??= twinsOf())[index],
  }))
}

function nothing(): undefined {
  return undefined
}

function readingOf({ item, digits }: Found, mapping: Mapping, context: PlacedContext): unknown {
  if (item.value instanceof ScannedReading) return item.value
  // What is no object is refused by whoever judges it.
  if (item.failure !== undefined || !isObject(item.value)) return item.value
  const claimedUs = item.claimedUs ?? claimedBy(item, digits, mapping, context)
  const text = typeof claimedUs === 'object' ? undefined : mapping.readPlain?.(item, context)
  if (text !== undefined) return new ScannedReading(claimedUs as number | undefined, text)
  return new MappedReading(valuesOf(item, mapping.plan, context), claimedUs)
}

function claimedBy(
  item: Item,
  digits: Found['digits'],
  { plan: { time, offset, isMissing }, readTime }: Mapping,
  context: PlacedContext,
): MappedReading['claimedUs'] {
  const value = valueAt(item, time, context)
  if (value === undefined || isMissing(value)) return undefined
  const sourceOf = (given: unknown, path: Path) => {
    const twin = typeof given === 'number' && !Number.isInteger(given) ? digits() : undefined
    const source = twin && valueAt(twin, path, context)
    return typeof source === 'string' && Number(source) === given ? source : undefined
  }
  const claim = { value, source: sourceOf(value, time) }
  if (offset === undefined) return readTime(claim)
  const added = valueAt(item, offset, context)
  return readTime({ ...claim, offset: added, offsetSource: sourceOf(added, offset) })
}

/** What is wrong with elements that could not be read, by the places of the readings. */
function unreadableOf(found: readonly Found[], { unreadable }: DecodedMessage) {
  const problems = new Map<number, string>()
  if (unreadable === undefined || unreadable.size === 0) return problems
  for (const [index, { element }] of found.entries()) {
    const problem = element === undefined ? undefined : unreadable.get(element)
    if (problem !== undefined) problems.set(index, problem)
  }
  return problems
}

/** What was refused before, and what the mapping has found to be no reading, by the places of the readings. */
function refusedOf(found: readonly Found[], { refused: before }: DecodedMessage) {
  const refused = new Map<number, RefusedReading>()
  for (const [index, { item, element }] of found.entries()) {
    const refusal = item.failure ?? (element === undefined ? undefined : before?.get(element))
    if (refusal !== undefined) refused.set(index, refusal)
  }
  return refused
}

interface Keeping {
  readonly decoded: DecodedMessage
  readonly payload: Uint8Array
  readonly messages: KeptMessages
}

/** What is one of several that a mapping has found is written anew, with what stands around it; all else is kept as it was sent. */
function keptOf(
  found: readonly Found[],
  index: number,
  { decoded, payload, messages }: Keeping,
): KeptReading {
  const { item, element, digits } = found[index] as Found
  if (item.depth > 0) {
    const twin = digits()
    const text = writtenJson(messages.of(item), twin && messages.of(twin))
    const { place } = item
    const bytes = Buffer.from(text)
    return {
      payload: bytes,
      format: 'json',
      isElement: false,
      ...(place !== undefined && { place }),
    }
  }
  if (element === undefined) return { payload, format: decoded.format, isElement: false }
  if (decoded.kept !== undefined) return decoded.kept(element, payload)
  return {
    payload: decoded.elements?.(payload)[element] ?? payload,
    format: decoded.elementFormats?.get(element) ?? decoded.format,
    isElement: decoded.isBatch,
  }
}
