import type { MessageContext, ValueRules } from '../../src/contracts/mapping.ts'
import type { Path } from '../../src/contracts/path.ts'
import type { FieldDefinition, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { needsValueReader, rulesWithin, type ValueReader, valueReaderOf } from '../values.ts'
import { type Finder, finderOf } from './finder.ts'
import { type Item, isObject, setMember } from './item.ts'
import { pathOf } from './level.ts'
import { type Reads, readsWithin, unreadOf } from './unread.ts'

export interface PlannedField {
  readonly name: string
  readonly paths: readonly Path[]
  /** The first of them that finds something counts. */
  readonly find: readonly Finder[]
  readonly read: ValueReader | undefined
  /** Whether `read` changes nothing but null. */
  readonly readsOnlyNull: boolean
}

/** How the fields of a reading are found in an item. */
export interface FieldPlan {
  readonly fields: readonly PlannedField[]
  readonly time: Path
  readonly offset: Path | undefined
  /** Whether what stands at the path of the time stands for none. */
  readonly isMissing: (value: unknown) => boolean
  /** What is read of an item. */
  readonly reads: Reads
  /** Names that members nobody reads cannot be kept by, because fields have them. */
  readonly taken: ReadonlySet<string>
  /** What becomes of what nobody reads: it is kept, only where all of a member is unread, or not at all. */
  readonly others: 'kept' | 'complete members' | 'dropped'
}

/** The plan of a schema; undefined where each member of an item is the field of its name, as it is. */
export function fieldPlanOf(schema: StreamSchema): FieldPlan | undefined {
  const { fields, time: rules, items, values, extra, timestampField } = schema
  const time = rules === undefined ? nameOnly(timestampField) : pathOf(timestampField)
  const offset = rules?.offset && pathOf(rules.offset.path)
  const isPlainTime = time.root === 'item' && time.steps.length === 1 && offset === undefined
  const isPlain =
    items === undefined &&
    extra === undefined &&
    isPlainTime &&
    !needsValueReader(fields, values) &&
    Object.values(fields).every(({ from }) => from === undefined)
  if (isPlain) return undefined
  const planned = Object.entries(fields).map(([name, field]) => {
    const isType = name === schema.events?.field && items !== undefined
    const found = isType ? [nameOnly(name), ...typeAround(name)] : pathsOf(name, field)
    return {
      name,
      paths: found,
      find: found.map(finderOf),
      read: valueReaderOf(field, values),
      readsOnlyNull: isOnlyNull(rulesWithin(field, values)),
    }
  })
  const paths = [...planned.flatMap(({ paths: own }) => own), time, ...(offset ? [offset] : [])]
  const readTime = valueReaderOf(asSent, values)
  const isMissing = (value: unknown) => readTime !== undefined && readTime(value) === undefined
  return {
    fields: planned,
    time,
    offset,
    isMissing,
    reads: readsWithin(paths),
    taken: new Set(Object.keys(fields)),
    others: othersOf(schema),
  }
}

/** A strict stream refuses members that nobody knows; one that paths lead into is known. */
function othersOf({ extra, validation }: StreamSchema): FieldPlan['others'] {
  if (extra === 'drop') return 'dropped'
  return validation === 'strict' ? 'complete members' : 'kept'
}

/** As a proposal has it: what devices send in place of a value that they do not have. */
function isOnlyNull({ missing = [], texts }: ValueRules): boolean {
  return texts === undefined && missing.every((value) => value === null)
}

/** Times are read by rules of their own: of those for values only what stands for none is asked. */
const asSent: FieldDefinition = { type: 'datetime', texts: 'as-sent' }

/** All paths of a plan. */
export function pathsOfPlan({ fields, time, offset }: FieldPlan): readonly Path[] {
  return [...fields.flatMap(({ paths }) => paths), time, ...(offset ? [offset] : [])]
}

/** The fields of an item that is an object, and its members that nobody reads. */
export function valuesOf(
  item: Item,
  plan: FieldPlan,
  context: MessageContext,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, find, read } of plan.fields) {
    const raw = firstAt(item, find, context)
    const value = raw === undefined || read === undefined ? raw : read(raw)
    if (value !== undefined) setMember(values, name, value)
  }
  const { value: members } = item
  if (plan.others === 'dropped' || !isObject(members)) return values
  for (const name of Object.keys(members)) {
    const rest = restOf(name, members[name], plan)
    if (rest !== undefined) setMember(values, name, rest)
  }
  return values
}

/** Whether something of an item is kept beside its fields. */
export function hasOthers(members: Readonly<Record<string, unknown>>, plan: FieldPlan): boolean {
  if (plan.others === 'dropped') return false
  for (const name in members) if (restOf(name, members[name], plan) !== undefined) return true
  return false
}

/** What is kept of a member of an item. */
function restOf(name: string, value: unknown, { reads, taken, others }: FieldPlan): unknown {
  if (reads.isWhole || taken.has(name)) return undefined
  const within = reads.within.get(name)
  if (within === undefined) return value
  return others === 'kept' ? unreadOf(value, within) : undefined
}

/** Null counts where no other path leads to more. */
export function firstAt(item: Item, finders: readonly Finder[], context: MessageContext): unknown {
  let found: unknown
  for (const find of finders) {
    const value = find(item, context)
    if (value !== undefined && value !== null) return value
    if (value === null) found = null
  }
  return found
}

function pathsOf(name: string, { from }: FieldDefinition): readonly Path[] {
  if (from === undefined) return [nameOnly(name)]
  return (typeof from === 'string' ? [from] : from).map(pathOf)
}

/** The type of an event that several readings are in stands in the message, or its source calls it so. */
function typeAround(name: string): readonly Path[] {
  return [
    { text: `$message.${name}`, root: 'message', up: 0, steps: [name] },
    { text: '$event', root: 'event', up: 0, steps: [] },
  ]
}

function nameOnly(name: string): Path {
  return { text: name, root: 'item', up: 0, steps: [name] }
}
