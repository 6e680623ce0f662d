import { protobufFields } from '../../../processors/decode-protobuf.ts'
import { epochPlaces } from '../../../processors/times/epochs.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Json, Problems } from '../../contracts/definitions/problems.ts'
import { type Path, parsePath, type Step } from '../../contracts/path.ts'
import {
  type FieldDefinition,
  type FieldMap,
  type FieldType,
  type ProtobufOptions,
  timedFormats,
} from '../../contracts/stream-schema.ts'
import { memberNamed } from '../../contracts/time-member.ts'
import { changesBetween } from '../../core/changes-between.ts'
import { contextProblem } from './context-paths.ts'
import { itemsOf } from './items.ts'
import { hasWrittenTime, isInbound, messageFieldsOf } from './source-kinds.ts'
import type { StreamType } from './stream-type.ts'

/** What can be said of a time field that is given: what is wrong with it, or what its owner should know. */
interface Finding {
  readonly problem?: string
  readonly warning?: string
}

/** Refuses a time field that no message of the stream can have: all readings would be refused for it. */
export function checkTimestampField(
  { type, source }: { readonly type: StreamType | undefined; readonly source: Json },
  schema: FieldMap,
  problems: Problems,
): void {
  const problem = contextProblemOf(type, source) ?? findingOf(source, schema).problem
  if (problem !== undefined) problems.within('source').add('timestampField', problem)
  if (isFormatIdle(source)) {
    problems.within('source').add('timestampFormat', 'has no effect: messages have no time')
  }
  const { timestampField, timestampFormat = 'rfc3339' } = source
  if (typeof timestampField !== 'string') return
  const path = pathOf(timestampField)
  const declared = path === undefined ? undefined : declaredAt(path, source, schema)
  if (declared === undefined || typesFor(timestampFormat).includes(declared.type)) return
  const message = `cannot hold a time in the format ${String(timestampFormat)}`
  problems.within('schema').add(`${placeInSchema(path?.steps ?? [])}.type`, message)
}

/** What is wrong with a time that is not in the message, but beside it. */
function contextProblemOf(type: StreamType | undefined, source: Json): string | undefined {
  const { timestampField } = source
  if (type === undefined || type === 'service' || typeof timestampField !== 'string')
    return undefined
  const path = pathOf(timestampField)
  return path && contextProblem(path, { type, source })
}

/** The usual field is not named, and no register or object is called like it. */
function isFormatIdle({ timestampField, timestampFormat, ...source }: Json): boolean {
  if (timestampFormat === undefined || timestampField !== undefined) return false
  return messageFieldsOf(source)?.includes('timestamp') === false
}

/** What an owner should know of a definition that does not say all that it could. */
export function definitionWarnings({
  source,
  schema,
  rules,
}: {
  readonly source: Json
  readonly schema: FieldMap
  readonly rules?: number | undefined
}): readonly string[] {
  const { timestampField: name } = source
  const isName = rules === undefined && typeof name === 'string' && !isWritten(source)
  if (isName && memberNamed(name) !== name) return [`source.timestampField: ${isNoPath}`]
  const { warning, problem } = findingOf(source, schema, rules === undefined)
  // A definition of before is shown with what would be refused today.
  const found = warning ?? problem
  return found === undefined ? [] : [`source.timestampField: ${found}`]
}

const isNoPath = 'is the name of a field: it is followed as a path once the definition is changed'

/** @param isOptional whether readings without a time are taken, whatever the source says */
function findingOf(source: Json, schema: FieldMap, isOptional = false): Finding {
  const { timestampField: name, timestampFormat, timestampOptional } = source
  if (typeof name !== 'string') return {}
  if (isWritten(source)) {
    return memberNamed(name) === name ? {} : { problem: 'must be the name of a field, and no path' }
  }
  const path = pathOf(name)
  // What is no path at all has been said.
  if (path === undefined) return {}
  const unlessSent =
    isOptional || timestampOptional === true
      ? 'readings that come without it have the time of their receipt'
      : 'readings that come without it are refused, unless timestampOptional is true'
  const around = aroundProblem(path, source)
  if (around !== undefined) return { problem: around }
  if (path.root !== 'item') return {}
  const outside = rowProblem(path.steps, source) ?? withinProblem(path.steps, source, schema)
  if (outside !== undefined) return { problem: outside }
  const [first] = path.steps
  if (typeof first !== 'string' || itemsOf(source) !== undefined) return {}
  if (isDeclared(first, schema)) return elsewhere(first, source, unlessSent) ?? {}
  const found = elsewhere(first, source, unlessSent)
  if (found !== undefined) return found
  if (path.steps.length > 1) return {}
  const likely = Object.keys(schema).find(
    (one) =>
      isSlip(first, one) && typesFor(timestampFormat).some((type) => schema[one]?.type === type),
  )
  if (likely !== undefined)
    return { problem: `is not a field of the schema: did you mean ${likely}?` }
  return { warning: `the schema has no field ${first}; ${unlessSent}` }
}

function pathOf(text: string): Path | undefined {
  const path = parsePath(text)
  return 'problem' in path ? undefined : path
}

