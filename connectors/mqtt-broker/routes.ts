import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { TopicName } from './guard/text.ts'
import { mayBeOwnTopic, readingsTopicOf } from './topics.ts'

export interface RouteNeeds {
  readonly streams: {
    cached(id: StreamId): CompiledStream | undefined
    /** Where the stream of an id is as long as it is at hand, and nothing afterwards. */
    slot(id: StreamId): StreamSlot | undefined
    find(id: StreamId): Promise<CompiledStream | undefined>
  }
  readonly topics: {
    readonly generation: number
    cached(userId: UserId): UserTopics | undefined
    find(userId: UserId): Promise<UserTopics>
  }
}

interface StreamSlot {
  readonly stream: CompiledStream | undefined
}

/** The topics that a user has given to streams. */
export interface UserTopics {
  streamsOf(topic: string): readonly StreamId[]
  /** Whether all topics of a filter are among those of one stream, or of one of these. */
  cover(filter: string, among?: ReadonlySet<StreamId>): boolean
}

/** What messages on a topic are for. */
export interface Route {
  readonly topic: string
  /** Streams that their readings go to; undefined: the user's topics must be read first. */
  readonly streams: readonly StreamId[] | undefined
  /** The topic is the user's own, so that other clients of the user may have subscribed to it. */
  readonly isPrivate: boolean
  /** Generation of the user's topics, when the route depends on them. */
  readonly generation: number | undefined
}

/** The route of a topic that is one stream's alone. */
class StreamRoute implements Route {
  readonly topic: string
  readonly streams: readonly StreamId[]
  readonly isPrivate = false
  readonly generation = undefined
  /** Where the stream was when it was last looked up. */
  #slot: StreamSlot | undefined

  constructor(topic: string, streamId: StreamId) {
    this.topic = topic
    this.streams = [streamId]
  }

  streamAmong(streams: RouteNeeds['streams']): CompiledStream | undefined {
    const known = this.#slot?.stream
    if (known !== undefined) return known
    this.#slot = streams.slot(this.streams[0] as StreamId)
    return this.#slot?.stream
  }
}

/** Finds what messages are for, and remembers it. */
export class Routes {
  readonly #needs: RouteNeeds

  constructor(needs: RouteNeeds) {
    this.#needs = needs
  }

  /** True for a route that was found before and still holds. */
  isCurrent(route: Route | undefined, topic: TopicName): route is Route {
    if (route === undefined || route.topic !== topic.text || route.streams === undefined)
      return false
    return route.generation === undefined || route.generation === this.#needs.topics.generation
  }

  /** The route of a topic, as far as it is at hand. */
  route(name: TopicName, userId: UserId): Route {
    if (name.meaning instanceof StreamRoute) return name.meaning
    const topic = name.text
    const streamId = readingsTopicOf(topic)
    if (streamId !== undefined) {
      const route = new StreamRoute(topic, streamId)
      // It holds for whoever publishes there, and for ever.
      name.meaning = route
      return route
    }
    if (!mayBeOwnTopic(topic)) {
      return { topic, streams: [], isPrivate: false, generation: undefined }
    }
    const { topics } = this.#needs
    const { generation } = topics
    const streams = topics.cached(userId)?.streamsOf(topic)
    return { topic, streams, isPrivate: true, generation }
  }

  /** The stream of a topic that is one stream's alone, when it is at hand. */
  only(route: Route): CompiledStream | undefined {
    return route instanceof StreamRoute ? route.streamAmong(this.#needs.streams) : undefined
  }

  /** The streams that are at hand; undefined: something has to be loaded first. */
  cached({ streams }: Route): readonly CompiledStream[] | undefined {
    const found = streams?.map((id) => this.#needs.streams.cached(id))
    return found?.every((stream) => stream !== undefined) ? found : undefined
  }

  /** Loads what messages on a topic need, and hands it on in the turn in which all of it is current. */
  async load(
    topic: TopicName,
    userId: UserId,
    take: (streams: readonly CompiledStream[]) => void,
  ): Promise<void> {
    const { topics, streams } = this.#needs
    for (;;) {
      if (this.route(topic, userId).streams === undefined) await topics.find(userId)
      const route = this.route(topic, userId)
      const found = await Promise.all((route.streams ?? []).map((id) => streams.find(id)))
      const current = found.filter((stream) => stream !== undefined)
      const isCurrent = current.every(({ streamId }) => streams.cached(streamId) !== undefined)
      if (!isCurrent || route.streams === undefined) continue
      take(current.map((stream) => streams.cached(stream.streamId) ?? stream))
      return
    }
  }
}
