import { isUtf8 } from 'node:buffer'
import { LruMap } from '../../../src/core/lru-map.ts'
import { ClosingError, violation } from './closing.ts'

/** Bytes of a topic name or filter. The standard has 65,535, of which nobody makes use. */
const topicBytesMax = 1_024

/** Levels of a topic name or filter: each is a step of every search for subscribers. */
const topicLevelsMax = 32

/** Topic names that are remembered, and their characters together. */
const namesMax = 100_000
const charactersMax = 8 * 1024 * 1024

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

/** The name of a topic that messages come on. */
export interface TopicName {
  readonly text: string
  /** What it stands for, noted by whoever found that out: the next message need not look it up. */
  meaning?: unknown
}

/**
 * Topic names that have come by, of all clients: one that is known is not checked again, and what was noted of
 * it is at hand.
 */
export class TopicNames {
  readonly #known = new LruMap<string, TopicName>(namesMax, {
    of: ({ text }) => text.length,
    max: charactersMax,
  })

  get size(): number {
    return this.#known.size
  }

  /** Forgets a topic that nothing will come on any more. */
  forget(text: string): void {
    this.#known.delete(Buffer.from(text).toString('latin1'))
  }

  /** @throws ClosingError when it is no topic name, or beyond our limits */
  readonly read = (bytes: Buffer, start: number, end: number): TopicName => {
    // Each byte as one character: for plain ASCII, which nearly all topics are, that is the text itself.
    const asLatin1 = bytes.toString('latin1', start, end)
    const known = this.#known.get(asLatin1)
    if (known !== undefined) return known
    assertTopicName({ bytes, start, end })
    const text = bytes.toString('utf8', start, end)
    // One text where both are the same: of thousands of topics, each lies somewhere else in memory.
    const name = { text: text === asLatin1 ? asLatin1 : text, meaning: undefined }
    this.#known.set(asLatin1, name)
    return name
  }
}
