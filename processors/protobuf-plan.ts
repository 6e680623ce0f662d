import { hash } from 'node:crypto'
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
} from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  FeatureSet_FieldPresence,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { cutText } from '../src/core/cut-text.ts'
import { LruMap } from '../src/core/lru-map.ts'

/**
 * What a decoder has to know of a type of messages, and nothing else: what the library makes of a
 * descriptor is many times as large.
 */
export interface MessagePlan {
  readonly typeName: string
  readonly fields: ReadonlyMap<number, FieldPlan>
}

/** What stands in one value of a field. */
export type ValuePlan =
  | { readonly kind: 'scalar'; readonly scalar: ScalarType }
  /** A number of 64 bits without a sign, which may have more digits than a double: a varint, unless it is fixed. */
  | { readonly kind: 'bits'; readonly isFixed?: boolean }
  | { readonly kind: 'enum'; readonly names: ReadonlyMap<number, string>; readonly first: string }
  | { readonly kind: 'message'; readonly message: MessagePlan; readonly isDelimited: boolean }

export interface FieldPlan {
  readonly name: string
  readonly number: number
  readonly shape: 'single' | 'list' | 'map'
  /** What each element of a list is; for a map, a message of a key and a value. */
  readonly value: ValuePlan
  /** What an absent field means: nothing, or the zero of its type (proto3 without `optional`). */
  readonly isImplicit: boolean
  readonly isRequired: boolean
  /** Fields of one group of which a message has one at most. */
  readonly oneof: string | undefined
}

/** Types, and their members, of one descriptor: each takes time and memory when it is read. */
const typesMax = 500
const membersMax = 3_000

/** Names are repeated within the names of whatever is in them. */
const nameLengthMax = 250
const nestingMax = 32

/** Plans of descriptors that were read before: the streams of a fleet share theirs. */
const plans = new LruMap<string, MessagePlan | string>(200)

/**
 * The plan of a message in a descriptor set, or what is wrong with them. Pure.
 *
 * @param descriptor base64 of a google.protobuf.FileDescriptorSet, as `protoc --include_imports
 *   --descriptor_set_out` writes it
 */
export function planOf(descriptor: string, typeName: string): MessagePlan | string {
  const key = hash('sha256', JSON.stringify([descriptor, typeName]))
  const known = plans.get(key)
  if (known !== undefined) return known
  const plan = read(descriptor, typeName)
  plans.set(key, plan)
  return plan
}

const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/

function read(descriptor: string, typeName: string): MessagePlan | string {
  if (!base64Pattern.test(descriptor)) return 'must be base64'
  let message: DescMessage | undefined
  try {
    const set = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptor, 'base64'))
    const problem = sizeProblem(set)
    if (problem !== undefined) return problem
    message = createFileRegistry(set).getMessage(typeName)
  } catch (error) {
    // The library has no class for what is wrong with its input.
    return `is not a FileDescriptorSet that can be used: ${cutText((error as Error).message, 200)}`
  }
  if (message === undefined) return `has no message ${cutText(typeName, 200)}`
  return compile(message, new Map())
}

/** What is too large about a descriptor set: it is looked at before the library works on it. */
function sizeProblem({ file }: FileDescriptorSet): string | undefined {
  const count = { types: 0, members: 0 }
  for (const { package: prefix, messageType, enumType } of file) {
    if (prefix.length > nameLengthMax) return 'has a package with too long a name'
    count.types += enumType.length
    if (hasLongName(enumType.flatMap(({ value }) => value))) return longMemberName
    for (const { value } of enumType) count.members += value.length
    for (const message of messageType) {
      const problem = messageProblem(message, count, nestingMax)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

const longMemberName = 'has a field or value with too long a name'

function hasLongName(members: readonly { readonly name: string }[]): boolean {
  return members.some(({ name }) => name.length > nameLengthMax)
}

function messageProblem(
  { name, field, enumType, nestedType, oneofDecl }: DescriptorProto,
  count: { types: number; members: number },
  levels: number,
): string | undefined {
  count.types += 1 + enumType.length
  count.members += field.length + oneofDecl.length
  for (const { value } of enumType) count.members += value.length
  if (count.types > typesMax) return `has more than ${typesMax} messages and enums`
  if (count.members > membersMax) return `has more than ${membersMax} fields and values`
  if (name.length > nameLengthMax) return 'has a message with too long a name'
  const named = [...field, ...oneofDecl, ...enumType.flatMap(({ value }) => value)]
  if (hasLongName(named)) return longMemberName
  if (levels === 0) return `has messages within each other, more than ${nestingMax} levels deep`
  for (const nested of nestedType) {
    const problem = messageProblem(nested, count, levels - 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** A message may hold itself: its plan is known before its fields are. */
function compile(message: DescMessage, known: Map<string, MessagePlan>): MessagePlan {
  const before = known.get(message.typeName)
  if (before !== undefined) return before
  const fields = new Map<number, FieldPlan>()
  const plan = { typeName: message.typeName, fields }
  known.set(message.typeName, plan)
  for (const field of message.fields) fields.set(field.number, fieldPlan(field, known))
  return plan
}

function fieldPlan(field: DescField, known: Map<string, MessagePlan>): FieldPlan {
  const { name, number, fieldKind } = field
  const isSingle = fieldKind !== 'list' && fieldKind !== 'map'
  return {
    name,
    number,
    shape: isSingle ? 'single' : fieldKind,
    value: fieldKind === 'map' ? entryPlan(field, known) : valuePlan(field, known),
    isImplicit: !isSingle || field.presence === FeatureSet_FieldPresence.IMPLICIT,
    isRequired: isSingle && field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED,
    oneof: isSingle ? field.oneof?.name : undefined,
  }
}

const entryField = { shape: 'single', isImplicit: true, isRequired: false } as const

function entryPlan(field: DescField & { fieldKind: 'map' }, known: Map<string, MessagePlan>) {
  const key: ValuePlan = { kind: 'scalar', scalar: field.mapKey }
  const fields = new Map<number, FieldPlan>([
    [1, { ...entryField, name: 'key', number: 1, oneof: undefined, value: key }],
    [
      2,
      { ...entryField, name: 'value', number: 2, oneof: undefined, value: valuePlan(field, known) },
    ],
  ])
  const message: MessagePlan = { typeName: field.name, fields }
  return { kind: 'message', message, isDelimited: false } as const
}

function valuePlan(field: DescField, known: Map<string, MessagePlan>): ValuePlan {
  if (field.message !== undefined) {
    const isDelimited = field.fieldKind !== 'map' && field.delimitedEncoding
    return { kind: 'message', message: compile(field.message, known), isDelimited }
  }
  if (field.enum !== undefined) {
    // The first one of several names for one number counts.
    const names = new Map(field.enum.values.toReversed().map((value) => [value.number, value.name]))
    return { kind: 'enum', names, first: field.enum.values[0]?.name ?? '' }
  }
  return { kind: 'scalar', scalar: field.scalar as ScalarType }
}
