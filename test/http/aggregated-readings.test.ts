import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer, DataPage } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** One reading every 6 hours of UTC from 2026-03-27 to 2026-03-31: clocks in Berlin change on the 29th. */
const readings = Array.from({ length: 20 }, (_, index) => ({
  timestamp: new Date(Date.UTC(2026, 2, 27, index * 6)).toISOString().replace('Z', '000Z'),
  temperature: index,
  starts: index * 2,
  mode: index % 2 === 0 ? 'eco' : 'boost',
  servicedAt: `2026-01-${String(index + 1).padStart(2, '0')}T00:00:00Z`,
}))

let streamId: string

beforeAll(async () => {
  streamId = await service.api.createStream({
    temperature: { type: 'number' },
    starts: { type: 'integer' },
    mode: { type: 'string' },
    servicedAt: { type: 'datetime' },
  })
  await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  await service.api.settled(streamId, readings.length)
})

type Page = DataPage & Readonly<Record<string, unknown>>

function get<Body = Page>(query: string, id = streamId): Promise<Answer<Body>> {
  return service.api.withToken<Body>('GET', `/streams/${id}/data?${query}`)
}

async function points(query: string): Promise<DataPage['data']> {
  const { status, body } = await get(query)
  expect(body).toMatchObject({ data: expect.anything() as unknown })
  expect(status).toBe(200)
  return body.data
}

async function times(query: string): Promise<unknown[]> {
  return (await points(query)).map(({ timestamp }) => timestamp)
}

/** Five buckets of three hours, with the first two readings. */
async function filled(fill: string): Promise<unknown[][]> {
  const range = 'start=2026-03-26T18:00:00Z&end=2026-03-27T07:00:00Z&aggregation=3h'
  const found = await points(`${range}&fields=temperature,mode&fill=${fill}`)
  return found.map(({ temperature, mode, count }) => [temperature, mode, count])
}

const day = 'start=2026-03-28T00:00:00Z&end=2026-03-29T00:00:00Z'

describe('aggregated points', () => {
  test('carry the function in their keys as it was asked for', async () => {
    const functions = ['min', 'max', 'sum', 'count', 'first', 'last', 'latest', 'avg', 'p50']
    const fields = ['temperature', ...functions.map((name) => `temperature:${name}`)]

    expect(await points(`${day}&aggregation=daily&fields=${fields.join(',')}`)).toEqual([
      {
        timestamp: '2026-03-28T00:00:00.000000Z',
        temperature: 5.5,
        'temperature:min': 4,
        'temperature:max': 7,
        'temperature:sum': 22,
        'temperature:count': 4,
        'temperature:first': 4,
        'temperature:last': 7,
        'temperature:latest': 7,
        'temperature:avg': 5.5,
        'temperature:p50': 5.5,
        count: 4,
      },
    ])
  })

  test('are averages of numbers and the latest of the rest when no field is asked for', async () => {
    expect(await points(`${day}&aggregation=daily`)).toEqual([
      {
        timestamp: '2026-03-28T00:00:00.000000Z',
        temperature: 5.5,
        starts: 11,
        mode: 'boost',
        servicedAt: '2026-01-08T00:00:00.000000Z',
        count: 4,
      },
    ])
  })

  test('follow the clocks of a zone', async () => {
    const zone = 'start=2026-03-27T23:00:00Z&end=2026-03-31T22:00:00Z&tz=Europe/Berlin'

    expect(await times(`${zone}&aggregation=daily&fields=mode`)).toEqual([
      '2026-03-27T23:00:00.000000Z',
      '2026-03-28T23:00:00.000000Z',
      '2026-03-29T22:00:00.000000Z',
      '2026-03-30T22:00:00.000000Z',
    ])
    expect(await times(`${zone}&aggregation=1d&fields=mode`)).toHaveLength(4)
    expect(await times(`${zone}&aggregation=weekly`)).toEqual([
      '2026-03-22T23:00:00.000000Z',
      '2026-03-29T22:00:00.000000Z',
    ])
    expect(await times(`${zone}&aggregation=monthly`)).toEqual(['2026-02-28T23:00:00.000000Z'])
  })

  test.each([
    ['minutely', '2026-03-27T06:00:00.000000Z'],
    ['30s', '2026-03-27T06:00:00.000000Z'],
    ['15m', '2026-03-27T06:00:00.000000Z'],
    ['hourly', '2026-03-27T06:00:00.000000Z'],
    ['7h', '2026-03-27T06:00:00.000000Z'],
    ['daily', '2026-03-27T00:00:00.000000Z'],
    ['weekly', '2026-03-23T00:00:00.000000Z'],
    ['monthly', '2026-03-01T00:00:00.000000Z'],
  ])('of %s begin where its bucket begins', async (aggregation, expected) => {
    const range = 'start=2026-03-27T06:00:00Z&end=2026-03-27T06:00:01Z'
    const sevenHours = 7 * 3_600_000
    const start = Math.floor(Date.UTC(2026, 2, 27, 6) / sevenHours) * sevenHours
    const counted = new Date(start).toISOString().replace('Z', '000Z')

    expect(await times(`${range}&aggregation=${aggregation}`)).toEqual([
      aggregation === '7h' ? counted : expected,
    ])
  })

  test('fill what has nothing, as it is asked for', async () => {
    expect(await filled('none')).toEqual([
      [0, 'eco', 1],
      [1, 'boost', 1],
    ])
    expect(await filled('null')).toEqual([
      [null, null, 0],
      [null, null, 0],
      [0, 'eco', 1],
      [null, null, 0],
      [1, 'boost', 1],
    ])
    expect((await filled('previous'))[3]).toEqual([0, 'eco', 0])
    expect((await filled('linear'))[3]).toEqual([0.5, 'eco', 0])
  })

  test.each([
    ['hourly', 'UTC', 48],
    ['90s', 'UTC', 1_920],
    ['daily', 'America/New_York', 3],
    ['monthly', 'Asia/Tokyo', 1],
  ])('fill the last days that can be asked for: %s in %s', async (aggregation, tz, count) => {
    const range = 'start=9999-12-29T00:00:00Z&end=9999-12-31T00:00:00Z&fill=null'
    const query = `${range}&aggregation=${aggregation}&tz=${tz}`
    const found = await times(`${query}&limit=10000`)
    const { body } = await get(`${query}&limit=1`)

    expect(found).toHaveLength(count)
    expect(new Set(found).size).toBe(count)
    if (count === 1) expect(body.nextCursor).toBeNull()
    else expect((await times(`${query}&cursor=${body.nextCursor}&limit=1`))[0]).toBe(found[1])
  })

  test.each(['fill=none', 'fill=linear', 'tz=Asia/Kathmandu&fill=previous'])(
    'come page by page with the cursor, each once, with %s',
    async (rest) => {
      const query = `start=2026-03-27T01:00:00Z&end=2026-03-31T22:00:00Z&aggregation=hourly&${rest}`
      const found: unknown[] = []
      let cursor = ''
      do {
        const { body } = await get(`${query}&limit=7${cursor}`)
        found.push(...body.data)
        cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
      } while (cursor !== '')

      expect(found).toEqual(await points(query))
      expect(found.length).toBeGreaterThan(14)
    },
  )
})

