import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { StreamId } from '../../src/core/ids.ts'
import type { RouteNeeds, UserTopics } from './routes.ts'
import type { Session } from './sessions.ts'
import { isInSpace, mayBeOwnTopic, readingsTopicOf, streamTopicOf } from './topics.ts'

/** What clients may publish and subscribe to (decisions.md#topics-and-filters). */
export class Rights {
  readonly #needs: RouteNeeds

  constructor(needs: RouteNeeds) {
    this.#needs = needs
  }

  /**
   * Whether a client may publish on a topic: readings of its user's streams, and its user's space. What is neither may
   * be published by one that ignores such topics, and is dropped.
   */
  async mayPublishTo(session: Session, topic: string): Promise<boolean> {
    const { mayPublish, ignoresForeignTopics } = session
    if (!mayPublish && !ignoresForeignTopics) return false
    return (await this.#isOwnTopic(session, topic)) ? mayPublish : ignoresForeignTopics
  }

  async #isOwnTopic(session: Session, topic: string): Promise<boolean> {
    if (isInSpace(topic, session.space)) return true
    const { streams, topics } = this.#needs
    const { userId } = session
    const streamId = readingsTopicOf(topic)
    if (streamId === undefined && !mayBeOwnTopic(topic)) return false
    const own = streamId === undefined ? await topics.find(userId) : undefined
    if (mayMakeStreams(session) && own && own.devicesOf(topic).length > 0) return true
    const ids = own ? await this.#streamsOf(own, topic) : [streamId as StreamId]
    const found = await Promise.all(ids.map((id) => streams.find(id)))
    return found.some((stream) => stream && isStreamOf(session, stream) && !stream.isInternal)
  }

  async #streamsOf(topics: UserTopics, topic: string): Promise<readonly StreamId[]> {
    const named = topics.devicesOf(topic)
    const routes = await Promise.all(
      named.map(({ fleetId, device }) => this.#needs.devices.find(fleetId, device, false)),
    )
    return [...topics.streamsOf(topic), ...routes.flatMap(({ streamId }) => streamId ?? [])]
  }

  /**
   * Whether a client may have what matches a filter: all in its user's space, the data and the events
   * of single streams of its user, and what is among the topics that the user has given to a stream.
   * Any other filter could match what is of others, or what is nobody's.
   */
  async maySubscribeTo(session: Session, filter: string): Promise<boolean> {
    if (!session.maySubscribe || session.hasEnded) return false
    return await this.#isOwnFilter(session, filter)
  }

  /** Whether a filter of a client is taken although nothing will ever come by it. */
  async ignoresFilter(session: Session, filter: string): Promise<boolean> {
    if (!session.ignoresForeignTopics || session.hasEnded) return false
    return !(await this.#isOwnFilter(session, filter))
  }

  async #isOwnFilter(session: Session, filter: string): Promise<boolean> {
    const { userId } = session
    if (isInSpace(filter, session.space)) return true
    const { streams, topics } = this.#needs
    const topic = streamTopicOf(filter)
    if (topic) {
      const stream = await streams.find(topic.streamId)
      return stream !== undefined && isStreamOf(session, stream)
    }
    const among = session.device?.streamIds
    return mayBeOwnTopic(filter) && (await topics.find(userId)).cover(filter, among)
  }

  /** Whether what was kept for a client of a user may be sent to it now, as far as is at hand. */
  mayReceive(session: Session, topic: string): boolean {
    if (!session.maySubscribe || session.hasEnded) return false
    const stream = streamTopicOf(topic)
    const found = stream && this.#needs.streams.cached(stream.streamId)
    if (found !== undefined) return isStreamOf(session, found)
    // What waited for a device may be of a stream that is its own no more.
    const { device, userId } = session
    if (device === undefined || isInSpace(topic, session.space)) return true
    if (stream) return device.streamIds.has(stream.streamId)
    return this.#needs.topics.cached(userId)?.cover(topic, device.streamIds) ?? true
  }
}

/** Whether a client may publish on this topic as one of its own space. */
export function mayPublishInSpace(session: Session, topic: string): boolean {
  return session.mayPublish && !session.hasEnded && isInSpace(topic, session.space)
}

/** Whether a new device of a fleet gets its stream by what a client publishes: a device speaks for itself only. */
export function mayMakeStreams({ mayPublish, hasEnded, device }: Session): boolean {
  return mayPublish && !hasEnded && device === undefined
}

/** Whether a stream is the client's: one of its user, and of the device's own where it is a device. */
function isStreamOf({ userId, device }: Session, { ownerId, streamId }: CompiledStream): boolean {
  return ownerId === userId && (device === undefined || device.streamIds.has(streamId))
}

/** Whether a stream takes readings of this client now. */
export function isTakenBy(session: Session, stream: CompiledStream): boolean {
  if (!session.mayPublish || session.hasEnded) return false
  return isStreamOf(session, stream) && !stream.isInternal
}
