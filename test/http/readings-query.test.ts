import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer, DataPage } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** One reading per 10 minutes from midnight on, for three hours; two of 01:00 share their time. */
let streamId: string
const temperatures = Array.from({ length: 18 }, (_, index) => index * 1.5)

function at(minutes: number): string {
  return new Date(Date.UTC(2026, 0, 31, 22, minutes)).toISOString().replace('Z', '000Z')
}

beforeAll(async () => {
  streamId = await service.api.createStream({
    temperature: { type: 'number', range: [0, 20] },
    starts: { type: 'integer' },
    mode: { type: 'string' },
    isOn: { type: 'boolean' },
    servicedAt: { type: 'datetime' },
    position: { type: 'object', fields: { x: { type: 'number' } } },
  })
  const readings = temperatures.map((temperature, index) => ({
    timestamp: at(index * 10),
    temperature,
    starts: index,
    mode: index % 2 === 0 ? 'eco' : 'boost',
  }))
  // Late and out of order, so that the order of an answer is not that of arrival.
  const shuffled = [...readings.slice(9), ...readings.slice(0, 9)]
  await service.api.withToken('POST', `/streams/${streamId}/data`, shuffled)
  await service.api.withToken('POST', `/streams/${streamId}/data`, {
    timestamp: at(60),
    temperature: 1000.25,
    isOn: true,
    servicedAt: '2026-01-01T00:00:00+01:00',
    position: { x: 1 },
    note: 'unknown',
  })
  await service.api.settled(streamId, temperatures.length + 1)
})

type Page = DataPage & Readonly<Record<string, unknown>>

function get<Body = Page>(query = ''): Promise<Answer<Body>> {
  return service.api.withToken<Body>('GET', `/streams/${streamId}/data${query}`)
}

async function times(query: string): Promise<unknown[]> {
  return (await get(query)).body.data.map(({ timestamp }) => timestamp)
}

describe('raw readings', () => {
  test('come in ascending time, in an envelope that says what was asked for', async () => {
    const { status, body } = await get()

    expect(status).toBe(200)
    expect(body).toMatchObject({ streamId, aggregation: 'raw', nextCursor: null })
    expect(body).toHaveProperty('start')
    expect(body).toHaveProperty('end')
    expect(body.data).toHaveLength(19)
    const found = body.data.map(({ timestamp }) => String(timestamp))
    expect(found).toEqual(found.toSorted())
  })

  test('carry each kind of value as it was sent, and no field that was not', async () => {
    const { body } = await get(`?start=${at(60)}&end=${at(61)}`)

    const full = body.data.find(({ temperature }) => temperature === 1000.25)
    expect(full).toEqual({
      timestamp: at(60),
      temperature: 1000.25,
      'temperature:flag': 'out_of_range',
      isOn: true,
      servicedAt: '2025-12-31T23:00:00.000000Z',
      position: { x: 1 },
      extra: { note: 'unknown' },
    })
  })

  test('are those from start on and before end', async () => {
    expect(await times(`?start=${at(10)}&end=${at(30)}`)).toEqual([at(10), at(20)])
    expect(await times(`?start=${at(170)}`)).toEqual([at(170)])
    expect(await times(`?end=${at(10)}`)).toEqual([at(0)])
    expect(await times(`?start=${at(10)}&end=${at(10)}`)).toEqual([])
  })

  test('take start and end in any zone', async () => {
    const start = encodeURIComponent('2026-01-31T23:10:00+01:00')

    expect(await times(`?start=${start}&end=2026-01-31T22:10:00.000001Z`)).toEqual([at(10)])
  })

  test('come page by page with the cursor, each once', async () => {
    const found: unknown[] = []
    let cursor = ''
    let pages = 0
    do {
      const { body } = await get(`?limit=4${cursor}`)
      expect(body.data.length).toBeLessThanOrEqual(4)
      found.push(...body.data)
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
      pages++
    } while (cursor !== '')

    expect(pages).toBe(5)
    expect(found).toEqual((await get()).body.data)
  })

  test('of one time are told apart by a cursor between them', async () => {
    const range = `start=${at(60)}&end=${at(61)}&limit=1`
    const first = (await get(`?${range}`)).body
    const second = (await get(`?${range}&cursor=${first.nextCursor}`)).body

    const values = [...first.data, ...second.data].map(({ temperature }) => Number(temperature))
    expect(values.toSorted((left, right) => left - right)).toEqual([9, 1000.25])
    expect(second.nextCursor).toBeNull()
  })

  test('carry only the fields that are asked for', async () => {
    const { body } = await get(`?start=${at(0)}&end=${at(10)}&fields=mode,starts`)

    expect(body.data).toEqual([{ timestamp: at(0), starts: 0, mode: 'eco' }])
  })

  test('carry no flag of a field that is not asked for', async () => {
    const { body } = await get(`?start=${at(60)}&end=${at(61)}&fields=isOn`)

    const keys = body.data.flatMap((point) => Object.keys(point))
    expect([...new Set(keys)].toSorted()).toEqual(['isOn', 'timestamp'])
  })

  test('of a stream without readings are an empty page', async () => {
    const empty = await service.api.createStream()

    const { status, body } = await service.api.withToken<Page>('GET', `/streams/${empty}/data`)

    expect(status).toBe(200)
    expect(body).toMatchObject({ streamId: empty, data: [], nextCursor: null })
  })
})

