import { parseId, type StreamId, type UserId } from '../src/core/ids.ts'
import type { MqttCaller } from './mqtt-caller.ts'

/** The topics of a stream: readings go in and out, its events only out. */
export interface StreamTopic {
  readonly streamId: StreamId
  readonly part: 'data' | 'events'
}

const prefix = 'streams/'
const idEnd = prefix.length + 36
const parts = { '/data': 'data', '/events': 'events' } as const

/** The stream that a topic means, or nothing. */
export function streamTopicOf(topic: string): StreamTopic | undefined {
  const ending = topic.slice(idEnd)
  if (!topic.startsWith(prefix) || (ending !== '/data' && ending !== '/events')) return undefined
  const streamId = parseId<StreamId>(topic.slice(prefix.length, idEnd))
  return streamId && { streamId, part: parts[ending] }
}

/** The stream that readings on this topic are for, or nothing. */
export function readingsTopicOf(topic: string): StreamId | undefined {
  const found = streamTopicOf(topic)
  return found?.part === 'data' ? found.streamId : undefined
}

/** What the topics of a client's own begin with: all of its user's, or those of one device. */
export function spaceOf({ userId, device }: Pick<MqttCaller, 'userId' | 'device'>): string {
  return device === undefined ? `users/${userId}/` : `users/${userId}/devices/${device.id}/`
}

/** Whether a topic, or all that a filter can match, is in a space: at least one level below it. */
export function isInSpace(topic: string, space: string): boolean {
  return topic.length > space.length && topic.startsWith(space)
}

const spacePrefix = 'users/'
const spaceIdEnd = spacePrefix.length + 36

/** Whose space a topic, or all that a filter can match, is in. */
export function spaceOwnerOf(topic: string): UserId | undefined {
  if (!topic.startsWith(spacePrefix) || topic[spaceIdEnd] !== '/') return undefined
  const userId = parseId<UserId>(topic.slice(spacePrefix.length, spaceIdEnd))
  return userId !== undefined && isInSpace(topic, spaceOf({ userId })) ? userId : undefined
}
