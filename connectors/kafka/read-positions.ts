import type { SourcePosition } from '../../src/contracts/source-position.ts'
import type { Partition, Topic } from './cluster.ts'

/** How far a topic has been read: next offsets by the index of a partition. */
interface TopicPosition {
  /** A topic that was created anew is another one. */
  readonly id: string
  /** Partitions that the topic had when they were shared out. */
  readonly count: number
  readonly offsets: ReadonlyMap<number, number>
}

/** What a group knows a member by, until partitions are shared out anew. */
export interface GroupMember {
  readonly id: string
  readonly generation: number
}

interface MutablePosition extends TopicPosition {
  readonly offsets: Map<number, number>
}

/**
 * How far all partitions have been read that were ever ours: others may have gone further in those that are not, and
 * then what the group knows counts.
 */
export class ReadPositions {
  readonly #topics = new Map<string, MutablePosition>()
  /**
   * Member that has read: a service that was killed commits with it what it had not committed yet.
   */
  member: GroupMember | undefined

  /**
   * What stands in the journal: of our own making, and of this very source.
   *
   * @param names topics that are read now
   */
  static read(position: SourcePosition | undefined, names: readonly string[]): ReadPositions {
    const positions = new ReadPositions()
    positions.member = position?.['member'] as GroupMember | undefined
    const topics = (position?.['topics'] ?? {}) as Readonly<Record<string, KeptTopic>>
    for (const [name, { id, count, offsets }] of Object.entries(topics)) {
      if (!names.includes(name)) continue
      const entries = Object.entries(offsets).map(([index, offset]): [number, number] => [
        Number(index),
        offset,
      ])
      positions.#topics.set(name, {
        id,
        count,
        offsets: new Map(entries),
      })
    }
    return positions
  }

  /** Forgets what was read of a topic that is no more. */
  see({ name, id, leaders }: Topic): void {
    const known = this.#topics.get(name)
    const offsets = known?.id === id ? known.offsets : new Map<number, number>()
    this.#topics.set(name, { id, count: leaders.length, offsets })
  }

  /** Partitions that a topic had when it was last seen; undefined where it was another topic. */
  countOf({ name, id }: Pick<Topic, 'name' | 'id'>): number | undefined {
    const known = this.#topics.get(name)
    return known?.id === id ? known.count : undefined
  }

  /** Whether anything of a topic was read before. */
  knows(topic: string): boolean {
    return (this.#topics.get(topic)?.offsets.size ?? 0) > 0
  }

  next({ topic, index }: Partition): number | undefined {
    return this.#topics.get(topic)?.offsets.get(index)
  }

  set({ topic, index }: Partition, offset: number): void {
    this.#topics.get(topic)?.offsets.set(index, offset)
  }

  write(): SourcePosition {
    const topics: Record<string, KeptTopic> = {}
    for (const [name, { id, count, offsets }] of this.#topics) {
      topics[name] = { id, count, offsets: Object.fromEntries(offsets) }
    }
    return { topics, ...(this.member && { member: this.member }) }
  }
}

interface KeptTopic {
  readonly id: string
  readonly count: number
  readonly offsets: Readonly<Record<string, number>>
}
