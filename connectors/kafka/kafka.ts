import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import { Cluster, type Partition } from './cluster.ts'
import { Delivery } from './delivery.ts'
import { fetchAll } from './fetch-loop.ts'
import { GroupMembership } from './group-membership.ts'
import { GroupReading, type GroupReadingNeeds, newSharings } from './group-reading.ts'
import { loadLibrary } from './library.ts'
import { type KafkaOptions, kafkaOptions, parseBrokers } from './options.ts'
import { ReadPositions } from './read-positions.ts'
import { kafkaSource } from './source.ts'
import { offsetsAt } from './start-offsets.ts'

/** Messages of a sample, in all partitions. */
const sampleMax = 20

/** Messages of topics of Kafka, as a member of a consumer group. */
export const kafka: FetchConnector = {
  takes: (source) => isOfKind(kafkaSource, source),
  destinationOf: ({ endpoint }) => parseBrokers(endpoint as string)[0],
  furtherDestinationsOf: ({ endpoint }) => parseBrokers(endpoint as string).slice(1),
  open: (definition) => new KafkaSource(kafkaOptions(definition)),
  // A member more would take partitions from one that is running.
  forTrial: (source) => ({ ...source, isTrial: true }),
}

class KafkaSource implements FetchedSource {
  /**
   * Identity without brokers and topics: a cluster has other ones some day, and each topic has an
   * id of its own.
   */
  readonly identity: string
  readonly #options: KafkaOptions
  readonly #sharings = newSharings()

  constructor(options: KafkaOptions) {
    this.identity = JSON.stringify(['kafka', options.group])
    this.#options = options
  }

  async run(run: FetchRun): Promise<void> {
    const cluster = await this.#cluster(run)
    const giveUp = () => void cluster.close()
    run.signal.addEventListener('abort', giveUp)
    try {
      if (this.#options.isTrial) await this.#try(cluster, run)
      else await this.#consume({ cluster, run, giveUp })
    } catch (error) {
      if (!run.signal.aborted) throw error
    } finally {
      run.signal.removeEventListener('abort', giveUp)
      await cluster.close()
    }
  }

  /** A group of our own is of no use to anybody else. */
  async release(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    const { isTrial, isOwnGroup, group, topics, instanceId } = this.#options
    if (isTrial || !isOwnGroup) return
    const cluster = await this.#cluster(run)
    const giveUp = () => void cluster.close()
    run.signal.addEventListener('abort', giveUp)
    try {
      await new GroupMembership({ cluster, group, topics, instanceId }).remove()
    } finally {
      run.signal.removeEventListener('abort', giveUp)
      await cluster.close()
    }
  }

  async #cluster({ dial }: Pick<FetchRun, 'dial'>): Promise<Cluster> {
    return new Cluster({ library: await loadLibrary(), options: this.#options, dial })
  }

  async #consume(
    reading: Omit<GroupReadingNeeds, 'options' | 'group' | 'sharings'>,
  ): Promise<void> {
    const { group: name, topics, instanceId } = this.#options
    const { cluster } = reading
    const group = new GroupMembership({ cluster, group: name, topics, instanceId })
    const needs = { ...reading, options: this.#options, group, sharings: this.#sharings }
    await new GroupReading(needs).run()
  }

  /** Newest messages, and those that come, without a group. */
  async #try(cluster: Cluster, run: FetchRun): Promise<void> {
    const topics = await cluster.topics(this.#options.topics)
    const partitions = topics.flatMap(({ name, leaders }): Partition[] =>
      [...leaders.keys()].map((index) => ({ topic: name, index })),
    )
    const first = await offsetsAt(cluster, topics, { end: 'earliest', partitions })
    const end = await offsetsAt(cluster, topics, { end: 'latest', partitions })
    const each = Math.ceil(sampleMax / partitions.length)
    const starts = new Map(
      [...end].map(([one, latest]) => [one, Math.max(first.get(one) ?? 0, latest - each)]),
    )
    run.onRunning()
    const options = this.#options
    const { signal } = run
    const positions = ReadPositions.read(undefined, [])
    const delivery = new Delivery({ run, group: undefined, positions })
    const fetching = fetchAll({ cluster, topics, delivery, options, signal }, starts)
    await race([fetching, delivery.failed])
  }
}
