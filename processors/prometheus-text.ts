import { isUtf8 } from 'node:buffer'
import { readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { LineProblem, sampleOf } from './prometheus-line.ts'
import type { Records, RefusedRecord, SampleRecord } from './records.ts'

const lineFeed = 10
const carriageReturn = 13
const hash = 35
const space = 32
const tab = 9

/** The last line of OpenMetrics. In the format 0.0.4 it is a comment. */
const endMark = '# EOF'

/**
 * The samples of a text in the exposition format 0.0.4 or 1.0.0 of Prometheus, or in OpenMetrics 1.0; or what is wrong
 * with all of it. A line that cannot be read is refused alone.
 */
export function prometheusTextRecords(payload: Uint8Array): Records | string {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const isText = isUtf8(bytes)
  const end = endOfOpenMetrics(bytes)
  const isOpen = end !== undefined
  const records: (SampleRecord | RefusedRecord)[] = []
  let number = 0
  for (let start = 0; start < (end ?? bytes.length); ) {
    const feed = bytes.indexOf(lineFeed, start)
    const next = feed < 0 ? bytes.length : feed
    let lineEnd = next
    while (lineEnd > start && bytes[lineEnd - 1] === carriageReturn) lineEnd--
    number++
    if (hasSample(bytes, start, lineEnd)) {
      if (records.length === readingsPerMessageMax) return tooManyReadings
      const line = bytes.subarray(start, lineEnd)
      records.push(recordOf(line, { isText, isOpen, number }))
    }
    start = next + 1
  }
  return records
}

interface Place {
  readonly isText: boolean
  readonly isOpen: boolean
  readonly number: number
}

function recordOf(line: Buffer, { isText, isOpen, number }: Place): SampleRecord | RefusedRecord {
  const text = line.toString()
  try {
    if (!isText && !isUtf8(line)) throw new LineProblem('it is not valid UTF-8')
    if (text.includes('\0')) throw new LineProblem('U+0000 is not allowed in text')
    return sampleOf(text, isOpen)
  } catch (error) {
    if (!(error instanceof LineProblem)) throw error
    // Its times are seconds only where the mark of OpenMetrics follows.
    const kept = isOpen ? Buffer.concat([line, Buffer.from(`\n${endMark}\n`)]) : line
    return { problem: `line ${number}: ${error.message}`, kept }
  }
}

/** Where the last line of a text in OpenMetrics begins; undefined: it is in another format. */
function endOfOpenMetrics(bytes: Buffer): number | undefined {
  let end = bytes.length
  while (end > 0 && isBlank(bytes[end - 1])) end--
  const start = end - endMark.length
  const isMark = start >= 0 && bytes.toString('latin1', start, end) === endMark
  return isMark && (start === 0 || bytes[start - 1] === lineFeed) ? start : undefined
}

function isBlank(byte: number | undefined): boolean {
  return byte === lineFeed || byte === carriageReturn || byte === space || byte === tab
}

/** Whether a line has more than blanks, or a comment: what a comment says of a metric is not part of a reading. */
function hasSample(bytes: Buffer, start: number, end: number): boolean {
  let at = start
  while (at < end && (bytes[at] === space || bytes[at] === tab)) at++
  return at < end && bytes[at] !== hash
}
