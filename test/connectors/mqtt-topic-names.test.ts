import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClosingError } from '../../connectors/mqtt-broker/guard/closing.ts'
import type { ReadTopic } from '../../connectors/mqtt-broker/guard/framing.ts'
import { assertTopicName, TopicNames } from '../../connectors/mqtt-broker/guard/text.ts'

/** Bytes that are mostly topics, and few enough to come again. */
const topicBytes = fc.oneof(
  fc.stringMatching(/^[ab/]{1,3}$/).map((text) => Buffer.from(text)),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).map((text) => Buffer.from(text)),
  // As UTF-8 and as single bytes these are different texts, and the first stands for whatever is none.
  fc
    .constantFrom('\uFFFD', 'é', 'Ã©', '+', 'a\0', 'a'.repeat(1_025))
    .map((text) => Buffer.from(text)),
  fc.constant(Buffer.from([0xff])),
  fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
)

function readWith(read: ReadTopic, topic: Buffer) {
  const packet = Buffer.concat([Buffer.from('before'), topic, Buffer.from('behind')])
  try {
    return read(packet, 6, 6 + topic.length).text
  } catch (error) {
    if (error instanceof ClosingError) return error.message
    throw error
  }
}

/** Without remembering anything. */
function readAnew(bytes: Buffer, start: number, end: number) {
  assertTopicName({ bytes, start, end })
  return { text: bytes.toString('utf8', start, end) }
}

test('topic names that have come by before are read, and refused, as those that have not', () => {
  fc.assert(
    fc.property(fc.array(topicBytes, { maxLength: 30 }), (topics) => {
      const { read } = new TopicNames()
      for (const topic of topics) expect(readWith(read, topic)).toBe(readWith(readAnew, topic))
    }),
  )
})

test('no more topic names are kept than there is room for', () => {
  const names = new TopicNames()
  for (let number = 0; number < 20_000; number++) {
    const topic = Buffer.from(`${number}/`.padEnd(1_000, 'x'))
    names.read(topic, 0, topic.length)
  }
  expect(names.size).toBeGreaterThan(1_000)
  expect(names.size * 1_000).toBeLessThanOrEqual(8 * 1024 * 1024)
})
