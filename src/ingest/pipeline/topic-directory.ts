import { FilterTree } from '../../core/filter-tree.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import { covers } from '../../core/topic-filter.ts'

/** Users whose topics are kept ready; another one costs one read of the state. */
const usersMax = 1_000

/** Streams that one message may be for: each is a further entry of the journal. */
const streamsPerMessageMax = 16

/** A filter of a user's topics, and the stream that messages on them are for. */
export interface StreamTopic {
  readonly streamId: StreamId
  readonly filter: string
}

/** What messages on the topics of one user are for. */
export class UserTopics {
  readonly #topics: readonly StreamTopic[]
  readonly #streams = new FilterTree<StreamId>()

  constructor(topics: readonly StreamTopic[]) {
    this.#topics = topics
    for (const { filter, streamId } of topics) this.#streams.set(filter, streamId, 0)
  }

  /** Every stream whose filter matches the topic: of more than 16 those with the lowest ids. */
  streamsOf(topic: string): readonly StreamId[] {
    const found = [...this.#streams.match(topic).keys()]
    return found.length < 2 ? found : found.sort().slice(0, streamsPerMessageMax)
  }

  /** Whether all topics of a filter are among those of one stream, or of one of these. */
  cover(filter: string, among?: ReadonlySet<StreamId>): boolean {
    return this.#topics.some(
      (own) => (among?.has(own.streamId) ?? true) && covers(own.filter, filter),
    )
  }
}

/** The topics that users have given to their streams, ready to be looked up. */
export class TopicDirectory {
  readonly #load: (userId: UserId) => Promise<readonly StreamTopic[]>
  readonly #users = new LruMap<UserId, UserTopics>(usersMax)
  /** Grows with each `forget`: what was found before it may be outdated. */
  #generation = 0

  constructor(load: (userId: UserId) => Promise<readonly StreamTopic[]>) {
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
      const topics = new UserTopics(await this.#load(userId))
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
