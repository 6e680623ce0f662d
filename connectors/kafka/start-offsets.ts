import type { Cluster, Partition, Topic } from './cluster.ts'
import type { KafkaOptions } from './options.ts'
import type { ReadPositions } from './read-positions.ts'

/** Times that stand for the ends of a log (ListOffsets of the protocol). */
export const logEnds = { latest: -1n, earliest: -2n } as const

export type LogEnd = keyof typeof logEnds

/**
 * Isolation level that reads only what is committed: a transaction under way ends what can be read.
 */
export const readCommitted = 1

interface StartNeeds {
  readonly cluster: Cluster
  readonly options: Pick<KafkaOptions, 'startFrom'>
  /** Offsets that the group has committed, by topic, one for each partition. */
  readonly committed: ReadonlyMap<string, readonly number[]>
  readonly positions: ReadPositions
}

/**
 * Where each partition is to be read from: whichever is further, what the journal has of it or what the group was
 * told. What is there of neither begins where the definition says, where the topic is new to the group; else at its
 * beginning, as the partition came later than the topic.
 */
export async function findStarts(
  { cluster, options, committed, positions }: StartNeeds,
  topics: readonly Topic[],
  partitions: readonly Partition[],
): Promise<ReadonlyMap<Partition, number>> {
  const starts = new Map<Partition, number>()
  const unknown = new Map<LogEnd, Partition[]>([
    ['earliest', []],
    ['latest', []],
  ])
  for (const partition of partitions) {
    const offsets = committed.get(partition.topic) ?? []
    const kept = positions.next(partition)
    const start = Math.max(kept ?? -1, offsets[partition.index] ?? -1)
    const isNewTopic = offsets.length === 0 && !positions.knows(partition.topic)
    if (start >= 0) starts.set(partition, start)
    else unknown.get(isNewTopic ? options.startFrom : 'earliest')?.push(partition)
  }
  for (const [end, list] of unknown) {
    for (const [partition, offset] of await offsetsAt(cluster, topics, { end, partitions: list })) {
      starts.set(partition, offset)
    }
  }
  return starts
}

/** Where logs begin, or where they end. */
export async function offsetsAt(
  cluster: Cluster,
  topics: readonly Topic[],
  { end, partitions }: { readonly end: LogEnd; readonly partitions: readonly Partition[] },
): Promise<ReadonlyMap<Partition, number>> {
  const found = new Map<Partition, number>()
  for (const [leader, list] of byLeader(topics, partitions)) {
    const connection = await cluster.connection(leader, 'fetch')
    const wanted = [...Map.groupBy(list, ({ topic }) => topic)].map(([name, some]) => ({
      name,
      partitions: some.map(({ index }) => ({
        partitionIndex: index,
        currentLeaderEpoch: -1,
        timestamp: logEnds[end],
      })),
    }))
    const answer = await cluster.call(connection, 'ListOffsets', -1, readCommitted, wanted)
    for (const { name, partitions: answered } of answer.topics) {
      for (const { partitionIndex, offset } of answered) {
        const partition = list.find((one) => one.topic === name && one.index === partitionIndex)
        if (partition) found.set(partition, Number(offset))
      }
    }
  }
  return found
}

/** Which broker has which of some partitions. */
export function byLeader(
  topics: readonly Topic[],
  partitions: readonly Partition[],
): ReadonlyMap<number, readonly Partition[]> {
  const leaders = new Map(topics.map(({ name, leaders: list }) => [name, list]))
  return Map.groupBy(partitions, ({ topic, index }) => leaders.get(topic)?.[index] ?? -1)
}
