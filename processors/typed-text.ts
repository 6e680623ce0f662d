import { isUtf8 } from 'node:buffer'
import type { UndecodableMessage } from '../src/contracts/reading.ts'
import type { FieldType } from '../src/contracts/stream-schema.ts'
import { isRoundedInteger } from '../src/core/json-safety.ts'
import { withoutSpaceAround } from '../src/core/white-space.ts'

/** Values of formats that have only texts: what a text means, the type of its field says. */

/** Longest text that is looked at as a number. A double has 767 digits at most. */
const numberLengthMax = 1_000

/** As JSON writes numbers (RFC 8259, section 6): no plus, no space, no NaN, no other base. */
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const integerPattern = /^-?\d+$/

const truthPattern = /^(true|on|1)$/i
const falsehoodPattern = /^(false|off|0)$/i

/** An integer that a double would round. */
export class RoundedInteger extends Error {
  override readonly name = 'RoundedInteger'
}

/**
 * The value that a text means in a field of a type. A text that means none is its own value: the
 * schema then refuses it, and says which field it is about.
 *
 * @throws RoundedInteger
 */
export function typedValue(text: string, type: FieldType): unknown {
  switch (type) {
    case 'number':
    case 'integer':
      return numberOf(text)
    case 'boolean':
      if (truthPattern.test(text)) return true
      return falsehoodPattern.test(text) ? false : text
    case 'string':
    case 'datetime':
    case 'object':
    case 'array':
      return text
    default:
      return type satisfies never
  }
}

function numberOf(text: string): number | string {
  if (text.length > numberLengthMax || !numberPattern.test(text)) return text
  if (integerPattern.test(text) && isRoundedInteger(text)) {
    throw new RoundedInteger(`the integer ${text.slice(0, 40)} is beyond 2^53 and would be rounded`)
  }
  return Number(text)
}

/** As people and firmware write numbers: a plus, zeros in front, no digit on one side of the mark. */
const looseNumberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const looseIntegerPattern = /^[+-]?\d+$/

/**
 * The number that a text means, whatever white space is around it; undefined where it means none, and where a double
 * would round it, or has no room for it.
 *
 * @param decimal what stands before the decimals: the other mark is in no number, because it may part thousands
 */
export function looseNumber(text: string, decimal: '.' | ','): number | undefined {
  if (text.length > numberLengthMax) return undefined
  const trimmed = withoutSpaceAround(text)
  if (decimal === ',' && trimmed.includes('.')) return undefined
  const written = decimal === ',' ? trimmed.replace(',', '.') : trimmed
  if (!looseNumberPattern.test(written)) return undefined
  if (looseIntegerPattern.test(written) && isRoundedInteger(plainInteger(written))) return undefined
  const value = Number(written)
  return Number.isFinite(value) ? value : undefined
}

/** What is wrong with a text that means an integer, if a double would round it. */
export function roundedProblem(text: string): string | undefined {
  if (text.length > numberLengthMax) return undefined
  const written = withoutSpaceAround(text)
  if (!looseIntegerPattern.test(written) || !isRoundedInteger(plainInteger(written)))
    return undefined
  return `the integer ${written.slice(0, 40)} is beyond 2^53 and would be rounded`
}

/** As JSON writes it. */
function plainInteger(written: string): string {
  return written.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1')
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'on', 'yes', '1'].map((text) => [text, true] as const),
  ...['false', 'off', 'no', '0'].map((text) => [text, false] as const),
])

/** What a text says of a boolean, in upper or lower case and whatever white space is around it, if it says anything. */
export function looseTruth(text: string): boolean | undefined {
  if (text.length > numberLengthMax) return undefined
  return truths.get(withoutSpaceAround(text).toLowerCase())
}

/**
 * The text of a payload, if nothing of it would be lost or misread (decisions.md#formats).
 *
 * @param takesMark whether U+FEFF at the beginning is part of a text: else it may be the mark of an encoding
 */
export function textOfPayload(
  payload: Uint8Array,
  takesMark = false,
): { readonly ok: true; readonly text: string } | UndecodableMessage {
  const { buffer, byteOffset, byteLength } = payload
  const text = Buffer.from(buffer, byteOffset, byteLength).toString()
  const mark = !takesMark && text.startsWith('\uFEFF') ? markProblem : undefined
  const problem = mark ?? textProblem(payload)
  return problem === undefined ? { ok: true, text } : { ok: false, problem }
}

/** The problem of a text as a whole, whatever else is wrong in it. */
export const markProblem = 'it begins with a byte order mark'

/** What keeps bytes from being a text, if anything does. */
export function textProblem(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return 'not valid UTF-8'
  return bytes.includes(0) ? 'U+0000 is not allowed in text' : undefined
}
