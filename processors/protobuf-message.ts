import { ScalarType } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { cutText } from '../src/core/cut-text.ts'
import { instantUsOf } from '../src/core/time.ts'
import { problem } from './decode-binary.ts'
import { instantItem } from './decode-scalars.ts'
import type { FieldPlan, MessagePlan, ValuePlan } from './protobuf-plan.ts'
import { type ProtobufWire, type Tag, wireTypeOf, zeroOf } from './protobuf-wire.ts'

/** Elements of one list: an array of more is refused whatever is declared of it. */
const elementsMax = 10_000

export type Members = Record<string, unknown>

/**
 * Reads the fields of a message as they stand there, up to `end`, or to the end of a group.
 *
 * The library would read the same into objects of its own first: of a few megabytes it can be made to
 * make a gigabyte of them. It also lets the last of equal fields win, where one would be lost.
 *
 * @throws UnreadableItem
 */
export function readFields(
  wire: ProtobufWire,
  plan: MessagePlan,
  {
    end,
    levels,
    group,
  }: { readonly end: number; readonly levels: number; readonly group?: number },
): Members {
  const members: Members = {}
  const oneofs = new Set<string>()
  while (wire.position < end) {
    const tag = wire.tag(end)
    if (tag.wireType === WireType.EndGroup) {
      if (tag.number === group) return members
      throw problem('not valid Protobuf: a group ends that has not begun', wire)
    }
    const field = plan.fields.get(tag.number)
    if (field === undefined) {
      wire.skip(tag, end)
      continue
    }
    if (field.oneof !== undefined) {
      if (oneofs.has(field.oneof)) throw problem(`there are two fields of ${field.oneof}`)
      oneofs.add(field.oneof)
    }
    new FieldReader(wire, field, { tag, end, levels }).readInto(members)
  }
  if (group !== undefined) throw problem('not valid Protobuf: a group has no end', wire)
  return members
}

/**
 * Adds what absent fields mean, which counts: an empty message may have thousands of them.
 *
 * @throws UnreadableItem for one that is required
 */
export function withDefaults(
  wire: ProtobufWire,
  plan: MessagePlan,
  members: Members,
  except?: string,
): Members {
  for (const { name, shape, value, isImplicit, isRequired } of plan.fields.values()) {
    if (Object.hasOwn(members, name)) continue
    if (isRequired) throw problem(`${name} is required by ${cutText(plan.typeName, 200)}`)
    if (!isImplicit || name === except) continue
    wire.countNamed(name)
    if (shape === 'single') defineMember(members, name, zeroValue(value))
    else defineMember(members, name, shape === 'list' ? [] : {})
  }
  return members
}

interface Place {
  readonly tag: Tag
  readonly end: number
  readonly levels: number
}

class FieldReader {
  readonly #wire: ProtobufWire
  readonly #field: FieldPlan
  readonly #place: Place

  constructor(wire: ProtobufWire, field: FieldPlan, place: Place) {
    this.#wire = wire
    this.#field = field
    this.#place = place
  }

  readInto(members: Members): void {
    const { name, shape } = this.#field
    this.#wire.countNamed(name)
    const before = Object.hasOwn(members, name) ? members[name] : undefined
    if (shape === 'single') {
      if (before !== undefined) throw problem(`${name} comes twice`)
      defineMember(members, name, this.#value(this.#place.tag))
    } else if (shape === 'list') {
      if (before === undefined) defineMember(members, name, [])
      this.#addTo(members[name] as unknown[])
    } else {
      if (before === undefined) defineMember(members, name, {})
      this.#addEntry(members[name] as Members)
    }
  }

  #addTo(list: unknown[]): void {
    const { value } = this.#field
    const { tag, end } = this.#place
    const isPacked =
      tag.wireType === WireType.LengthDelimited &&
      value.kind !== 'message' &&
      wireTypeOfValue(value) !== WireType.LengthDelimited
    if (!isPacked) {
      this.#push(list, this.#value(tag))
      return
    }
    const wire = this.#wire
    const endOfList = wire.endOfValue(end)
    while (wire.position < endOfList) this.#push(list, this.#unpacked(endOfList))
  }

  #push(list: unknown[], value: unknown): void {
    if (list.length === elementsMax) {
      throw problem(`${this.#field.name} has more than ${elementsMax} elements`)
    }
    list.push(value)
  }

  #addEntry(map: Members): void {
    const { key, value } = this.#value(this.#place.tag) as Members
    const text = String(key)
    if (Object.hasOwn(map, text)) throw problem(`${this.#field.name} has the same key twice`)
    defineMember(map, text, value)
  }

  #value(tag: Tag): unknown {
    const { value, name } = this.#field
    if (tag.wireType !== wireTypeOfValue(value)) {
      throw problem(`${name} is not written as its type is`, this.#wire)
    }
    if (value.kind === 'message') return this.#nested(value.message, value.isDelimited)
    return this.#unpacked(this.#place.end)
  }

  #unpacked(end: number): unknown {
    const { value, name } = this.#field
    const wire = this.#wire
    wire.count()
    if (value.kind === 'bits') return wire.bits(end, value.isFixed)
    if (value.kind !== 'enum') {
      return wire.scalar(value.kind === 'scalar' ? value.scalar : ScalarType.INT32, end)
    }
    const number = wire.scalar(ScalarType.INT32, end) as number
    const text = value.names.get(number)
    if (text === undefined) throw problem(`${number} is not a value of ${name}`)
    wire.countNamed(text)
    return text
  }

  #nested(plan: MessagePlan, isDelimited = false): unknown {
    const wire = this.#wire
    const { tag, end, levels } = this.#place
    wire.count()
    if (levels === 0) throw problem('messages are nested too deep')
    const bounds = isDelimited
      ? { end, group: tag.number, levels: levels - 1 }
      : { end: wire.endOfValue(end), levels: levels - 1 }
    const members = readFields(wire, plan, bounds)
    return wellKnown(plan, withDefaults(wire, plan, members))
  }
}

const wrapperPattern = /^google\.protobuf\.(Double|Float|U?Int(32|64)|Bool|String|Bytes)Value$/

/** Messages that stand for a value, as in the JSON of Protobuf. */
function wellKnown({ typeName }: MessagePlan, members: Members): unknown {
  if (wrapperPattern.test(typeName)) return members['value']
  if (typeName !== 'google.protobuf.Timestamp') return members
  const { seconds, nanos } = members as { readonly seconds: number; readonly nanos: number }
  if (nanos < 0 || nanos >= 1_000_000_000) throw problem('a time has more nanos than a second')
  return instantItem(instantUsOf(seconds, Math.floor(nanos / 1_000))).value
}

function wireTypeOfValue(value: ValuePlan): WireType {
  if (value.kind === 'scalar') return wireTypeOf(value.scalar)
  if (value.kind === 'bits') return value.isFixed === true ? WireType.Bit64 : WireType.Varint
  if (value.kind === 'enum') return WireType.Varint
  return value.isDelimited ? WireType.StartGroup : WireType.LengthDelimited
}

function zeroValue(value: ValuePlan): unknown {
  if (value.kind === 'scalar') return zeroOf(value.scalar)
  if (value.kind === 'bits') return 0n
  return value.kind === 'enum' ? value.first : {}
}

/** Keys of maps are anything, and `__proto__` must not become a prototype. */
export function defineMember(members: Members, name: string, value: unknown): void {
  if (name !== '__proto__') {
    members[name] = value
    return
  }
  Object.defineProperty(members, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}
