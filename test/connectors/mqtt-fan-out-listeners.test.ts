import { expect, test } from 'vitest'
import { Audience } from '../../connectors/mqtt-broker/audience.ts'
import { Distribution } from '../../connectors/mqtt-broker/distribution.ts'
import { FanOut } from '../../connectors/mqtt-broker/fan-out.ts'
import { innerStreamTopic } from '../../connectors/mqtt-broker/topics.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import type { RawMessage } from '../../src/pipeline/connector.ts'
import { Listeners } from '../../src/pipeline/listeners.ts'
import { SessionBroker } from '../support/session-broker.ts'
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
