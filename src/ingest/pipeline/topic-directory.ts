import { FilterTree } from '../../core/filter-tree.ts'
import type { FleetId, StreamId, UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import { covers } from '../../core/topic-filter.ts'
import type { FleetEntry } from '../../streams/fleets/fleet-store.ts'
import { deviceIn, filterOf } from '../../streams/fleets/fleet-topic.ts'

/** Users whose topics are kept ready; another one costs one read of the state. */
const usersMax = 1_000

/** Streams that one message may be for: each is a further entry of the journal. */
const streamsPerMessageMax = 16

/** A filter of a user's topics, and the stream that messages on them are for. */
export interface StreamTopic {
  readonly streamId: StreamId
  readonly filter: string
}

type FleetTopic = FleetEntry & { readonly topic: string }

/** A device of a fleet, as a topic names it. */
export interface NamedDevice {
  readonly fleetId: FleetId
  readonly device: string
}

/** What messages on the topics of one user are for. */
export class UserTopics {
  readonly #topics: readonly StreamTopic[]
  readonly #streams = new FilterTree<StreamId>()
  readonly #fleets = new FilterTree<FleetTopic>()
  /** By their ids, and by their names in lower case. */
  readonly #fleetsByName = new Map<string, FleetEntry>()
  readonly #fleetTopics: readonly FleetTopic[]

  constructor(topics: readonly StreamTopic[], fleets: readonly FleetEntry[]) {
    this.#topics = topics
    for (const { filter, streamId } of topics) this.#streams.set(filter, streamId, 0)
    this.#fleetTopics = fleets.filter((fleet): fleet is FleetTopic => fleet.topic !== undefined)
    for (const fleet of this.#fleetTopics) this.#fleets.set(filterOf(fleet.topic), fleet, 0)
    for (const fleet of fleets) this.#fleetsByName.set(fleet.name.toLowerCase(), fleet)
    // An id goes before a name that is written like one.
    for (const fleet of fleets) this.#fleetsByName.set(fleet.fleetId, fleet)
  }

  /** A fleet by its id or its name, in any case. */
  fleet(idOrName: string): FleetEntry | undefined {
    return this.#fleetsByName.get(idOrName.toLowerCase())
  }

  /** Every stream whose filter matches the topic: of more than 16 those with the lowest ids. */
  streamsOf(topic: string): readonly StreamId[] {
    const found = [...this.#streams.match(topic).keys()]
    return found.length < 2 ? found : found.sort().slice(0, streamsPerMessageMax)
  }

  /** Every device that the topic names in a fleet: of more than 16 those of the fleets with the lowest ids. */
  devicesOf(topic: string): readonly NamedDevice[] {
    if (this.#fleetTopics.length === 0) return noDevices
    const named = [...this.#fleets.match(topic).keys()].flatMap((fleet) => {
      const device = deviceIn(topic, fleet.topic)
      return device === undefined ? [] : [{ fleetId: fleet.fleetId, device }]
    })
    if (named.length < 2) return named
    return named
      .sort((left, right) => (left.fleetId < right.fleetId ? -1 : 1))
      .slice(0, streamsPerMessageMax)
  }

  /**
   * Whether all topics of a filter are among those of one stream, or of one fleet. A device has only those of its own
   * streams.
   */
  cover(filter: string, among?: ReadonlySet<StreamId>): boolean {
    const isOfStream = this.#topics.some(
      (own) => (among?.has(own.streamId) ?? true) && covers(own.filter, filter),
    )
    if (isOfStream || among !== undefined) return isOfStream
    return this.#fleetTopics.some(({ topic }) => covers(filterOf(topic), filter))
  }
}

const noDevices: readonly NamedDevice[] = []

/** The topics that users have given to their streams and fleets, ready to be looked up. */
export class TopicDirectory {
  readonly #load: (userId: UserId) => Promise<UserTopics>
  readonly #users = new LruMap<UserId, UserTopics>(usersMax)
  /** Grows with each `forget`: what was found before it may be outdated. */
  #generation = 0

  constructor(load: (userId: UserId) => Promise<UserTopics>) {
    this.#load = load
  }

  /** What was found with an older one has to be looked up again. */
  get generation(): number {
    return this.#generation
  }

  /** The topics of a user if they are at hand. */
  cached(userId: UserId): UserTopics | undefined {
    return this.#users.get(userId)
  }

  async find(userId: UserId): Promise<UserTopics> {
    for (;;) {
      const known = this.#users.get(userId)
      if (known) return known
      const before = this.#generation
      const topics = await this.#load(userId)
      if (before !== this.#generation) continue
      this.#users.set(userId, topics)
      return topics
    }
  }

  /** To be called once a stream of this user was made, changed or deleted, before anybody is told so. */
  forget(userId: UserId): void {
    this.#generation++
    this.#users.delete(userId)
  }
}
