import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Cluster } from '../../connectors/kafka/cluster.ts'
import { GroupMembership } from '../../connectors/kafka/group-membership.ts'
import { GroupReading, newSharings } from '../../connectors/kafka/group-reading.ts'
import { loadLibrary } from '../../connectors/kafka/library.ts'
import { kafkaOptions } from '../../connectors/kafka/options.ts'
import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'

/** Requests of one try: what answers for ever is given up long before. */
const requestsMax = 200

const streamId = newId<StreamId>()

/** What a broker says of a group: a word of the protocol, or an answer. */
type GroupScript = Readonly<Record<string, string | object>>

/** A member of a group whose broker always says the same, and has nothing in the one partition that there is. */
async function memberOf(script: GroupScript, sharings = newSharings()) {
  const library = await loadLibrary()
  const topics = [{ name: 'a', id: 'a', leaders: [1] }]
  const assignment = library.encodeConsumerProtocolAssignment({
    version: 1,
    assignedPartitions: [{ topic: 'a', partitions: [0] }],
  })
  const peaceful: GroupScript = {
    JoinGroup: { memberId: 'm', generationId: 1, leader: 'another', members: [] },
    SyncGroup: { assignment },
    Heartbeat: {},
    OffsetFetch: { groups: [{ topics: [] }] },
    OffsetCommit: {},
    ListOffsets: { topics: [{ name: 'a', partitions: [{ partitionIndex: 0, offset: 5n }] }] },
  }
  let requests = 0
  const cluster = {
    library,
    close: async () => await nextTurn(undefined),
    topics: async () => await nextTurn(topics),
    coordinator: async () => await nextTurn(1),
    connection: async () =>
      await nextTurn({ call: async () => await new Promise(() => undefined) }),
    call: async (_: object, name: string) => {
      requests++
      const answer = Object.hasOwn(script, name) ? script[name] : peaceful[name]
      if (typeof answer === 'string') {
        await nextTurn(undefined)
        throw Object.assign(new Error(answer), { apiId: answer })
      }
      return await nextTurn(answer)
    },
  } as unknown as Cluster
  const source = { protocol: 'kafka', endpoint: 'kafka://127.0.0.1:1', topic: 'a', group: 'g' }
  const options = kafkaOptions({ streamId, source })
  const group = new GroupMembership({ ...options, cluster, heartbeatMs: 1 })
  const stop = new AbortController()
  let reached = 0
  const run = {
    accept: async () => await nextTurn([]),
    onRunning: () => reached++,
    signal: stop.signal,
  } as unknown as FetchRun
  const needs = { cluster, run, options, group, sharings, giveUp: () => undefined }
  const ended = new GroupReading(needs).run()
  return { ended, stop, requests: () => requests, reached: () => reached }
}

describe('a broker of Kafka that has a group', () => {
  test.each<[string, GroupScript, RegExp]>([
    ['shared out again at each heartbeat', { Heartbeat: 'REBALANCE_IN_PROGRESS' }, /REBALANCE_IN/],
    ['forget its generation at each heartbeat', { Heartbeat: 'ILLEGAL_GENERATION' }, /again and/],
    ['shared out whenever it is joined', { JoinGroup: 'REBALANCE_IN_PROGRESS' }, /REBALANCE_IN/],
    [
      'shared out whenever it is to be told',
      { SyncGroup: 'REBALANCE_IN_PROGRESS' },
      /REBALANCE_IN/,
    ],
    ['shared out whenever it is told how far', { OffsetCommit: 'REBALANCE_IN_PROGRESS' }, /REBAL/],
    ['loaded for ever', { JoinGroup: 'COORDINATOR_LOAD_IN_PROGRESS' }, /COORDINATOR_LOAD_IN/],
  ])('%s, is given up with the reason, and sooner the next time', async (_, script, reason) => {
    const sharings = newSharings()
    const first = await memberOf(script, sharings)
    await expect(first.ended).rejects.toThrow(reason)
    expect(first.requests()).toBeLessThan(requestsMax)
    const second = await memberOf(script, sharings)
    await expect(second.ended).rejects.toThrow(reason)
    expect(second.reached()).toBeLessThanOrEqual(1)
  })

  test('whose members come and go a few times, is read on', async () => {
    let rebalances = 0
    const script = {
      get Heartbeat() {
        return ++rebalances % 2 === 0 && rebalances < 30 ? 'REBALANCE_IN_PROGRESS' : {}
      },
    }
    const { ended, stop } = await memberOf(script)
    await expect.poll(() => rebalances).toBeGreaterThan(40)
    stop.abort()
    await ended
  })
})
