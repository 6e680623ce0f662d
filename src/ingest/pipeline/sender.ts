import { hash } from 'node:crypto'
import { parseSparkplugTopic } from '../../../processors/sparkplug-topic.ts'
import type { RawMessage } from '../../contracts/connector.ts'

/**
 * What tells the senders of a stream apart, where its filter lets messages of more than one topic in: 64 bits, in hex,
 * of the SHA-256 of the topic; of Sparkplug, whose births and data have topics of their own, of group, edge node and
 * device. Nothing for a stream of one topic, and for what came in another way: over HTTP, on the topic that the stream
 * has of its own, out of a file.
 */
export function senderOf({
  stream,
  topic,
  isOnlyTopic,
}: Pick<RawMessage, 'stream' | 'topic' | 'isOnlyTopic'>): string | undefined {
  if (stream.distinguishesSenders !== true || topic === undefined || isOnlyTopic) return undefined
  if (topic === `streams/${stream.streamId}/data`) return undefined
  const name = stream.format === 'sparkplug' ? sparkplugName(topic) : topic
  return hash('sha256', name, 'hex').slice(0, 16)
}

/**
 * Stands for the sender of a reading that comes with the digest of another entry, out of a file that an export has
 * written: whoever sent it then, it is the same reading.
 */
export function senderOfDigest(digest: string): string {
  return `:${digest}`
}

/**
 * Stands for the sender of a row of a file whose digest is none. What it was known by can nobody say, so it is not
 * judged by its content alone either, whenever that may be.
 */
export const senderOfNoDigest = ':'

/** The problem of such a row. */
export const digestProblem = ':digest must be 16 digits in hex'

function sparkplugName(topic: string): string {
  const { group, node, device } = parseSparkplugTopic(topic) ?? {}
  if (group === undefined || node === undefined) return topic
  return device === undefined ? `${group}/${node}` : `${group}/${node}/${device}`
}
