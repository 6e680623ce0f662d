import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../src/core/clock.ts'
import type { BrokerConnection } from './broker-connection.ts'
import type { Cluster, Partition, Topic } from './cluster.ts'
import type { Answer, Arguments, CallName } from './library.ts'
import { assignRanges, type Member } from './range-assignment.ts'
import type { GroupMember, ReadPositions } from './read-positions.ts'
import { errorIdsOf } from './refusals.ts'

/** A member that is silent for so long has lost its partitions: time for a service to be started again. */
const sessionMs = 45_000

/** Time for all members to bring to an end what they are at, when partitions are shared out anew. */
const rebalanceMs = 60_000

const heartbeatMsDefault = 2_000

/** How often partitions are looked for that a topic did not have. */
const countMs = 30_000

/** Rounds in which the members of a group do not agree. */
const roundsMax = 20

/** How long to wait for what a broker is about to have. */
const comingMs = 200

/** The one way of sharing out that is spoken here: that of most clients. */
const protocol = 'range'

interface GroupMembershipNeeds {
  readonly cluster: Cluster
  readonly group: string
  readonly instanceId: string
  readonly topics: readonly string[]
  /** Milliseconds between two signs of life. */
  readonly heartbeatMs?: number
}

/** What a member has been given, until partitions are shared out anew. */
export interface Assignment {
  readonly partitions: readonly Partition[]
  readonly topics: readonly Topic[]
}

/** A member of a consumer group, as the classic protocol has it. What it has read by then it brings to an end first. */
export class GroupMembership {
  readonly #needs: GroupMembershipNeeds
  #connection: BrokerConnection | undefined
  #memberId = ''
  #generation = -1
  #isLeader = false
  /** The group does not take commits of our generation any more. */
  #isOutdated = false

  constructor(needs: GroupMembershipNeeds) {
    this.#needs = needs
  }

