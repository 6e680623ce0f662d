import { expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

type Body = Readonly<Record<string, unknown>>

function push(streamId: string, key: string, body: unknown): Promise<Answer<Body>> {
  return service.api.withToken<Body>('POST', `/streams/${streamId}/data`, body, {
    'idempotency-key': key,
  })
}

const untimed = { temperature: 20 }

test('a reading without a timestamp is stored once, however often its key repeats it', async () => {
  const streamId = await service.api.createStream()

  const first = await push(streamId, 'a', untimed)
  const second = await push(streamId, 'a', untimed)

  expect(first.status).toBe(202)
  expect([second.status, second.body]).toEqual([first.status, first.body])
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  const counters = await service.api.settled(streamId, 2)
  expect(counters).toMatchObject({ received: 2, stored: 1, duplicates: 1 })
})

test('a batch without timestamps is stored once', async () => {
  const streamId = await service.api.createStream()
  const batch = [untimed, untimed, { temperature: 21 }]

  const first = await push(streamId, 'a', batch)
  const second = await push(streamId, 'a', batch)

  expect(second.body).toEqual(first.body)
  const counters = await service.api.settled(streamId, 6)
  expect(counters).toMatchObject({ received: 6, stored: 3, duplicates: 3 })
})

test('twenty parallel repeats are stored once', async () => {
  const streamId = await service.api.createStream()

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => push(streamId, 'parallel', untimed)),
  )

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  expect(new Set(answers.map(({ body }) => body['timestamp'])).size).toBe(1)
  const counters = await service.api.settled(streamId, 20)
  expect(counters).toMatchObject({ received: 20, stored: 1, duplicates: 19 })
})

test('parallel requests with different keys are all stored', async () => {
  const streamId = await service.api.createStream()

  await Promise.all(Array.from({ length: 20 }, (_, index) => push(streamId, `${index}`, untimed)))

  expect(await service.api.settled(streamId, 20)).toMatchObject({ stored: 20, duplicates: 0 })
})

test('another body under the same key is 422 idempotency_conflict, and not received', async () => {
  const streamId = await service.api.createStream()
  await push(streamId, 'a', untimed)

  const { status, body } = await push(streamId, 'a', { temperature: 21 })

  expect(status).toBe(422)
  expect(body).toMatchObject({ error: 'idempotency_conflict', statusCode: 422 })
  expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, stored: 1 })
})

test('of parallel requests with one key and two bodies, one body wins', async () => {
  const streamId = await service.api.createStream()

  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => push(streamId, 'a', { temperature: index % 2 })),
  )

  const accepted = answers.filter(({ status }) => status === 202)
  const refused = answers.filter(({ status }) => status === 422)
  expect([accepted.length, refused.length]).toEqual([5, 5])
  expect(await service.api.settled(streamId, 5)).toMatchObject({ received: 5, stored: 1 })
})

test('a key means nothing on another stream', async () => {
  const streamId = await service.api.createStream()
  const otherId = await service.api.createStream()

  await push(streamId, 'a', untimed)
  const { status } = await push(otherId, 'a', { temperature: 21 })

  expect(status).toBe(202)
  expect(await service.api.settled(otherId, 1)).toMatchObject({ stored: 1 })
})

test('a refused reading is answered the same again', async () => {
  const streamId = await service.api.createStream()

  const first = await push(streamId, 'a', { temperature: 'hot' })
  const second = await push(streamId, 'a', { temperature: 'hot' })

  expect(first.status).toBe(422)
  expect([second.status, second.body]).toEqual([first.status, first.body])
})

test.each([
  ['an empty key', ''],
  ['a key of 256 characters', 'x'.repeat(256)],
])('%s is 400', async (_, key) => {
  const streamId = await service.api.createStream()

  const { status, body } = await push(streamId, key, untimed)

  expect(status).toBe(400)
  expect(body).toMatchObject({ error: 'invalid_request' })
})

test('without a key, a repeated reading without a timestamp is a new one', async () => {
  const streamId = await service.api.createStream()

  await service.api.withToken('POST', `/streams/${streamId}/data`, untimed)
  await service.api.withToken('POST', `/streams/${streamId}/data`, untimed)

  expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, duplicates: 0 })
})
