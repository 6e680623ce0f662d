import type { Client } from 'aedes'
import { expect, test } from 'vitest'
import { Audience } from '../../connectors/mqtt-broker/audience.ts'
import { Distribution } from '../../connectors/mqtt-broker/distribution.ts'
import { FanOut } from '../../connectors/mqtt-broker/fan-out.ts'
import { innerStreamTopic, innerTopic } from '../../connectors/mqtt-broker/topics.ts'
import type { RawMessage } from '../../src/contracts/connector.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { Listeners } from '../../src/ingest/pipeline/listeners.ts'
import { ownerId, SessionBroker } from '../support/session-broker.ts'
import { SessionSubscriber } from '../support/session-subscriber.ts'

test('a stream that everybody has left is followed no more', async () => {
  await using broker = await SessionBroker.start()
  const listeners = new Listeners()
  const failures: unknown[] = []
  const fanOut = new FanOut({
    distribution: new Distribution(new Audience(), broker.sessions),
    listeners,
    onFailure: (error) => failures.push(error),
  })
  const [left, awaited] = [newId<StreamId>(), newId<StreamId>()]
  const userId = newId<UserId>()
  const topicOf = (streamId: StreamId) => innerStreamTopic({ streamId, part: 'data' }, userId)
  const isWanted = (streamId: StreamId) => listeners.want({ stream: { streamId } } as RawMessage)
  await new SessionSubscriber('away').subscribe(broker.port, topicOf(awaited), 1)

  for (const streamId of [awaited, left]) {
    fanOut.listen(topicOf(streamId))
    expect(isWanted(streamId)).toBe(true)
    const payload = Buffer.from('1')
    fanOut.add({ topic: topicOf(streamId), payload, qos: 1, isRetained: false })
  }

  await expect.poll(() => isWanted(left)).toBe(false)
  expect(isWanted(awaited)).toBe(true)
  expect(broker.sessions.stats().queued).toBe(1)
  expect(failures).toEqual([])
})

test('topics of a user are passed on as long as somebody has subscribed to one of them', async () => {
  await using broker = await SessionBroker.start()
  const audience = new Audience()
  const distribution = new Distribution(audience, broker.sessions)
  const userId = ownerId
  const client = {} as Client
  const ofStream = innerStreamTopic({ streamId: newId<StreamId>(), part: 'data' }, userId)

  audience.add(client, ofStream, 1)
  expect(distribution.isHeardBy(userId)).toBe(false)
  audience.add(client, innerTopic('plants/+', userId), 0)
  expect(distribution.isHeardBy(userId)).toBe(true)
  audience.leave(client)
  expect(distribution.isHeardBy(userId)).toBe(false)

  await new SessionSubscriber('away').subscribe(broker.port, innerTopic('plants/+', userId), 1)
  expect(distribution.isHeardBy(userId)).toBe(true)
  await broker.sessions.end({ userId, clientId: 'away' })
  expect(distribution.isHeardBy(userId)).toBe(false)
})