describe('hourly readings', () => {
  test('are one point an hour: average of numbers, latest of the rest, count', async () => {
    const { body } = await get('?aggregation=hourly')

    expect(body['aggregation']).toBe('hourly')
    expect(body.data).toMatchObject([
      { timestamp: at(0), temperature: 3.75, starts: 2.5, mode: 'boost', count: 6 },
      { timestamp: at(60), mode: 'boost', count: 7, isOn: true },
      { timestamp: at(120), temperature: 21.75, starts: 14.5, mode: 'boost', count: 6 },
    ])
    const expected = (temperatures.slice(6, 12).reduce((sum, one) => sum + one, 0) + 1000.25) / 7
    expect(body.data[1]?.['temperature']).toBeCloseTo(expected, 9)
  })

  test('cover only what lies from start on and before end', async () => {
    const { body } = await get(`?aggregation=hourly&start=${at(10)}&end=${at(30)}`)

    expect(body.data).toMatchObject([{ timestamp: at(0), temperature: 2.25, count: 2 }])
  })

  test('come page by page with the cursor, each once', async () => {
    const first = (await get('?aggregation=hourly&limit=2')).body
    const second = (await get(`?aggregation=hourly&limit=2&cursor=${first.nextCursor}`)).body

    expect(second.nextCursor).toBeNull()
    expect([...first.data, ...second.data]).toEqual((await get('?aggregation=hourly')).body.data)
  })

  test('carry only the fields that are asked for', async () => {
    const { body } = await get(`?aggregation=hourly&fields=starts&end=${at(60)}`)

    expect(body.data).toEqual([{ timestamp: at(0), starts: 2.5, count: 6 }])
  })
})

describe('a query', () => {
  test.each(['limit=1', 'limit=10000', 'aggregation=raw'])('may say %s', async (query) => {
    expect((await get(`?${query}`)).status).toBe(200)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=10001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['start=yesterday', 'start'],
    ['start=2026-01-01', 'start'],
    ['start=2026-01-01T00:00:00', 'start'],
    ['end=', 'end'],
    ['start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z', 'end'],
    ['aggregation=yearly', 'aggregation'],
    ['aggregation=', 'aggregation'],
    ['fields=pressure', 'fields'],
    ['fields=', 'fields'],
    ['fields=toString', 'fields'],
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
    ['page=2', 'page'],
  ])('that says %s is 400, naming the parameter', async (query, path) => {
    const { status, body } = await get<ErrorBody>(`?${query}`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })

  test.each(['00000000-0000-4000-8000-000000000000', 'boiler-7'])(
    'of the stream %s is 404',
    async (id) => {
      const { status, body } = await service.api.withToken('GET', `/streams/${id}/data`)

      expect(status).toBe(404)
      expect(body).toMatchObject({ error: 'not_found' })
    },
  )
})
