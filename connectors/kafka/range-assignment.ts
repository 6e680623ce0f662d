import type { Partition } from './cluster.ts'

export interface Member {
  readonly memberId: string
  /** What outlasts its connections, where it has one. */
  readonly instanceId: string | undefined
  readonly topics: readonly string[]
}

/**
 * Assigns partitions to members: of each topic, each member that wants it gets as many neighbouring
 * ones as the others. The answer depends on members and partitions alone, whoever computes it, as
 * with the RangeAssignor of Kafka.
 *
 * @param counts partitions by topic
 */
export function assignRanges(
  members: readonly Member[],
  counts: ReadonlyMap<string, number>,
): ReadonlyMap<string, readonly Partition[]> {
  const assigned = new Map<string, Partition[]>(members.map(({ memberId }) => [memberId, []]))
  for (const [topic, count] of counts) {
    const takers = members.filter(({ topics }) => topics.includes(topic)).toSorted(byInstance)
    let next = 0
    for (const [place, { memberId }] of takers.entries()) {
      const share = Math.floor(count / takers.length) + (place < count % takers.length ? 1 : 0)
      for (const end = next + share; next < end; next++) {
        assigned.get(memberId)?.push({ topic, index: next })
      }
    }
  }
  return assigned
}

/** Puts members with a name of their own first. */
function byInstance(one: Member, other: Member): number {
  const isNamed = Number(other.instanceId !== undefined) - Number(one.instanceId !== undefined)
  if (isNamed !== 0) return isNamed
  const [first, second] = [one.instanceId ?? one.memberId, other.instanceId ?? other.memberId]
  return first < second ? -1 : Number(first > second)
}
