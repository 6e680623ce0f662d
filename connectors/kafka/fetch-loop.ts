import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { aborted } from '../../src/core/aborted.ts'
import { EmptyAnswers } from '../empty-answers.ts'
import type { BrokerConnection } from './broker-connection.ts'
import type { Cluster, Partition, Topic } from './cluster.ts'
import type { Delivery } from './delivery.ts'
import { messagesOf } from './fetched-records.ts'
import type { Answer } from './library.ts'
import type { KafkaOptions } from './options.ts'
import { describeFailure, SourceGone } from './refusals.ts'
import { byLeader, offsetsAt, readCommitted } from './start-offsets.ts'

/** How long a broker may wait for messages. */
const waitMs = 500

/** Bytes of one answer, and of one partition in it: a batch that is larger comes alone. */
const answerBytes = 4 * 1024 * 1024
const partitionBytes = 1024 * 1024

/** An offset that the log of a partition does not have (errors of the protocol). */
const outOfRange = 1

interface FetchLoopNeeds {
  readonly cluster: Cluster
  readonly topics: readonly Topic[]
  readonly delivery: Delivery
  readonly options: Pick<KafkaOptions, 'hasEventTypes' | 'isMapped'>
  readonly signal: AbortSignal
}

type FetchAnswer = Answer<'Fetch'>

/** Fetches some partitions from whoever has them, until the signal is aborted. */
export async function fetchAll(
  needs: FetchLoopNeeds,
  starts: ReadonlyMap<Partition, number>,
): Promise<void> {
  const { topics, signal } = needs
  const loops = [...byLeader(topics, [...starts.keys()])].map(async ([leader, partitions]) => {
    const offsets = new Map(partitions.map((one) => [one, starts.get(one) ?? 0]))
    await new FetchLoop(needs, leader, offsets).run()
  })
  await Promise.all([...loops, aborted(signal)])
}

class FetchLoop {
  readonly #needs: FetchLoopNeeds
  readonly #leader: number
  /**
   * Offsets by partition, in the order in which they are asked for: those that had something come
   * last.
   */
  readonly #offsets: Map<Partition, number>
  readonly #empty = new EmptyAnswers(waitMs)

  constructor(needs: FetchLoopNeeds, leader: number, offsets: Map<Partition, number>) {
    this.#needs = needs
    this.#leader = leader
    this.#offsets = offsets
  }

  async run(): Promise<void> {
    const { cluster, signal } = this.#needs
    const connection = await cluster.connection(this.#leader, 'fetch')
    while (!signal.aborted) {
      const isNews = await this.#take(await this.#fetch(connection))
      if (isNews) this.#empty.reset()
      else this.#empty.count()
    }
  }

  async #fetch(connection: BrokerConnection): Promise<FetchAnswer> {
    const { topics, cluster } = this.#needs
    const wanted = topics.flatMap(({ name, id }) => {
      const partitions = [...this.#offsets].flatMap(([{ topic, index }, offset]) =>
        topic === name ? [fetchedPartition(index, offset)] : [],
      )
      return partitions.length === 0 ? [] : [{ topicId: id, partitions }]
    })
    try {
      // No session is used: each request names all partitions.
      return await connection.call(
        'Fetch',
        waitMs,
        1,
        answerBytes,
        readCommitted,
        0,
        -1,
        wanted,
        [],
        '',
      )
    } catch (error) {
      const { response } = error as { readonly response?: FetchAnswer }
      const codes = new Set(response && errorCodesIn(response))
      codes.delete(0)
      if (response && codes.size === 1 && codes.has(outOfRange)) return response
      throw describeFailure(cluster.library, error)
    }
  }

  /** @returns whether anything has come that was asked for */
  async #take(answer: FetchAnswer): Promise<boolean> {
    const { topics, delivery, options, signal } = this.#needs
    const { hasEventTypes, isMapped } = options
    let isNews = false
    for (const { topicId, partitions } of answer.responses) {
      const topic = topics.find(({ id }) => id === topicId)
      for (const fetched of partitions) {
        if (signal.aborted) return true
        const partition = this.#find(topic?.name, fetched.partitionIndex)
        if (!partition) continue
        if (fetched.errorCode === outOfRange) {
          if (await this.#findAgain(partition)) isNews = true
          continue
        }
        const from = this.#offsets.get(partition) ?? 0
        const read = messagesOf(fetched, { partition, from, hasEventTypes, isMapped })
        if (read.next === from) continue
        isNews = true
        await delivery.add(read, signal)
        this.#offsets.delete(partition)
        this.#offsets.set(partition, read.next)
      }
    }
    return isNews
  }

  #find(topic: string | undefined, wanted: number): Partition | undefined {
    for (const partition of this.#offsets.keys()) {
      if (partition.topic === topic && partition.index === wanted) return partition
    }
    return undefined
  }

  /**
   * What was deleted before it was read leaves a mark; what was read and is there no more is nobody's to decide here.
   *
   * @returns whether it goes on elsewhere
   */
  async #findAgain(partition: Partition): Promise<boolean> {
    const { cluster, topics, delivery, signal } = this.#needs
    const { topic, index } = partition
    const from = this.#offsets.get(partition) ?? 0
    const at = { partitions: [partition] }
    const earliest = (await offsetsAt(cluster, topics, { end: 'earliest', ...at })).get(partition)
    const latest = (await offsetsAt(cluster, topics, { end: 'latest', ...at })).get(partition)
    if (earliest === undefined || latest === undefined) throw new SourceGone(`${topic} is gone`)
    const place = `topic ${topic}, partition ${index}`
    if (from > latest) {
      throw new SourceRefused(
        `${place}: the log ends at ${latest}, and was read up to ${from} before: the brokers have lost messages, ` +
          'or the topic was made again. Another group reads it from its beginning',
      )
    }
    if (from >= earliest) return false
    const problem = `the messages from ${from} to ${earliest - 1} were deleted before they were read`
    const gap = { payload: new Uint8Array(), source: `${place}, offset ${from}`, problem }
    await delivery.add({ partition, messages: [gap], nexts: [earliest], next: earliest }, signal)
    this.#offsets.set(partition, earliest)
    return true
  }
}

function fetchedPartition(partition: number, offset: number) {
  return {
    partition,
    currentLeaderEpoch: -1,
    fetchOffset: BigInt(offset),
    lastFetchedEpoch: -1,
    partitionMaxBytes: partitionBytes,
  }
}

function errorCodesIn({ errorCode, responses }: FetchAnswer): readonly number[] {
  const inner = responses.flatMap(({ partitions }) => partitions.map((one) => one.errorCode))
  return [errorCode, ...inner]
}
