import { beforeAll, describe, expect, test } from 'vitest'
import type { DataPage } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const minuteMs = 60_000
const startMs = Date.UTC(2026, 2, 28, 22)

/**
 * Every five minutes from before the day in Berlin that has 23 hours to after it; a value lasts for
 * some hours, or is there for five minutes only.
 */
const readings = Array.from({ length: 27 * 12 }, (_, index) => ({
  timestamp: new Date(startMs + index * 5 * minuteMs).toISOString(),
  temperature: index % 61 === 0 ? 90 : Math.floor(index / 37) * 1.5,
}))

/** Streams of equal readings: one drops what is unchanged, the other keeps all. */
let deduplicated: string
let ordinary: string

beforeAll(async () => {
  deduplicated = await streamWith(readings, { deduplicate: true, frequency: '45m' })
  ordinary = await streamWith(readings)
})

async function streamWith(sent: readonly object[], processing: object = {}): Promise<string> {
  const schema = { temperature: { type: 'number' } }
  const id = await service.api.createStream(schema, { processing })
  await service.api.withToken('POST', `/streams/${id}/data`, sent)
  await service.api.settled(id, sent.length)
  return id
}

async function averages(query: string, streamId: string): Promise<unknown[][]> {
  const path = `/streams/${streamId}/data?fields=temperature&tz=Europe/Berlin&${query}`
  const { body } = await service.api.withToken<DataPage>('GET', path)
  return body.data.map(({ timestamp, temperature }) => [timestamp, temperature])
}

async function asked(body: object): Promise<unknown[]> {
  const all = { fields: ['temperature'], aggregation: 'daily', ...body }
  const answer = await service.api.withToken<DataPage>('POST', '/query', all)
  return answer.body.data.map(({ temperature }) => temperature)
}

function nearly(points: readonly unknown[][]): unknown[][] {
  return points.map(([time, value]) => [time, expect.closeTo(Number(value), 9) as unknown])
}

describe('averages of a stream that drops what is unchanged', () => {
  test.each([
    'aggregation=daily&start=2026-03-28T23:00:00Z&end=2026-03-29T22:00:00Z',
    'aggregation=hourly&start=2026-03-28T23:00:00Z&end=2026-03-29T22:00:00Z',
    'aggregation=6h&start=2026-03-28T22:35:00Z&end=2026-03-29T21:10:00Z',
  ])('are those of all readings: %s', async (query) => {
    const { stored } = await service.api.settled(deduplicated)
    expect(stored).toBeLessThan(readings.length / 3)
    const all = await averages(query, ordinary)

    expect(all.length).toBeGreaterThan(0)
    expect(await averages(query, deduplicated)).toEqual(nearly(all))
  })

  test('are the same in a query, alone and beside another stream', async () => {
    const range = { start: '2026-03-29T00:00:00Z', end: '2026-03-30T00:00:00Z' }
    const [plain] = await asked({ ...range, streamIds: [ordinary] })
    const same = expect.closeTo(Number(plain), 9) as unknown

    expect(await asked({ ...range, streamIds: [deduplicated] })).toEqual([same])
    const both = { ...range, streamIds: [deduplicated, ordinary] }
    expect(await asked(both)).toEqual([same, same])
    expect(await asked({ ...both, groupBy: 'time' })).toEqual([same])
  })
})

test('the value of now counts up to now', async () => {
  const [longAgo, lately] = [30, 10].map((minutes) =>
    new Date(Date.now() - minutes * minuteMs).toISOString(),
  )
  const sent = [
    { timestamp: longAgo, temperature: 10 },
    { timestamp: lately, temperature: 40 },
  ]
  const id = await streamWith(sent, { deduplicate: true, frequency: '1h' })

  const path = `/streams/${id}/data?fields=temperature&aggregation=366d`
  const { body } = await service.api.withToken<DataPage>('GET', path)

  expect(body.data).toMatchObject([{ temperature: expect.closeTo(20, 0) as unknown, count: 2 }])
})
