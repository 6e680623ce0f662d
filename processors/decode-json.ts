import { isUtf8 } from 'node:buffer'
import { unsafeContent } from '../src/core/json-safety.ts'
import type { DecodedMessage, Scan, UndecodableMessage } from '../src/pipeline/reading.ts'
import { batchOf } from './decode-batch.ts'

/**
 * Takes a JSON message apart: one object, or an array of readings. With the scan of its stream, plain
 * readings are not parsed into objects.
 */
export function decodeJson(payload: Uint8Array, scan?: Scan): DecodedMessage | UndecodableMessage {
  const text = textOf(payload)
  const scanned = text === undefined ? undefined : scan?.(text)
  if (scanned !== undefined) {
    const { readings, isBatch } = scanned
    return { ok: true, readings, isBatch, format: 'json', ...(isBatch && { elements }) }
  }
  const parsed = valueOf(text)
  if (!parsed.ok) return parsed
  const { value } = parsed
  if (Array.isArray(value)) return batchOf({ readings: value, format: 'json', elements })
  if (value === null || typeof value !== 'object') {
    return { ok: false, problem: 'a message must be an object or an array of objects' }
  }
  return { ok: true, readings: [value], isBatch: false, format: 'json' }
}

interface ParsedJson {
  readonly ok: true
  readonly value: unknown
}

/** The value of a JSON text, if nothing of it would be lost or changed by reading it (D62). */
export function parseJson(payload: Uint8Array): ParsedJson | UndecodableMessage {
  return valueOf(textOf(payload))
}

function valueOf(text: string | undefined): ParsedJson | UndecodableMessage {
  if (text === undefined) return { ok: false, problem: 'not valid UTF-8' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, problem: `not valid JSON: ${(error as Error).message}` }
  }
  const problem = unsafeContent(text, value)
  return problem === undefined ? { ok: true, value } : { ok: false, problem }
}

/** The text of bytes, if they are UTF-8. What is not leaves U+FFFD behind, and is looked at again. */
function textOf(payload: Uint8Array): string | undefined {
  const bytes = bufferOf(payload)
  const text = bytes.toString()
  return text.includes('\uFFFD') && !isUtf8(bytes) ? undefined : text
}

function bufferOf(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function elements(payload: Uint8Array): Uint8Array[] {
  return arrayElementTexts(bufferOf(payload).toString()).map((text) => Buffer.from(text))
}

/** The original text of each element of a JSON array that was already parsed without error. */
export function arrayElementTexts(text: string): string[] {
  const texts: string[] = []
  let depth = 0
  let inString = false
  let start = text.indexOf('[') + 1
  for (let index = start - 1; index < text.length; index++) {
    const character = text[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    const ends = (depth === 1 && character === ',') || (depth === 0 && character === ']')
    if (!inString && ends) {
      texts.push(text.slice(start, index).trim())
      start = index + 1
      if (depth === 0) break
    }
  }
  return texts
}