/** Whether a field is where its name says. */
function isDeclared(name: string, schema: FieldMap): boolean {
  return Object.hasOwn(schema, name) && schema[name]?.from === undefined
}

/** Around a reading is as much as its source has levels of items. */
function aroundProblem({ root, up }: Path, source: Json): string | undefined {
  if (root !== 'parent') return undefined
  const levels = itemsOf(source)?.length ?? 0
  if (up <= levels) return undefined
  return levels === 0
    ? 'leads around the reading, and nothing is there without items'
    : `leads ${up} levels out, and items have ${levels}`
}

/** The items of rows have the names that their columns have. */
function rowProblem([first]: readonly Step[], source: Json): string | undefined {
  const { as, columns } = itemsOf(source)?.at(-1) ?? {}
  if (as !== 'rows' || !Array.isArray(columns)) return undefined
  if (typeof first === 'string' && columns.includes(first)) return undefined
  return `rows have no column ${String(first ?? '$')}`
}

/** What is a value by itself has nothing within it, and a reading is an object. */
function withinProblem(steps: readonly Step[], source: Json, schema: FieldMap): string | undefined {
  if (itemsOf(source) !== undefined) return undefined
  const [first] = steps
  if (typeof first !== 'string') return 'must lead to a member: a reading is an object'
  if (steps.length > 1 && hasPlainFields(source)) return `${first} is a value, with nothing within`
  let field = isDeclared(first, schema) ? schema[first] : undefined
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]
    if (field === undefined || next === undefined) return undefined
    const container = typeof next === 'number' ? 'array' : 'object'
    if (field.type !== container) {
      return `leads into ${String(step)}, which is ${articleOf(field.type)} ${field.type}`
    }
    field = memberOf(field, next)
  }
  return undefined
}

function articleOf(type: FieldType): string {
  return /^[aeio]/.test(type) ? 'an' : 'a'
}

function memberOf({ fields, items }: FieldDefinition, step: Step): FieldDefinition | undefined {
  if (typeof step === 'number') return items
  return fields !== undefined && Object.hasOwn(fields, step) ? fields[step] : undefined
}

/** The field that a path leads to, where the schema declares it there. */
function declaredAt(
  { root, steps }: Path,
  source: Json,
  schema: FieldMap,
): FieldDefinition | undefined {
  const [first, ...more] = steps
  if (root !== 'item' || typeof first !== 'string' || !isDeclared(first, schema)) return undefined
  if (more.length > 0 && withinProblem(steps, source, schema) !== undefined) return undefined
  let field = schema[first]
  for (const step of more) field = field && memberOf(field, step)
  return field
}

function placeInSchema(steps: readonly Step[]): string {
  return steps
    .map((step, index) => {
      if (typeof step === 'number') return 'items'
      return index > 0 ? `fields.${step}` : step
    })
    .join('.')
}

/** Judges a name by formats and sources that say themselves which fields there are. */
function elsewhere(name: string, source: Json, unlessSent: string): Finding | undefined {
  const fields = knownFields(source)
  if (fields === undefined || fields.includes(name)) return undefined
  const what = `messages have no field ${name}, by what the source says of them`
  // Over HTTP the content type says what a message is: the same stream takes JSON there.
  const isPushed = source['endpoint'] === undefined && !isInbound(source)
  return isPushed ? { warning: `${what}; ${unlessSent}` } : { problem: what }
}

/** Whether messages have nothing but values, side by side. */
function hasPlainFields(source: Json): boolean {
  const { format, endpoint } = source
  if (messageFieldsOf(source) !== undefined) return true
  const isPushed = endpoint === undefined && !isInbound(source)
  return !isPushed && (format === 'csv' || format === 'plain')
}

function knownFields(source: Json): readonly unknown[] | undefined {
  const { format, columns, field, protobuf } = source
  const listed = messageFieldsOf(source)
  if (listed !== undefined) return listed
  switch (format) {
    case 'csv':
      return Array.isArray(columns) ? columns : undefined
    case 'plain':
      return [field]
    case 'protobuf':
      return isProtobuf(protobuf) ? protobufFields(protobuf) : undefined
    default:
      return undefined
  }
}

function isProtobuf(value: unknown): value is ProtobufOptions {
  return (
    isObject(value) &&
    typeof value['descriptor'] === 'string' &&
    typeof value['message'] === 'string'
  )
}

/** The time of these is said in another way, and written into the field by the service. */
export function isWritten(source: Json): boolean {
  return hasWrittenTime(source) || timedFormats.includes(source['format'])
}

/** Whether one name is the other one with a slip of the pen in it. */
function isSlip(name: string, other: string): boolean {
  if (folded(name) === folded(other)) return true
  return Math.min(name.length, other.length) >= slipLengthMin && changesBetween(name, other) === 1
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll('_', '')
}

/** Two shorter names that differ by a letter may both be meant. */
const slipLengthMin = 4

function typesFor(format: unknown): readonly FieldType[] {
  if (format === undefined || format === 'rfc3339') return ['string', 'datetime']
  const isEpoch = typeof format === 'string' && epochPlaces(format) !== undefined
  return isEpoch ? ['number', 'integer', 'string'] : ['string']
}
