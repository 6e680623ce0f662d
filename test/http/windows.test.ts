import { describe, expect, test } from 'vitest'
import type { Answer, DataPage } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** 2026-01-31T10:00:00Z and so many seconds. */
function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 31, 10, 0, second)).toISOString().replace('Z', '000Z')
}

const everyMinute = { frequency: '1m', aggregation: 'average' }

async function newStream(processing: object = everyMinute): Promise<string> {
  return await service.api.createStream(
    { temperature: { type: 'number' }, mode: { type: 'string' } },
    { processing },
  )
}

async function push(streamId: string, readings: readonly object[]): Promise<void> {
  const { received } = await service.api.settled(streamId)
  const path = `/streams/${streamId}/data`
  expect((await service.api.withToken('POST', path, readings)).status).toBe(202)
  await service.api.settled(streamId, received + readings.length)
}

function get<Body = DataPage>(streamId: string, query = ''): Promise<Answer<Body>> {
  return service.api.withToken<Body>('GET', `/streams/${streamId}/data?aggregation=window${query}`)
}

async function windows(streamId: string, query = ''): Promise<DataPage['data']> {
  const { status, body } = await get(streamId, query)
  expect(body).toMatchObject({ data: expect.anything() as unknown })
  expect(status).toBe(200)
  return body.data
}

/** Waits until all of them are kept. */
async function kept(streamId: string): Promise<DataPage['data']> {
  let all: DataPage['data'] = []
  await expect
    .poll(
      async () => {
        all = await windows(streamId)
        return all.every(({ computedAt }) => computedAt !== null)
      },
      { timeout: 20_000 },
    )
    .toBe(true)
  return all
}

describe('windows of a stream', () => {
  test('are there at once, and under the same revision once they are kept', async () => {
    const streamId = await newStream()
    await push(streamId, [
      { timestamp: at(0), temperature: 20, mode: 'eco' },
      { timestamp: at(59), temperature: 22, mode: 'boost' },
      { timestamp: at(60), temperature: 30 },
    ])

    const expected = [
      { timestamp: at(0), temperature: 21, mode: 'boost', count: 2, revision: 1 },
      { timestamp: at(60), temperature: 30, count: 1, revision: 1 },
    ]
    expect(await windows(streamId)).toMatchObject(expected)
    expect(await kept(streamId)).toMatchObject(expected)
  })

  test('are revised by what comes late, and by what is removed', async () => {
    const streamId = await newStream()
    await push(streamId, [
      { timestamp: at(0), temperature: 20 },
      { timestamp: at(60), temperature: 5 },
    ])
    await kept(streamId)
    await push(streamId, [{ timestamp: at(30), temperature: 40 }])
    expect(await windows(streamId)).toMatchObject([
      { temperature: 30, count: 2, revision: 2 },
      { temperature: 5, count: 1, revision: 1 },
    ])
    expect(await kept(streamId)).toMatchObject([{ temperature: 30, revision: 2 }, { revision: 1 }])

    const path = `/streams/${streamId}/data?start=${at(0)}&end=${at(60)}`
    expect((await service.api.withToken('DELETE', path)).status).toBe(204)
    expect(await windows(streamId)).toMatchObject([
      { count: 0, revision: 3 },
      { count: 1, revision: 1 },
    ])
    const [gone] = await kept(streamId)
    expect(gone).toEqual({
      timestamp: at(0),
      count: 0,
      revision: 3,
      computedAt: gone?.['computedAt'],
    })
  })
})
