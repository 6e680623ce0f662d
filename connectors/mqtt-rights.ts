import type { StreamId } from '../src/core/ids.ts'
import type { CompiledStream } from '../src/pipeline/reading.ts'
import type { Session } from './mqtt-sessions.ts'
import { isInSpace, readingsTopicOf, streamTopicOf } from './mqtt-topics.ts'

export type FindStream = (id: StreamId) => Promise<CompiledStream | undefined>

/** What clients may publish and subscribe to (D26). */
export class Rights {
  readonly #findStream: FindStream

  constructor(findStream: FindStream) {
    this.#findStream = findStream
  }

  /** Whether a client may publish on a topic: readings of its user's streams, and its user's space. */
  async mayPublishTo(session: Session, topic: string): Promise<boolean> {
    if (mayPublishInSpace(session, topic)) return true
    const streamId = readingsTopicOf(topic)
    if (streamId === undefined || !session.mayPublish) return false
    const stream = await this.#findStream(streamId)
    return stream !== undefined && isStreamOf(session, stream) && !stream.isInternal
  }

  /**
   * Whether a client may have what matches a filter: all in its user's space, and the data and the
   * events of single streams of its user. Any other filter could match what is of others.
   */
  async maySubscribeTo(session: Session, filter: string): Promise<boolean> {
    if (!session.maySubscribe || session.hasEnded) return false
    if (isInSpace(filter, session.space)) return true
    const topic = streamTopicOf(filter)
    const stream = topic && (await this.#findStream(topic.streamId))
    return stream !== undefined && isStreamOf(session, stream)
  }
}

/** Whether a stream is the client's: one of its user, and of the device's own where it is a device. */
export function isStreamOf(
  { userId, device }: Session,
  { ownerId, streamId }: CompiledStream,
): boolean {
  return ownerId === userId && (device === undefined || device.streamIds.has(streamId))
}

/** Whether a client may publish on this topic as one of its own space. */
export function mayPublishInSpace(session: Session, topic: string): boolean {
  return session.mayPublish && !session.hasEnded && isInSpace(topic, session.space)
}
