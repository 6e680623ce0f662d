import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import {
  type DroppedMessage,
  samplesMax,
  topicsOfUserMax,
  UnroutedMessages,
} from '../../src/ingest/unrouted/unrouted-messages.ts'

const ada = 'ada' as UserId
const bob = 'bob' as UserId

function unrouted() {
  let nowUs = 0
  return new UnroutedMessages(() => ++nowUs)
}

function message(topic: string, payload: string | Buffer = '21.5', userId = ada): DroppedMessage {
  const who = { clientId: 'plug', apiKeyId: 'sv_test_1', deviceId: undefined } as const
  return { userId, topic, payload: Buffer.from(payload as string), reason: 'no_stream', ...who }
}

const anyMessages = fc.array(
  fc.record({
    userId: fc.constantFrom(ada, bob),
    topic: fc.constantFrom('a', 'b', 'c/d', 'e'),
    payload: fc.uint8Array({ maxLength: 3_000 }),
  }),
  { minLength: 100, maxLength: 200 },
)

test('whatever comes, each user has exactly their own topics, with counts, times and the newest payloads', () => {
  fc.assert(
    fc.property(anyMessages, (sent) => {
      const kept = unrouted()
      for (const { userId, topic, payload } of sent) {
        kept.note(message(topic, Buffer.from(payload), userId))
      }

      for (const userId of [ada, bob]) {
        const own = sent.filter((one) => one.userId === userId)
        const topics = [...new Set(own.map(({ topic }) => topic).toReversed())]
        expect(kept.of(userId).map(({ topic }) => topic)).toEqual(topics)
        for (const topic of topics) {
          const ofTopic = own.filter((one) => one.topic === topic)
          const found = kept.find(userId, topic)
          expect(found?.count).toBe(ofTopic.length)
          expect(found?.samples.map(({ bytes }) => bytes)).toEqual(
            ofTopic.slice(-samplesMax).map(({ payload }) => payload.slice(0, 2_048)),
          )
          expect(found?.samples.map(({ length }) => length)).toEqual(
            ofTopic.slice(-samplesMax).map(({ payload }) => payload.length),
          )
        }
      }
      expect(kept.stats.dropped.no_stream).toBe(sent.length)
      kept.forget(ada)
      kept.forget(bob)
      expect(kept.stats).toMatchObject({ topics: 0, bytes: 0 })
    }),
    { numRuns: 50 },
  )
})

test('the newest 1,000 topics of a user are kept', () => {
  const kept = unrouted()
  for (let index = 0; index <= topicsOfUserMax; index++) kept.note(message(`topic/${index}`))

  kept.note(message('topic/1'))
  kept.note(message('another'))

  const topics = kept.of(ada).map(({ topic }) => topic)
  expect(topics).toHaveLength(topicsOfUserMax)
  expect(topics.slice(0, 2)).toEqual(['another', 'topic/1'])
  expect(topics).not.toContain('topic/2')
})

test('a user who sends much is kept less of, and nothing of others is forgotten for it', () => {
  const kept = unrouted()
  kept.note(message('quiet', '21.5', bob))
  const large = Buffer.alloc(4_096, 'x')
  for (let sent = 0; sent < 40_000; sent++) kept.note(message(`topic/${sent % 1_000}`, large))

  expect(kept.stats.bytes).toBeLessThanOrEqual(4 * 1024 * 1024 + 10_000)
  expect(kept.find(bob, 'quiet')?.count).toBe(1)
})

test('what all users have sent is bounded: who has been quiet for longest is forgotten first', () => {
  const kept = unrouted()
  const large = Buffer.alloc(2_048, 'x')
  kept.note(message('quiet', '21.5', bob))
  for (let user = 0; user < 12; user++) {
    for (let sent = 0; sent < 2_000; sent++) {
      kept.note(message(`topic/${sent % 200}`, large, `user-${user}` as UserId))
    }
  }

  expect(kept.stats.bytes).toBeLessThanOrEqual(32 * 1024 * 1024)
  expect(kept.of(bob)).toEqual([])
  expect(kept.of('user-11' as UserId).length).toBeGreaterThan(150)
})

test('a payload is a copy: what it came in can be used again', () => {
  const kept = unrouted()
  const block = Buffer.from('21.5')
  kept.note({ ...message('a'), payload: block.subarray(0, 4) })

  block.fill('x')

  expect(Buffer.from(kept.find(ada, 'a')?.samples[0]?.bytes ?? []).toString()).toBe('21.5')
})
