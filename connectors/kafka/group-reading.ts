import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import { EmptyAnswers } from '../empty-answers.ts'
import type { Cluster } from './cluster.ts'
import { Delivery } from './delivery.ts'
import { fetchAll } from './fetch-loop.ts'
import type { Assignment, GroupMembership } from './group-membership.ts'
import type { KafkaOptions } from './options.ts'
import { ReadPositions } from './read-positions.ts'
import { findStarts } from './start-offsets.ts'

/** Time for what is on its way when a run is told to end, and for the group to hear of it. */
const finishMs = 2_000

/** Time for the same when partitions are shared out anew: the others wait for it. */
const handBackMs = 50_000

/** Members come and go, all of them when a large application is started anew; not for ever in such a row. */
const sharingMs = 10_000

const neverAtRest =
  'the broker has the partitions of the group shared out again and again (REBALANCE_IN_PROGRESS)'

export interface GroupReadingNeeds {
  readonly cluster: Cluster
  readonly run: FetchRun
  /** Ends all that is under way. */
  readonly giveUp: () => void
  readonly options: KafkaOptions
  readonly group: GroupMembership
  /** Sharings of all runs: a run that begins anew does not begin this count anew. */
  readonly sharings: EmptyAnswers
}

/** How often partitions were shared out by now, of which only so many may come in a row. */
export function newSharings(): EmptyAnswers {
  return new EmptyAnswers(sharingMs)
}

/** Reads the share of one member of a group, again and again as partitions are shared out. */
export class GroupReading {
  readonly #needs: GroupReadingNeeds

  constructor(needs: GroupReadingNeeds) {
    this.#needs = needs
  }

  /** @throws Error when the members of the group, or its broker, cannot come to an end with sharing it out */
  async run(): Promise<void> {
    const { run, group, options, sharings } = this.#needs
    const positions = ReadPositions.read(run.position, options.topics)
    while (!run.signal.aborted) {
      const assignment = await group.join(positions)
      await this.#readShare({ positions, assignment })
      if (!run.signal.aborted) sharings.count(neverAtRest)
    }
  }

  /** Reads a share until partitions are shared out anew, or the run is to end. */
  async #readShare(share: Share): Promise<void> {
    const { cluster, run, giveUp, group, options } = this.#needs
    const { positions, assignment } = share
    const { topics } = assignment
    const starts = await this.#start(share)
    run.onRunning()
    run.signal.removeEventListener('abort', giveUp)
    const end = new AbortController()
    const signal = AbortSignal.any([run.signal, end.signal])
    const delivery = new Delivery({ run, group, positions })
    const fetching = fetchAll({ cluster, topics, delivery, options, signal }, starts)
    const staying = group.stay(topics, signal)
    let failure: unknown
    try {
      await race([staying, fetching, delivery.failed])
    } catch (error) {
      failure = error
    }
    end.abort()
    for (const one of [staying, fetching]) one.catch(() => undefined)
    try {
      await this.#finish(delivery, failure !== undefined)
    } catch (error) {
      failure ??= error
    }
    if (failure !== undefined) throw failure
  }

  /** Where each partition of the share begins: durable before anything is read, and known to the group. */
  async #start({ positions, assignment }: Share) {
    const { cluster, run, group, options } = this.#needs
    const { topics, partitions } = assignment
    for (const topic of topics) positions.see(topic)
    const committed = await group.committed(topics)
    const needs = { cluster, options, committed, positions }
    const starts = await findStarts(needs, topics, partitions)
    const uncommitted = new Map<string, Map<number, number>>()
    for (const [partition, start] of starts) {
      const { topic, index } = partition
      positions.set(partition, start)
      if (committed.get(topic)?.[index] === start) continue
      uncommitted.set(
        topic,
        (uncommitted.get(topic) ?? new Map<number, number>()).set(index, start),
      )
    }
    await run.accept([], positions.write())
    if (uncommitted.size > 0) await group.commit(uncommitted)
    return starts
  }

  /** What is on its way becomes durable and the group hears of it, before anybody else can get its partitions. */
  async #finish(delivery: Delivery, hasFailed: boolean): Promise<void> {
    const { cluster, run, giveUp, group } = this.#needs
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
}

interface Share {
  readonly positions: ReadPositions
  readonly assignment: Assignment
}
