import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { CompiledStream } from '../../src/pipeline/reading.ts'
import { mayBeOwnTopic, readingsTopicOf } from './topics.ts'

export interface RouteNeeds {
  readonly streams: {
    cached(id: StreamId): CompiledStream | undefined
    find(id: StreamId): Promise<CompiledStream | undefined>
  }
  readonly topics: {
    readonly generation: number
    cached(userId: UserId): UserTopics | undefined
    find(userId: UserId): Promise<UserTopics>
  }
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
  /** Of the user's topics, when it depends on them. */
  readonly generation: number | undefined
}

/** Finds what messages are for, and remembers it for the next one of the same session. */
export class Routes {
  readonly #needs: RouteNeeds

  constructor(needs: RouteNeeds) {
    this.#needs = needs
  }

  /** True for a route that was found before and still holds. */
  isCurrent(route: Route | undefined, topic: string): route is Route {
    if (route === undefined || route.topic !== topic || route.streams === undefined) return false
    return route.generation === undefined || route.generation === this.#needs.topics.generation
  }

  /** The route of a topic, as far as it is at hand. */
  route(topic: string, userId: UserId): Route {
    const streamId = readingsTopicOf(topic)
    if (streamId !== undefined || !mayBeOwnTopic(topic)) {
      const streams = streamId === undefined ? [] : [streamId]
      return { topic, streams, isPrivate: false, generation: undefined }
    }
    const { topics } = this.#needs
    const { generation } = topics
    const streams = topics.cached(userId)?.streamsOf(topic)
    return { topic, streams, isPrivate: true, generation }
  }

  /** The stream of a topic that is one stream's alone, when it is at hand. */
  only({ streams, isPrivate }: Route): CompiledStream | undefined {
    if (isPrivate || streams?.length !== 1) return undefined
    return this.#needs.streams.cached(streams[0] as StreamId)
  }

  /** The streams that are at hand; undefined: something has to be loaded first. */
  cached({ streams }: Route): readonly CompiledStream[] | undefined {
    const found = streams?.map((id) => this.#needs.streams.cached(id))
    return found?.every((stream) => stream !== undefined) ? found : undefined
  }

  /** Loads what messages on a topic need, and hands it on in the turn in which all of it is current. */
  async load(
    topic: string,
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
