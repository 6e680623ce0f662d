import { isUtf8 } from 'node:buffer'
import { unsafeContent } from '../src/core/json-safety.ts'
import type { DecodedMessage } from '../src/pipeline/reading.ts'

/** A message that cannot be taken apart into readings. */
export interface UndecodableMessage {
  readonly ok: false
  readonly problem: string
}

/** Most readings that one message may carry. */
export const readingsPerMessageMax = 10_000

/** Takes a JSON message apart: one object, or an array of readings. */
export function decodeJson(payload: Uint8Array): DecodedMessage | UndecodableMessage {
  const text = textOf(payload)
  if (text === undefined) return { ok: false, problem: 'not valid UTF-8' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, problem: `not valid JSON: ${(error as Error).message}` }
  }
  const problem = unsafeContent(text, value)
  if (problem !== undefined) return { ok: false, problem }
  if (!Array.isArray(value)) {
    if (value === null || typeof value !== 'object') {
      return { ok: false, problem: 'a message must be an object or an array of objects' }
    }
    return { ok: true, readings: [value], isBatch: false }
  }
  if (value.length === 0) return { ok: false, problem: 'the batch is empty' }
  if (value.length > readingsPerMessageMax) {
    return { ok: false, problem: `more than ${readingsPerMessageMax} readings in one message` }
  }
  return { ok: true, readings: value, isBatch: true }
}

/** The text of bytes, if they are UTF-8. What is not leaves U+FFFD behind, and is looked at again. */
function textOf(payload: Uint8Array): string | undefined {
  const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
  const text = bytes.toString()
  return text.includes('\uFFFD') && !isUtf8(bytes) ? undefined : text
}

/**
 * The original text of each element of a JSON array that was already parsed without error.
 *
 * Quarantine keeps what was sent, byte for byte, and not what we would print of it.
 */
export function arrayElementTexts(text: string): string[] {
  const elements: string[] = []
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
      elements.push(text.slice(start, index).trim())
      start = index + 1
      if (depth === 0) break
    }
  }
  return elements
}
