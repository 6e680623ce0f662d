import type {
  FetchConnector,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import { Cluster, type Partition } from './cluster.ts'
import { Delivery } from './delivery.ts'
import { fetchAll } from './fetch-loop.ts'
import { type Assignment, GroupMembership } from './group-membership.ts'
import { loadLibrary } from './library.ts'
import { type KafkaOptions, kafkaOptions, parseBrokers } from './options.ts'
import { ReadPositions } from './read-positions.ts'
import { findStarts, offsetsAt } from './start-offsets.ts'

/** Time for what is on its way when a run is told to end, and for the group to hear of it. */
const finishMs = 2_000

/** Time for the same when partitions are shared out anew: the others wait for it. */
const handBackMs = 50_000

/** Messages of a sample, in all partitions. */
const sampleMax = 20

/** Messages of topics of Kafka, as a member of a consumer group. */
export const kafka: FetchConnector = {
  takes: ({ protocol }) => protocol === 'kafka',
  destinationOf: ({ endpoint }) => parseBrokers(endpoint as string)[0],
  furtherDestinationsOf: ({ endpoint }) => parseBrokers(endpoint as string).slice(1),
  open: (definition) => new KafkaSource(kafkaOptions(definition)),
  // A member more would take partitions from one that is running.
  forTrial: (source) => ({ ...source, isTrial: true }),
}

class KafkaSource implements FetchedSource {
  /** Neither brokers nor topics: a cluster has other ones some day, and each topic has an id of its own. */
  readonly identity: string
  readonly #options: KafkaOptions

  constructor(options: KafkaOptions) {
    this.identity = JSON.stringify(['kafka', options.group])
    this.#options = options
  }

  async run(run: FetchRun): Promise<void> {
    const cluster = await this.#cluster(run)
    const giveUp = () => void cluster.close()
    run.signal.addEventListener('abort', giveUp)
    try {
      const reading = { cluster, run, giveUp }
      await (this.#options.isTrial ? this.#try(reading) : this.#consume(reading))
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

  async #consume(reading: Reading): Promise<void> {
    const { cluster, run } = reading
    const { group: name, topics, instanceId } = this.#options
    const group = new GroupMembership({ cluster, group: name, topics, instanceId })
    const positions = ReadPositions.read(run.position, topics)
    while (!run.signal.aborted) {
      const assignment = await group.join(positions)
      await this.#readShare(reading, { group, positions, assignment })
    }
  }

  /** Until partitions are shared out anew, or the run is to end. */
  async #readShare(reading: Reading, share: Share): Promise<void> {
    const { cluster, run, giveUp } = reading
    const { group, positions, assignment } = share
    const { topics } = assignment
    const starts = await this.#start(reading, share)
    run.onRunning()
    run.signal.removeEventListener('abort', giveUp)
    const end = new AbortController()
    const signal = AbortSignal.any([run.signal, end.signal])
    const delivery = new Delivery({ run, group, positions })
    const { hasEventTypes } = this.#options
    const fetching = fetchAll({ cluster, topics, delivery, hasEventTypes, signal }, starts)
    const staying = group.stay(topics, signal)
    let failure: unknown
    try {
      await Promise.race([staying, fetching, delivery.failed])
    } catch (error) {
      failure = error
    }
    end.abort()
    for (const one of [staying, fetching]) one.catch(() => undefined)
    try {
      await this.#finish(reading, { group, delivery, hasFailed: failure !== undefined })
    } catch (error) {
      failure ??= error
    }
    if (failure !== undefined) throw failure
  }

  /** Where each partition of the share begins: durable before anything is read, and known to the group. */
  async #start(reading: Reading, { group, positions, assignment }: Share) {
    const { cluster, run } = reading
    const { topics, partitions } = assignment
    for (const topic of topics) positions.see(topic)
    const committed = await group.committed(topics)
    const needs = { cluster, options: this.#options, committed, positions }
    const starts = await findStarts(needs, topics, partitions)
    const untold = new Map<string, Map<number, number>>()
    for (const [partition, start] of starts) {
      const { topic, index } = partition
      positions.set(partition, start)
      if (committed.get(topic)?.[index] === start) continue
      untold.set(topic, (untold.get(topic) ?? new Map<number, number>()).set(index, start))
    }
    await run.accept([], positions.write())
    if (untold.size > 0) await group.commit(untold)
    return starts
  }

  /** What is on its way becomes durable and the group hears of it, before anybody else can get its partitions. */
  async #finish(
    { cluster, run, giveUp }: Reading,
    {
      group,
      delivery,
      hasFailed,
    }: Pick<Share, 'group'> & {
      readonly delivery: Delivery
      readonly hasFailed: boolean
    },
  ): Promise<void> {
    const isEnd = run.signal.aborted
    const timer = setTimeout(giveUp, isEnd || hasFailed ? finishMs : handBackMs)
    if (!isEnd) run.signal.addEventListener('abort', giveUp)
    delivery.wake()
    try {
      await delivery.finish()
      // One that fails comes back soon, and finds its partitions where they were.
      if (isEnd) await group.leave()
    } finally {
      clearTimeout(timer)
      if (isEnd) await cluster.close()
    }
  }

  /** Newest messages, and those that come, without a group. */
  async #try({ cluster, run }: Reading): Promise<void> {
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
    const { hasEventTypes } = this.#options
    const { signal } = run
    const positions = ReadPositions.read(undefined, [])
    const delivery = new Delivery({ run, group: undefined, positions })
    const fetching = fetchAll({ cluster, topics, delivery, hasEventTypes, signal }, starts)
    await Promise.race([fetching, delivery.failed])
  }
}

interface Reading {
  readonly cluster: Cluster
  readonly run: FetchRun
  /** Ends all that is under way. */
  readonly giveUp: () => void
}

interface Share {
  readonly group: GroupMembership
  readonly positions: ReadPositions
  readonly assignment: Assignment
}
