import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { FleetId, StreamId, UserId } from '../../src/core/ids.ts'
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
  /** Where messages of the devices of fleets go. */
  readonly devices: {
    cached(fleetId: FleetId, device: string): DeviceRoute | undefined
    find(fleetId: FleetId, device: string, mayMake: boolean): Promise<DeviceRoute>
    /** To be called for each message that is not taken although the route of its device was at hand. */
    refused(problem: string): void
  }
}

/** The stream of a device, or why its messages are not taken. */
interface DeviceRoute {
  readonly streamId?: StreamId
  readonly problem?: string
}

/** Why a fleet does not take the messages of a device that it could take. */
export type DeviceRefusal = 'device_denied' | 'fleet_full'

/** Who publishes on a topic. */
export interface TopicUser {
  readonly userId: UserId
  /** Whether a new device of a fleet gets its stream by what this client publishes. */
  readonly mayMakeStreams: boolean
}

interface StreamSlot {
  readonly stream: CompiledStream | undefined
}

/** The topics that a user has given to streams. */
export interface UserTopics {
  streamsOf(topic: string): readonly StreamId[]
  devicesOf(topic: string): readonly { readonly fleetId: FleetId; readonly device: string }[]
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
  /** Why a fleet does not take them, where that is at hand. */
  readonly refusal?: DeviceRefusal | undefined
}

/** Where messages of a topic go, and why a fleet does not take them. */
type Found = Pick<Route, 'refusal'> & { readonly streams: readonly StreamId[] }

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

/** The route of a topic that a user has given to streams, as long as the user's topics are what they were. */
class OwnRoute implements Route {
  readonly topic: string
  readonly userId: UserId
  readonly streams: readonly StreamId[]
  readonly isPrivate = true
  readonly generation: number
  readonly refusal: DeviceRefusal | undefined
  /** Where its only stream was when it was last looked up. */
  #slot: StreamSlot | undefined
  #cached: readonly CompiledStream[] = []

  constructor(
    { topic, userId, generation }: Pick<OwnRoute, 'topic' | 'userId' | 'generation'>,
    { streams, refusal }: Found,
  ) {
    this.topic = topic
    this.userId = userId
    this.generation = generation
    this.streams = streams
    this.refusal = refusal
  }

  /** Undefined where it has not one stream, or that is not at hand. */
  streamAmong(streams: RouteNeeds['streams']): CompiledStream | undefined {
    const known = this.#slot?.stream
    if (known !== undefined) return known
    const [only] = this.streams
    if (only === undefined || this.streams.length > 1) return undefined
    this.#slot = streams.slot(only)
    return this.#slot?.stream
  }

  /** The only stream as a list, which is made anew only when it is another one. */
  listed(stream: CompiledStream): readonly CompiledStream[] {
    if (this.#cached[0] !== stream) this.#cached = [stream]
    return this.#cached
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
    const known = name.meaning
    if (known instanceof StreamRoute) return known
    const { generation } = this.#needs.topics
    if (known instanceof OwnRoute && known.generation === generation && known.userId === userId)
      return known
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
    const found = this.#found(topic, userId)
    if (found === undefined) return { topic, streams: undefined, isPrivate: true, generation }
    // Noted with the name: of thousands of topics a client publishes to each in turn.
    const route = new OwnRoute({ topic, userId, generation }, found)
    name.meaning = route
    return route
  }

  /** Undefined: something has to be read first, or a stream to be made. */
  #found(topic: string, userId: UserId): Found | undefined {
    const topics = this.#needs.topics.cached(userId)
    if (topics === undefined) return undefined
    const streams = topics.streamsOf(topic)
    const named = topics.devicesOf(topic)
    if (named.length === 0) return { streams }
    const found = named.map(({ fleetId, device }) => this.#needs.devices.cached(fleetId, device))
    return found.every((route) => route !== undefined) ? withDevices(streams, found) : undefined
  }

  /** Begins to find, or to make, what a message needs that has to wait for another one of its client. */
  prepare(topic: TopicName, { userId, mayMakeStreams }: TopicUser): void {
    if (!mayMakeStreams || !mayBeOwnTopic(topic.text)) return
    const { topics, devices } = this.#needs
    for (const { fleetId, device } of topics.cached(userId)?.devicesOf(topic.text) ?? []) {
      // What fails now is met again when it is the turn of the message.
      devices.find(fleetId, device, true).catch(() => undefined)
    }
  }

  /** The only stream of a topic, when it is at hand. */
  only(route: Route): CompiledStream | undefined {
    const hasSlot = route instanceof StreamRoute || route instanceof OwnRoute
    return hasSlot ? route.streamAmong(this.#needs.streams) : undefined
  }

  /** The streams that are at hand; undefined: something has to be loaded first. */
  cached(route: Route): readonly CompiledStream[] | undefined {
    const only = route instanceof OwnRoute ? route.streamAmong(this.#needs.streams) : undefined
    if (only !== undefined) return (route as OwnRoute).listed(only)
    const { streams } = route
    const found = streams?.map((id) => this.#needs.streams.cached(id))
    return found?.every((stream) => stream !== undefined) ? found : undefined
  }

  /** Counts a message that is not taken by a route that was at hand. */
  refused(refusal: DeviceRefusal): void {
    this.#needs.devices.refused(refusal === 'fleet_full' ? 'full' : 'denied')
  }

  /** Loads what messages on a topic need, and hands it on in the turn in which all of it is current. */
  async load(
    topic: TopicName,
    user: TopicUser,
    take: (streams: readonly CompiledStream[], refusal: DeviceRefusal | undefined) => void,
  ): Promise<void> {
    const { topics, streams } = this.#needs
    for (;;) {
      const { streams: ids, refusal } = await this.#load(topic, user)
      const { generation } = topics
      const found = await Promise.all(ids.map((id) => streams.find(id)))
      const current = found.filter((stream) => stream !== undefined)
      const isCurrent = current.every(({ streamId }) => streams.cached(streamId) !== undefined)
      if (!isCurrent || generation !== topics.generation) continue
      const ready = current.map((stream) => streams.cached(stream.streamId) ?? stream)
      take(ready, refusal)
      return
    }
  }

  async #load(name: TopicName, { userId, mayMakeStreams }: TopicUser): Promise<Found> {
    const { streams: known } = this.route(name, userId)
    if (known !== undefined) return { streams: known }
    const topics = await this.#needs.topics.find(userId)
    const topic = name.text
    const named = topics.devicesOf(topic)
    const routes = await Promise.all(
      named.map(({ fleetId, device }) => this.#needs.devices.find(fleetId, device, mayMakeStreams)),
    )
    return withDevices(topics.streamsOf(topic), routes)
  }
}

/** A stream that is found in both ways is meant once. */
function withDevices(streams: readonly StreamId[], routes: readonly DeviceRoute[]): Found {
  const problems = routes.map(({ problem }) => problem)
  const refusal = refusals.find(([problem]) => problems.includes(problem))?.[1]
  const all = new Set([...streams, ...routes.flatMap(({ streamId }) => streamId ?? [])])
  return { streams: [...all], refusal }
}

const refusals: readonly (readonly [string, DeviceRefusal])[] = [
  ['denied', 'device_denied'],
  ['full', 'fleet_full'],
]
