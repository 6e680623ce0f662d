import { describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { at } from '../support/seconds.ts'

const service = runningService()

function readings(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    timestamp: at(from + index),
    temperature: from + index,
  }))
}

async function push(streamId: string, body: unknown): Promise<void> {
  const { status } = await service.api.withToken('POST', `/streams/${streamId}/data`, body)
  expect(status).toBe(202)
}

async function remove(streamId: string, from: number, to: number): Promise<number> {
  const path = `/streams/${streamId}/data?start=${at(from)}&end=${at(to)}`
  return (await service.api.withToken('DELETE', path)).status
}

async function temperatures(streamId: string): Promise<unknown[]> {
  return (await service.api.readAll(streamId)).map(({ temperature }) => temperature)
}

describe('removing a range of readings', () => {
  test('takes exactly those in [start, end), also just acknowledged ones', async () => {
    const streamId = await service.api.createStream()
    await push(streamId, readings(0, 10))

    expect(await remove(streamId, 3, 7)).toBe(204)

    expect(await temperatures(streamId)).toEqual([0, 1, 2, 7, 8, 9])
  })

  test('lets the same readings in again, and counts all of it', async () => {
    const streamId = await service.api.createStream()
    await push(streamId, readings(0, 4))
    await remove(streamId, 0, 100)
    await push(streamId, readings(0, 2))
    await push(streamId, readings(0, 1))

    const counters = await service.api.settled(streamId, 7)
    expect(counters).toMatchObject({ received: 7, stored: 6, duplicates: 1, pending: 0 })
    expect((await service.api.status(streamId))['deleted']).toBe(4)
    expect(await temperatures(streamId)).toEqual([0, 1])
  })

  test('stands in order between what was sent before and after it', async () => {
    const streamId = await service.api.createStream()
    for (let round = 0; round < 5; round++) {
      await push(streamId, readings(0, 3))
      expect(await remove(streamId, 0, 3)).toBe(204)
    }
    await push(streamId, readings(1, 1))

    await service.api.settled(streamId, 16)
    expect(await temperatures(streamId)).toEqual([1])
  })

  test('leaves other streams of the same shape alone', async () => {
    const [one, other] = [await service.api.createStream(), await service.api.createStream()]
    await push(one, readings(0, 3))
    await push(other, readings(0, 3))
    await remove(one, 0, 100)

    await service.api.settled(other, 3)
    expect(await temperatures(other)).toEqual([0, 1, 2])
    expect(await temperatures(one)).toEqual([])
  })

  test('of nothing is done, too', async () => {
    const streamId = await service.api.createStream()
    expect(await remove(streamId, 0, 10)).toBe(204)
    expect(await remove(streamId, 5, 5)).toBe(204)
  })
})

describe('refused', () => {
  test.each([
    ['', 'start'],
    [`?start=${at(0)}`, 'end'],
    [`?start=${at(5)}&end=${at(0)}`, 'end'],
    [`?start=yesterday&end=${at(0)}`, 'start'],
    [`?start=${at(0)}&end=${at(5)}&fields=temperature`, 'fields'],
  ])('is %j, because of %s', async (query, path) => {
    const streamId = await service.api.createStream()
    const answer = await service.api.withToken<{ details: { path: string }[] }>(
      'DELETE',
      `/streams/${streamId}/data${query}`,
    )
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(path)
  })

  test('is a stream of somebody else', async () => {
    const streamId = await service.api.createStream()
    await push(streamId, readings(0, 2))
    const other = await newPerson(service.api)
    const path = `/streams/${streamId}/data?start=${at(0)}&end=${at(100)}`

    expect((await other.withToken('DELETE', path)).status).toBe(404)
    await service.api.settled(streamId, 2)
    expect(await temperatures(streamId)).toEqual([0, 1])
  })

  test('is a key that may only read', async () => {
    const streamId = await service.api.createStream()
    const reader = await newPerson(service.api, { permission: 'read_only' })
    const path = `/streams/${streamId}/data?start=${at(0)}&end=${at(100)}`
    expect((await reader.withToken('DELETE', path)).status).toBe(403)
  })
})