describe('a query for aggregated points', () => {
  test.each([
    ['aggregation=yearly', 'aggregation'],
    ['aggregation=0s', 'aggregation'],
    ['aggregation=1.5h', 'aggregation'],
    ['aggregation=367d', 'aggregation'],
    ['aggregation=999999999m', 'aggregation'],
    ['aggregation=daily&tz=Mars/Olympus', 'tz'],
    ['aggregation=daily&tz=%2B01:00', 'tz'],
    ['aggregation=daily&tz=', 'tz'],
    ['aggregation=daily&fields=pressure', 'fields'],
    ['aggregation=daily&fields=pressure:max', 'fields'],
    ['aggregation=daily&fields=temperature:median', 'fields'],
    ['aggregation=daily&fields=temperature:', 'fields'],
    ['aggregation=daily&fields=temperature:max:min', 'fields'],
    ['aggregation=daily&fields=temperature:toString', 'fields'],
    ['aggregation=daily&fill=zero', 'fill'],
    ['aggregation=daily&fill=null&end=2026-01-01T00:00:00Z', 'start'],
    ['aggregation=daily&fill=null&start=2026-01-01T00:00:00Z', 'end'],
    ['aggregation=daily&cursor=x', 'cursor'],
    ['aggregation=daily&limit=10001', 'limit'],
    ['aggregation=raw&fill=null', 'fill'],
    ['fields=temperature:max', 'fields'],
  ])('that says %s is 400, naming the parameter', async (query, path) => {
    const { status, body } = await get<ErrorBody>(query)

    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
    expect(status).toBe(400)
  })

  test.each([
    ['aggregation=window', 'aggregation', 'window'],
    ['aggregation=daily&fields=mode:avg', 'fields', 'mode:avg'],
    ['aggregation=daily&fields=mode:max', 'fields', 'mode:max'],
    ['aggregation=daily&fields=servicedAt:sum', 'fields', 'servicedAt:sum'],
  ])('that says %s is 422, naming what cannot be done', async (query, path, named) => {
    const { status, body } = await get<ErrorBody>(query)

    expect(body).toMatchObject({ error: 'unsupported_query', details: [{ path }] })
    expect(body.details?.[0]?.message).toContain(named)
    expect(status).toBe(422)
  })

  test.each([
    ['aggregation=1s', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['aggregation=monthly', '1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z'],
  ])('that would fill millions of points (%s) is 422', async (query, start, end) => {
    const { status, body } = await get(`${query}&start=${start}&end=${end}&fill=null`)

    expect(body).toMatchObject({ error: 'too_many_points' })
    expect(status).toBe(422)
  })
})

/** An hour of the first of March. */
function at(hour: number): string {
  return `2026-03-01T0${hour}:00:00.000000Z`
}

describe('a stream whose definition was changed', () => {
  test('has one point in a bucket over all its versions', async () => {
    const id = await service.api.createStream({
      level: { type: 'integer' },
      state: { type: 'string' },
      old: { type: 'number' },
    })
    const path = `/streams/${id}`
    await service.api.withToken('POST', `${path}/data`, [
      { timestamp: at(0), level: 1, state: 'on', old: 7 },
      { timestamp: at(1), level: 2, state: 'off' },
    ])
    const schema = { level: { type: 'number' }, state: { type: 'boolean' } }
    const { status } = await service.api.withToken('PUT', path, { schema })
    expect(status).toBe(200)
    await service.api.withToken('POST', `${path}/data`, {
      timestamp: at(2),
      level: 4.5,
      state: true,
    })
    await service.api.settled(id, 3)

    const { body } = await get('aggregation=daily', id)
    expect(body.data).toEqual([{ timestamp: at(0), level: 2.5, state: true, old: 7, count: 3 }])
    const fields = 'state:first,old:max'
    const named = await get(
      `aggregation=hourly&fill=previous&start=${at(0)}&end=${at(3)}&fields=${fields}`,
      id,
    )
    expect(named.body.data.map(({ count, 'state:first': state }) => [count, state])).toEqual([
      [1, null],
      [1, null],
      [1, true],
    ])
  })
})
