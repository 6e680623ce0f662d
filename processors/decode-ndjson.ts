import type { DecodedMessage, UndecodableMessage } from '../src/contracts/reading.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { type JsonReading, parseReading } from './decode-json.ts'
import { trimmed } from './json-elements.ts'

const lineFeed = 10

/** Takes newline-delimited JSON apart: one reading in each line that is not blank. */
export function decodeNdjson(
  payload: Uint8Array,
  _scan?: unknown,
  how?: JsonReading,
): DecodedMessage | UndecodableMessage {
  const lines = linesOf(payload)
  if (lines.length > readingsPerMessageMax) return { ok: false, problem: tooManyReadings }
  const unreadable = new Map<number, string>()
  const readings = lines.map((line, index) => {
    const parsed = parseReading(line, how)
    if (parsed.ok) return parsed.value
    unreadable.set(index, parsed.problem)
    return undefined
  })
  return batchOf({ readings, format: 'ndjson', unreadable, elements: linesOf })
}

/** Lines with content, without white space around it; at most one more than a message may carry. */
function linesOf(payload: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let start = 0; start < payload.length && lines.length <= readingsPerMessageMax; ) {
    const feed = payload.indexOf(lineFeed, start)
    const end = feed < 0 ? payload.length : feed
    const line = trimmed(payload, start, end)
    if (line.length > 0) lines.push(line)
    start = end + 1
  }
  return lines
}
