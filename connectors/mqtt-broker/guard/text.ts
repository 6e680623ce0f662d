import { isUtf8 } from 'node:buffer'
import { ClosingError, violation } from './closing.ts'

/** Bytes of a topic name or filter. The standard has 65,535, of which nobody makes use. */
const topicBytesMax = 1_024

/** Levels of a topic name or filter: each is a step of every search for subscribers. */
const topicLevelsMax = 32

/** Some bytes of a packet: [start, end). */
export interface Span {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

const slash = 0x2f
const plus = 0x2b
const hash = 0x23

/** @throws ClosingError unless it is well-formed UTF-8 ([MQTT-1.5.3-1]) without U+0000 (-2) */
export function assertText({ bytes, start, end }: Span, what: string): void {
  const view = bytes.subarray(start, end)
  if (!isUtf8(view)) throw violation(`the ${what} is not well-formed UTF-8 [MQTT-1.5.3-1]`)
  if (view.includes(0)) throw violation(`the ${what} has a U+0000 [MQTT-1.5.3-2]`)
}

/**
 * A name that messages are published to. Nearly all are plain ASCII, which one loop over the bytes
 * tells.
 *
 * @throws ClosingError when it is no topic name, or beyond our limits
 */
export function assertTopicName(span: Span, what = 'topic'): void {
  const { bytes, start, end } = span
  if (start === end) throw violation(`the ${what} is empty [MQTT-4.7.3-1]`)
  let levels = 1
  let isPlain = true
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === slash) levels++
    else if (byte === plus || byte === hash) {
      throw violation(`the ${what} has a wildcard [MQTT-3.3.2-2]`)
    } else if (byte === 0 || byte >= 0x80) isPlain = false
  }
  if (!isPlain) assertText(span, what)
  if (levels > topicLevelsMax || end - start > topicBytesMax) {
    const most = `${topicLevelsMax} levels and ${topicBytesMax} bytes`
    throw new ClosingError('limit', `the ${what} has more than ${most}`)
  }
}

/**
 * A filter that topics are chosen by.
 *
 * @returns false when it is beyond our limits
 * @throws ClosingError when it is no topic filter
 */
export function isTakenFilter(span: Span): boolean {
  const { bytes, start, end } = span
  if (start === end) throw violation('a topic filter is empty [MQTT-4.7.3-1]')
  assertText(span, 'topic filter')
  let levels = 1
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === slash) levels++
    if (byte !== plus && byte !== hash) continue
    const isLevel = (at === start || bytes[at - 1] === slash) && isLevelEnd(span, at + 1)
    if (byte === plus && !isLevel) throw violation('a + beside other characters [MQTT-4.7.1-3]')
    if (byte === hash && !(isLevel && at + 1 === end)) {
      throw violation('a # that is not the last level [MQTT-4.7.1-2]')
    }
  }
  return levels <= topicLevelsMax && end - start <= topicBytesMax
}

function isLevelEnd({ bytes, end }: Span, at: number): boolean {
  return at === end || bytes[at] === slash
}

/** Reads the topics of one client, which mostly repeats itself: one like the one before is known. */
export class TopicReader {
  #bytes = Buffer.alloc(0)
  #text = ''

  readonly read = (bytes: Buffer, start: number, end: number): string => {
    if (this.#bytes.compare(bytes, start, end) !== 0) {
      assertTopicName({ bytes, start, end })
      this.#bytes = Buffer.from(bytes.subarray(start, end))
      this.#text = this.#bytes.toString()
    }
    return this.#text
  }
}