  /**
   * Waits until all members agree.
   *
   * @param before what was known when this member was last heard of; it is noted there as whom it reads now
   */
  async join(before: ReadPositions): Promise<Assignment> {
    const { cluster, group } = this.#needs
    let said: readonly string[] = []
    for (let round = 0; round < roundsMax; round++) {
      try {
        const topics = await cluster.topics(this.#needs.topics)
        const coordinator = await cluster.coordinator(group)
        this.#connection = await cluster.connection(coordinator, 'group', rebalanceMs + sessionMs)
        if (this.#generation < 0) await this.#commitPrevious(before, topics)
        const { partitions, isOld } = await this.#joinOnce(topics)
        before.member = { id: this.#memberId, generation: this.#generation }
        // Nobody looked for new partitions while we were away: the next round shares them out.
        const hasGrown = topics.some((topic) => before.countOf(topic) !== topic.leaders.length)
        if (!(isOld && hasGrown)) return { partitions, topics }
      } catch (error) {
        const ids = errorIdsOf(error)
        said = ids
        if (ids.includes('MEMBER_ID_REQUIRED')) this.#memberId = memberIdIn(error) ?? ''
        else if (ids.includes('UNKNOWN_MEMBER_ID')) this.#memberId = ''
        else if (ids.some((id) => isComing(id))) await sleep(comingMs)
        else if (!ids.some((id) => isStale(id))) throw error
      }
    }
    const why = said.length === 0 ? '' : `: the broker says ${[...new Set(said)].join(', ')}`
    throw new Error(`the members of the group do not agree on who reads what${why}`)
  }

  /** Next offsets, as the group has been told. */
  async committed(topics: readonly Topic[]): Promise<ReadonlyMap<string, readonly number[]>> {
    const { group } = this.#needs
    const wanted = topics.map(({ name, leaders }) => ({
      name,
      partitionIndexes: [...leaders.keys()],
    }))
    const asked = { groupId: group, memberId: null, memberEpoch: -1, topics: wanted }
    const answer = await this.#ask('OffsetFetch', [asked], false)
    // Before version 8 there is one group only, and no list of groups.
    const found = answer.groups?.[0] ?? (answer as unknown as (typeof answer.groups)[0])
    const offsets = new Map<string, number[]>()
    for (const { name, partitions } of found.topics) {
      const list: number[] = []
      for (const { partitionIndex, committedOffset } of partitions) {
        if (committedOffset >= 0n) list[partitionIndex] = Number(committedOffset)
      }
      offsets.set(name, list)
    }
    return offsets
  }

  /** @returns whether it counts: a member whose partitions are shared out anew may come too late */
  async commit(
    offsets: ReadonlyMap<string, ReadonlyMap<number, number>>,
    member: GroupMember = { id: this.#memberId, generation: this.#generation },
  ): Promise<boolean> {
    const { group } = this.#needs
    const topics = [...offsets].map(([name, partitions]) => ({
      name,
      partitions: [...partitions].map(([partitionIndex, offset]) => ({
        partitionIndex,
        committedOffset: BigInt(offset),
        committedLeaderEpoch: -1,
        committedMetadata: null,
      })),
    }))
    try {
      await this.#ask('OffsetCommit', group, member.generation, member.id, null, topics)
      return true
    } catch (error) {
      if (!errorIdsOf(error).some((id) => isStale(id))) throw error
      this.#isOutdated ||= member.generation === this.#generation
      return false
    }
  }

  /** Says that we are alive, until partitions are to be shared out anew, or the signal is aborted. */
  async stay(topics: readonly Topic[], signal: AbortSignal): Promise<void> {
    const { group, instanceId, heartbeatMs = heartbeatMsDefault } = this.#needs
    let countedAtMs = monotonicMs()
    for (;;) {
      await sleep(heartbeatMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      // It is told so with the next sign of life, and sooner or later with a commit.
      if (this.#isOutdated) return
      try {
        await this.#ask('Heartbeat', group, this.#generation, this.#memberId, instanceId)
      } catch (error) {
        const ids = errorIdsOf(error)
        if (ids.includes('UNKNOWN_MEMBER_ID')) this.#memberId = ''
        if (ids.some((id) => isStale(id))) return
        throw error
      }
      if (!this.#isLeader || monotonicMs() - countedAtMs < countMs) continue
      countedAtMs = monotonicMs()
      if (await this.#haveCountsChanged(topics)) return
    }
  }

  /** The others get our partitions at once. */
  async leave(): Promise<void> {
    if (this.#generation < 0) return
    const { group } = this.#needs
    await this.#ask('LeaveGroup', group, [{ memberId: this.#memberId, groupInstanceId: null }])
  }

  /** The group is no more. @throws Error while it has other members */
  async remove(): Promise<void> {
    const { cluster, group, instanceId } = this.#needs
    this.#connection = await cluster.connection(await cluster.coordinator(group), 'group')
    // A service that was killed leaves a member behind.
    const own = { memberId: '', groupInstanceId: instanceId }
    await this.#ask('LeaveGroup', group, [own]).catch(() => undefined)
    try {
      await this.#ask('DeleteGroups', [group])
    } catch (error) {
      if (!errorIdsOf(error).includes('GROUP_ID_NOT_FOUND')) throw error
    }
  }

  /**
   * Commits what was durable when we were killed, and not committed, before our partitions can go to
   * somebody else, who would read it again. It counts while the group still holds us for alive.
   */
  async #commitPrevious(before: ReadPositions, topics: readonly Topic[]): Promise<void> {
    if (before.member === undefined) return
    const committed = await this.committed(topics)
    const uncommitted = new Map<string, Map<number, number>>()
    for (const topic of topics) {
      if (before.countOf(topic) === undefined) continue
      for (const index of topic.leaders.keys()) {
        const next = before.next({ topic: topic.name, index }) ?? -1
        if (next <= (committed.get(topic.name)?.[index] ?? -1)) continue
        uncommitted.set(
          topic.name,
          (uncommitted.get(topic.name) ?? new Map<number, number>()).set(index, next),
        )
      }
    }
    if (uncommitted.size > 0) await this.commit(uncommitted, before.member)
  }

  async #haveCountsChanged(topics: readonly Topic[]): Promise<boolean> {
    const now = await this.#needs.cluster.topics(this.#needs.topics)
    return now.some(({ leaders }, place) => leaders.length !== topics[place]?.leaders.length)
  }

  /** @returns whether it is what this member had when it was last heard of, too */
  async #joinOnce(
    topics: readonly Topic[],
  ): Promise<{ readonly partitions: readonly Partition[]; readonly isOld: boolean }> {
    const { cluster, group, instanceId } = this.#needs
    const { library } = cluster
    const names = [...this.#needs.topics]
    const metadata = library.encodeConsumerProtocolSubscription({ version: 1, topics: names })
    const joined = await this.#ask(
      'JoinGroup',
      group,
      sessionMs,
      rebalanceMs,
      this.#memberId,
      instanceId,
      'consumer',
      [{ name: protocol, metadata }],
      null,
    )
    this.#memberId = joined.memberId
    this.#generation = joined.generationId
    this.#isOutdated = false
    this.#isLeader = joined.leader === joined.memberId
    const { skipAssignment: isOld } = joined
    const shares = this.#isLeader && !isOld ? await this.#shareOut(joined, topics) : []
    const synced = await this.#ask(
      'SyncGroup',
      group,
      this.#generation,
      this.#memberId,
      instanceId,
      'consumer',
      protocol,
      shares,
    )
    return { partitions: this.#partitionsIn(synced.assignment), isOld }
  }

  #partitionsIn(assignment: Buffer): readonly Partition[] {
    if (assignment.byteLength === 0) return []
    const { library } = this.#needs.cluster
    const { assignedPartitions } = library.decodeConsumerProtocolAssignment(assignment)
    return assignedPartitions.flatMap(({ topic, partitions }) =>
      partitions.map((index) => ({ topic, index })),
    )
  }

  /** The first member says who reads what, as the broker has it. */
  async #shareOut(joined: Answer<'JoinGroup'>, own: readonly Topic[]) {
    const { cluster } = this.#needs
    const { library } = cluster
    const members = joined.members.map(({ memberId, groupInstanceId, metadata }): Member => {
      const { topics } = library.decodeConsumerProtocolSubscription(metadata)
      return { memberId, instanceId: groupInstanceId ?? undefined, topics }
    })
    const counts = new Map(own.map(({ name, leaders }) => [name, leaders.length]))
    const others = new Set(members.flatMap(({ topics }) => topics))
    const further = [...others].filter((topic) => !counts.has(topic))
    for (const topic of further.length > 0 ? await cluster.topics(further) : []) {
      counts.set(topic.name, topic.leaders.length)
    }
    return [...assignRanges(members, counts)].map(([memberId, partitions]) => ({
      memberId,
      assignment: library.encodeConsumerProtocolAssignment({
        version: 1,
        assignedPartitions: [...Map.groupBy(partitions, ({ topic }) => topic)].map(
          ([topic, list]) => ({ topic, partitions: list.map(({ index }) => index) }),
        ),
      }),
    }))
  }

  async #ask<Name extends CallName>(name: Name, ...rest: Arguments<Name>): Promise<Answer<Name>> {
    const connection = this.#connection
    if (!connection) throw new Error('the group is not joined')
    return await this.#needs.cluster.call(connection, name, ...rest)
  }
}

/** Errors that joining again mends. */
function isStale(id: string): boolean {
  return ['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID'].includes(id)
}

/** Errors of a group or a topic that nobody has used yet. */
function isComing(id: string): boolean {
  const groupIds = ['COORDINATOR_NOT_AVAILABLE', 'COORDINATOR_LOAD_IN_PROGRESS', 'NOT_COORDINATOR']
  return groupIds.includes(id) || id === 'LEADER_NOT_AVAILABLE'
}

/** What a broker wants to call a member that has no name yet. */
function memberIdIn(error: unknown): string | undefined {
  const { response, cause } = error as {
    readonly response?: { readonly memberId?: string }
  } & Error
  return response?.memberId ?? (cause === undefined ? undefined : memberIdIn(cause))
}
