import { ScalarType } from '@bufbuild/protobuf'
import { cutText } from '../src/core/cut-text.ts'
import { problem } from './decode-binary.ts'
import { integerItem } from './decode-scalars.ts'
import type { Members } from './protobuf-message.ts'
import type { FieldPlan, MessagePlan, ValuePlan } from './protobuf-plan.ts'

/** Elements of one list: as many as one of Protobuf may have. */
const elementsMax = 10_000

/**
 * The members of a message in the JSON of OTLP, as its Protobuf would have them: names in camelCase, integers of 64 bits
 * as texts or numbers, enums as numbers, bytes in base64. What no plan knows is passed over.
 *
 * @throws UnreadableItem
 */
export function membersOfJson(value: unknown, { typeName, fields }: MessagePlan): Members {
  if (!isObject(value)) throw problem(`${typeName} must be an object`)
  const members: Members = {}
  const oneofs = new Set<string>()
  for (const field of fields.values()) {
    const { name, oneof } = field
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    // In the JSON of Protobuf null is a field that was not set.
    if (given === undefined || given === null) continue
    if (oneof !== undefined) {
      if (oneofs.has(oneof)) throw problem(`there are two fields of ${oneof}`)
      oneofs.add(oneof)
    }
    members[name] =
      field.shape === 'list' ? listOf(given, field) : valueOf(given, field.value, name)
  }
  return members
}

function listOf(given: unknown, { name, value }: FieldPlan): readonly unknown[] {
  if (!Array.isArray(given)) throw problem(`${name} must be a list`)
  if (given.length > elementsMax) throw problem(`${name} has more than ${elementsMax} elements`)
  return given.map((one: unknown) => valueOf(one, value, name))
}

function valueOf(given: unknown, plan: ValuePlan, name: string): unknown {
  switch (plan.kind) {
    case 'message':
      return membersOfJson(given, plan.message)
    case 'bits':
      return unsigned(integerIn(given, name), name)
    case 'enum':
      return enumOf(given, plan.names, name)
    case 'scalar':
      return scalarOf(given, plan.scalar, name)
    default:
      return plan satisfies never
  }
}

type ScalarReader = (given: unknown, name: string) => unknown

/** How scalars of the plans are read; the others are integers with a sign. */
const scalarReaders: ReadonlyMap<ScalarType, ScalarReader> = new Map<ScalarType, ScalarReader>([
  [ScalarType.STRING, textOf],
  [ScalarType.BOOL, booleanOf],
  [ScalarType.BYTES, bytesOf],
  [ScalarType.DOUBLE, doubleOf],
  [ScalarType.FIXED64, countOf],
  [ScalarType.UINT64, countOf],
  [ScalarType.UINT32, countOf],
])

function scalarOf(given: unknown, scalar: ScalarType, name: string): unknown {
  return (scalarReaders.get(scalar) ?? integerOf)(given, name)
}

function textOf(given: unknown, name: string): string {
  if (typeof given !== 'string') throw problem(`${name} must be a text`)
  return given
}

function booleanOf(given: unknown, name: string): boolean {
  if (typeof given !== 'boolean') throw problem(`${name} must be true or false`)
  return given
}

function integerOf(given: unknown, name: string): unknown {
  return integerItem(integerIn(given, name)).value
}

function countOf(given: unknown, name: string): unknown {
  return integerItem(unsigned(integerIn(given, name), name)).value
}

const base64Pattern = /^[A-Za-z0-9+/_-]*={0,2}$/

function bytesOf(given: unknown, name: string): string {
  if (typeof given !== 'string' || !base64Pattern.test(given))
    throw problem(`${name} must be base64`)
  return Buffer.from(given, 'base64').toString('base64')
}

/** Numbers that JSON cannot write (the JSON of Protobuf has these texts for them). */
const words: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])

const numberPattern = /^-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,4})?$/

function doubleOf(given: unknown, name: string): number {
  if (typeof given === 'number') return given
  const word = words.get(given)
  if (word !== undefined) return word
  if (typeof given === 'string' && numberPattern.test(given)) return Number(given)
  throw problem(`${name} must be a number`)
}

/** A number of 64 bits has 20 digits at most. */
const integerPattern = /^-?\d{1,20}$/

function integerIn(given: unknown, name: string): bigint {
  if (typeof given === 'number' && Number.isInteger(given)) return in64Bits(BigInt(given), name)
  if (typeof given === 'string' && integerPattern.test(given)) return in64Bits(BigInt(given), name)
  throw problem(`${name} must be an integer, or a text of its digits`)
}

function in64Bits(value: bigint, name: string): bigint {
  if (value >= -(2n ** 63n) && value < 2n ** 64n) return value
  throw problem(`${name} has more than 64 bits`)
}

function unsigned(value: bigint, name: string): bigint {
  if (value < 0n) throw problem(`${name} must not be negative`)
  return value
}

/** OTLP writes the number of an enum; some programs write its name, as the JSON of Protobuf does elsewhere. */
function enumOf(given: unknown, names: ReadonlyMap<number, string>, name: string): string {
  const text = typeof given === 'string' ? given.toLowerCase() : undefined
  const found = [...names].find(([number, known]) => number === given || isEndOf(text, known))
  if (found === undefined) throw problem(`${cutText(String(given), 100)} is not a value of ${name}`)
  return found[1]
}

function isEndOf(text: string | undefined, known: string): boolean {
  return text?.endsWith(`_${known}`) ?? false
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
