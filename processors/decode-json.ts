import { isUtf8 } from 'node:buffer'
import type { DecodedMessage, Decoder, Scan, UndecodableMessage } from '../src/contracts/reading.ts'
import { readNonFinite } from '../src/core/json-non-finite.ts'
import { contentOf, withIntegersAsTexts } from '../src/core/json-safety.ts'
import { rememberJson } from '../src/core/number-sources.ts'
import { parseJson as valueOfJson } from '../src/core/parse-json.ts'
import { batchOf, readingsPerMessageMax } from './decode-batch.ts'
import { jsonElements, onlyTextMember } from './json-elements.ts'

/**
 * Takes a JSON message apart: one object, or an array of readings. With the scan of its stream, plain
 * readings are not parsed into objects.
 *
 * What may not be stored, such as a key that comes twice, is refused with the element of an array that has
 * it: each element is held to what it would be held to as a message of its own.
 */
export function decodeJson(payload: Uint8Array, scan?: Scan): DecodedMessage | UndecodableMessage {
  return decodeText(payload, scan, strictly)
}

/** What the stream of a message makes of what JSON cannot write, and of what a double cannot hold. */
export interface JsonReading {
  /** An object may have NaN in it. Those of an array always may, and are judged alone. */
  readonly takesNonFinite: boolean
  /** An integer that a double would round is read as the text of its digits, and does not refuse what it stands in. */
  readonly integersAsTexts: boolean
}

const strictly: JsonReading = { takesNonFinite: false, integersAsTexts: false }

/** As `decodeJson`, for streams of which more is known. */
export function jsonDecoder(reading: JsonReading): Decoder {
  return (payload, scan) => decodeText(payload, scan, reading)
}

function decodeText(
  payload: Uint8Array,
  scan: Scan | undefined,
  how: JsonReading,
): DecodedMessage | UndecodableMessage {
  const { text, isUtf8: isText } = textOf(payload)
  const scanned = isText ? scan?.(text) : undefined
  if (scanned !== undefined) {
    const { readings, isBatch } = scanned
    const elements = isBatch && { elements: jsonElements }
    return { ok: true, readings, isBatch, format: 'json', ...elements }
  }
  const parsed = parseText(text, isText, how)
  const { value, problem } = parsed
  if (Array.isArray(value)) return decodeArray(payload, { readings: value, problem, how })
  if (parsed.wordProblem !== undefined && !how.takesNonFinite) {
    return { ok: false, problem: parsed.wordProblem }
  }
  if (problem !== undefined) return { ok: false, problem }
  if (value === null || typeof value !== 'object') {
    return { ok: false, problem: 'a message must be an object or an array of objects' }
  }
  return { ok: true, readings: [value], isBatch: false, format: 'json' }
}

interface ParsedArray {
  readonly readings: readonly unknown[]
  /** What is wrong with the array as a whole, if anything in it is wrong. */
  readonly problem: string | undefined
  readonly how: JsonReading
}

function decodeArray(
  payload: Uint8Array,
  { readings, problem, how }: ParsedArray,
): DecodedMessage | UndecodableMessage {
  const batch = { readings, format: 'json', elements: jsonElements } as const
  if (problem === undefined || readings.length > readingsPerMessageMax) return batchOf(batch)
  const unreadable = unsafeElements(payload, readings, how)
  const readable = readings.map((reading, index) => (unreadable.has(index) ? undefined : reading))
  return batchOf({ ...batch, readings: readable, unreadable })
}

/** Which elements of an array may not be stored, and why. */
function unsafeElements(
  payload: Uint8Array,
  values: readonly unknown[],
  { integersAsTexts }: JsonReading,
): ReadonlyMap<number, string> {
  const unsafe = new Map<number, string>()
  for (const [index, element] of jsonElements(payload).entries()) {
    const { text, isUtf8: isText } = textOf(element)
    const written = readNonFinite(text)?.text ?? text
    const problem = isText ? contentOf(written, values[index], integersAsTexts).problem : noUtf8
    if (problem !== undefined) unsafe.set(index, problem)
  }
  return unsafe
}

/** The text that a member of an object is, even if the object may not be stored. */
export function textMemberOfJson(object: Uint8Array, name: string): string | undefined {
  const { text } = textOf(object)
  const read = readNonFinite(text)
  if (read !== undefined) return onlyTextMember(Buffer.from(read.text), name)
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  return onlyTextMember(object, name)
}

interface ParsedJson {
  readonly ok: true
  readonly value: unknown
}

/**
 * The value of a JSON text, if nothing of it would be lost or changed by reading it
 * (decisions.md#readings-that-are-refused).
 */
export function parseJson(payload: Uint8Array): ParsedJson | UndecodableMessage {
  const { text, isUtf8: isText } = textOf(payload)
  const { value, problem, wordProblem } = parseText(text, isText, strictly)
  const found = wordProblem ?? problem
  return found === undefined ? { ok: true, value } : { ok: false, problem: found }
}

/** As `parseJson`, of one reading among others: NaN and the like in it are for its judge. */
export function parseReading(
  payload: Uint8Array,
  how: JsonReading = strictly,
): ParsedJson | UndecodableMessage {
  const { text, isUtf8: isText } = textOf(payload)
  const { value, problem } = parseText(text, isText, how)
  return problem === undefined ? { ok: true, value } : { ok: false, problem }
}

const noUtf8 = 'not valid UTF-8'

interface ParsedText {
  /** What the text says, also where it may not be stored; nothing where it is no JSON. */
  readonly value?: unknown
  readonly problem: string | undefined
  /** Why it is no JSON, where it is but for words such as NaN, and was read in spite of them. */
  readonly wordProblem?: string | undefined
}

/** @param isText whether the text is all that its bytes say, and nothing in it stands for what is no text */
function parseText(text: string, isText: boolean, how: JsonReading): ParsedText {
  let value: unknown
  try {
    value = valueOfJson(text)
  } catch (error) {
    const problem = isText ? `not valid JSON: ${(error as Error).message}` : noUtf8
    const read = readNonFinite(text)
    return read === undefined
      ? { problem }
      : {
          ...(isText ? checked(read.text, read.value, how) : notText(read.value)),
          wordProblem: problem,
        }
  }
  return isText ? checked(text, value, how) : notText(value)
}

function notText(value: unknown): ParsedText {
  return { value, problem: noUtf8 }
}

function checked(text: string, parsed: unknown, { integersAsTexts }: JsonReading): ParsedText {
  const { problem, hasLongNumber } = contentOf(text, parsed, integersAsTexts)
  const value = (integersAsTexts && hasLongNumber ? withIntegersAsTexts(text) : undefined) ?? parsed
  if (hasLongNumber) rememberJson(text, value)
  return { value, problem }
}

/** The text of bytes. Where they are no UTF-8, U+FFFD stands for those that are none. */
function textOf(payload: Uint8Array): { readonly text: string; readonly isUtf8: boolean } {
  const bytes = bufferOf(payload)
  const text = bytes.toString()
  return { text, isUtf8: !text.includes('\uFFFD') || isUtf8(bytes) }
}

function bufferOf(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
