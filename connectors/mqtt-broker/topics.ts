import { parseId, type StreamId, type UserId } from '../../src/core/ids.ts'
import type { MqttCaller } from './caller.ts'

/**
 * Names of topics. Clients of two users can use one topic, and must not meet there, so the broker
 * knows every topic by the user it belongs to: `users/{userId}/...` says so itself, and any other
 * has `own/{userId}/` in front. Clients never see that.
 */

/** The topics of a stream: readings go in and out, its events only out. */
export interface StreamTopic {
  readonly streamId: StreamId
  readonly part: 'data' | 'events'
}

export const streamLevel = 'streams'
const streamPrefix = `${streamLevel}/`
const streamIdEnd = streamPrefix.length + 36
const userPrefix = 'users/'
const ownPrefix = 'own/'
const ownTopicAt = ownPrefix.length + 37
const parts = { '/data': 'data', '/events': 'events' } as const

/** The stream that a topic means, or nothing. */
export function streamTopicOf(topic: string): StreamTopic | undefined {
  if (!topic.startsWith(streamPrefix)) return undefined
  const ending = topic.slice(streamIdEnd)
  if (ending !== '/data' && ending !== '/events') return undefined
  const streamId = parseId<StreamId>(topic.slice(streamPrefix.length, streamIdEnd))
  return streamId && { streamId, part: parts[ending] }
}

/** The topics that a stream has by itself. */
export function topicsOfStream(streamId: StreamId): readonly string[] {
  return Object.keys(parts).map((ending) => streamPrefix + streamId + ending)
}

/** The stream that readings on this topic are for, or nothing. */
export function readingsTopicOf(topic: string): StreamId | undefined {
  const found = streamTopicOf(topic)
  return found?.part === 'data' ? found.streamId : undefined
}

/** What the topics of a client's own begin with: all of its user's, or those of one device. */
export function spaceOf({ userId, device }: Pick<MqttCaller, 'userId' | 'device'>): string {
  const space = `${userPrefix}${userId}/`
  return device === undefined ? space : `${space}devices/${device.id}/`
}

/** Whether a topic, or all that a filter can match, is in a space: at least one level below it. */
export function isInSpace(topic: string, space: string): boolean {
  return topic.length > space.length && topic.startsWith(space)
}

/**
 * Whether a topic can be one that a user has given to a stream, or a filter match only such: it
 * begins with a level that has no meaning of its own here.
 */
export function mayBeOwnTopic(topic: string): boolean {
  const [first = ''] = topic.split('/', 1)
  return !ownLevels.has(first) && !first.startsWith('$')
}

const ownLevels = new Set(['streams', 'users', '+', '#'])

/** Whether a topic is in the space of some user, or could be taken for it. */
export function isOfSpaces(topic: string): boolean {
  return topic.startsWith(userPrefix)
}

/** The broker's name of the topic, or the filter, that a user's client has named. */
export function innerTopic(topic: string, userId: UserId): string {
  return isInSpace(topic, spaceOf({ userId })) ? topic : `${ownPrefix}${userId}/${topic}`
}

/** What the broker's names of a user's topics begin with, outside of the space for messages. */
export function ownTopicLevels(userId: UserId): readonly string[] {
  return [ownPrefix.slice(0, -1), userId]
}

/** The broker's name of the topic that a message to a stream goes out on. */
export function innerStreamTopic({ streamId, part }: StreamTopic, userId: UserId): string {
  return innerTopic(`${streamPrefix}${streamId}/${part}`, userId)
}

/** What clients call a topic of the broker's. */
export function outerTopic(inner: string): string {
  return inner.startsWith(ownPrefix) ? inner.slice(ownTopicAt) : inner
}

/** Whose messages go to a topic of the broker's, or to the topics of a filter. */
export function ownerOfTopic(inner: string): UserId | undefined {
  const start = inner.startsWith(ownPrefix) ? ownPrefix.length : userPrefix.length
  if (start !== ownPrefix.length && !inner.startsWith(userPrefix)) return undefined
  return inner[start + 36] === '/' ? parseId<UserId>(inner.slice(start, start + 36)) : undefined
}
