import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer, DataPage } from '../support/api-client.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** Streams of the bootstrap user: two of one vault, of different shapes, and one of another. */
let boiler: string
let pump: string
let fan: string
let vaultId: string
let stranger: Person

async function newStream(vault: string, schema: object, rest: object = {}): Promise<string> {
  const { body } = await service.api.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'machine',
    vaultId: vault,
    type: 'iot_sensor',
    schema,
    ...rest,
  })
  return body.streamId
}

async function newVault(): Promise<string> {
  const template = { name: 'machine', hint: 'a machine', required_streams: [] }
  const made = await service.api.withKey<{ id: string }>('POST', '/templates', template)
  const vault = { template_id: made.body.id, name: 'machines' }
  return (await service.api.withKey<{ id: string }>('POST', '/vaults', vault)).body.id
}

async function send(streamId: string, readings: readonly object[]): Promise<void> {
  await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  await service.api.settled(streamId, readings.length)
}

beforeAll(async () => {
  vaultId = await newVault()
  const berlin = { tags: { site: 'berlin' } }
  boiler = await newStream(
    vaultId,
    { temperature: { type: 'number' }, mode: { type: 'string' } },
    berlin,
  )
  pump = await newStream(
    vaultId,
    { temperature: { type: 'integer' }, mode: { type: 'boolean' } },
    berlin,
  )
  const paris = { name: 'Fan', tags: { site: 'paris', floor: '2' } }
  fan = await newStream(await newVault(), { temperature: { type: 'number' } }, paris)
  await send(boiler, [
    { timestamp: '2026-03-01T00:00:00Z', temperature: 1.5, mode: 'on' },
    { timestamp: '2026-03-01T12:00:00Z', temperature: 2.5, mode: 'off' },
    { timestamp: '2026-03-03T00:00:00Z', temperature: 8, mode: 'on' },
  ])
  await send(pump, [{ timestamp: '2026-03-01T06:00:00Z', temperature: 5, mode: true }])
  await send(fan, [{ timestamp: '2026-03-02T00:00:00Z', temperature: 100 }])
  stranger = await newPerson(service.api)
})

interface QueryPage extends DataPage {
  readonly [member: string]: unknown
}

function ask<Body = QueryPage>(body: object): Promise<Answer<Body>> {
  const all = { fields: ['temperature'], aggregation: 'daily', ...body }
  return service.api.withToken<Body>('POST', '/query', all)
}

/** Sums and counts by the values of a tag. */
async function sums(groupBy: string): Promise<unknown[][]> {
  const { body } = await ask({ groupBy, aggregation: 'monthly', fields: ['temperature:sum'] })
  return body.data.map(({ tag, 'temperature:sum': sum, count }) => [tag, sum, count])
}

/** Whose points an answer has. */
async function streamsOf(body: object): Promise<Set<unknown>> {
  const { data } = (await ask(body)).body
  return new Set(data.map(({ streamId }) => streamId))
}

const [first, third] = [1, 3].map((day) => `2026-03-0${day}T00:00:00.000000Z`)

describe('a query of many streams', () => {
  test('answers a point for each stream and bucket, in ascending time', async () => {
    const { status, body } = await ask({ vaultId, fields: ['temperature', 'temperature:max'] })

    expect(body).toMatchObject({ aggregation: 'daily', groupBy: 'stream', nextCursor: null })
    const onFirst = [
      { streamId: boiler, temperature: 2, 'temperature:max': 2.5, count: 2 },
      { streamId: pump, temperature: 5, 'temperature:max': 5, count: 1 },
    ].toSorted((left, right) => (left.streamId < right.streamId ? -1 : 1))
    expect(body.data).toEqual([
      ...onFirst.map((point) => ({ timestamp: first, ...point })),
      { timestamp: third, streamId: boiler, temperature: 8, 'temperature:max': 8, count: 1 },
    ])
    expect(status).toBe(200)
  })

  test('answers a point for each bucket when it groups by time only', async () => {
    const { body } = await ask({ vaultId, groupBy: 'time', fields: ['temperature:sum'] })

    expect(body.data).toEqual([
      { timestamp: first, 'temperature:sum': 9, count: 3 },
      { timestamp: third, 'temperature:sum': 8, count: 1 },
    ])
  })

  test('answers a point for each value of a tag, and one for streams without it', async () => {
    expect(await sums('tag:site')).toEqual([
      ['berlin', 17, 4],
      ['paris', 100, 1],
    ])
    expect(await sums('tag:floor')).toEqual([
      [null, 17, 4],
      ['2', 100, 1],
    ])
    expect(await sums('tag:toString')).toEqual([[null, 117, 5]])
  })

  test('is about all streams of the caller, or those that are named, or those of a vault', async () => {
    expect(await streamsOf({})).toEqual(new Set([boiler, pump, fan]))
    expect(await streamsOf({ streamIds: [fan, pump] })).toEqual(new Set([fan, pump]))
    expect(await streamsOf({ streamIds: [fan.toUpperCase(), fan] })).toEqual(new Set([fan]))
    expect(await streamsOf({ streamIds: [fan, pump], vaultId })).toEqual(new Set([pump]))
    expect(await streamsOf({ name: 'mach*' })).toEqual(new Set([boiler, pump]))
    expect(await streamsOf({ name: 'fan' })).toEqual(new Set([fan]))
    expect(await streamsOf({ tags: { site: 'berlin' } })).toEqual(new Set([boiler, pump]))
    expect(await streamsOf({ tags: { site: 'paris', floor: '2' } })).toEqual(new Set([fan]))
    expect(await streamsOf({ tags: { site: 'berlin', floor: '2' } })).toEqual(new Set())
    expect(await streamsOf({ tags: { site: 'berlin' }, streamIds: [fan] })).toEqual(new Set())
  })

  test.each(['none', 'null', 'previous', 'linear'])(
    'comes page by page with the cursor, each point once, with fill %s',
    async (fill) => {
      const all = { start: first, end: '2026-03-05T00:00:00Z', aggregation: '6h', fill }
      const found: unknown[] = []
      let cursor: string | null = null
      do {
        const { body }: Answer<QueryPage> = await ask({
          ...all,
          limit: 2,
          ...(cursor === null ? {} : { cursor }),
        })
        expect(body.data.length).toBeLessThanOrEqual(2)
        found.push(...body.data)
        cursor = body.nextCursor
      } while (cursor !== null)

      expect(found).toEqual((await ask(all)).body.data)
      expect(found).toHaveLength(fill === 'none' ? 5 : 3 * 16)
    },
  )

  test('follows the clocks of a zone, and fills', async () => {
    const range = { start: '2026-03-01T00:00:00Z', end: '2026-03-04T00:00:00Z' }
    const { body } = await ask({
      ...range,
      tz: 'Asia/Kathmandu',
      fill: 'previous',
      groupBy: 'time',
    })

    expect(body.data.map(({ timestamp, count }) => [timestamp, count])).toEqual([
      ['2026-02-28T18:15:00.000000Z', 3],
      ['2026-03-01T18:15:00.000000Z', 1],
      ['2026-03-02T18:15:00.000000Z', 1],
      ['2026-03-03T18:15:00.000000Z', 0],
    ])
  })

  test('of a vault without streams is empty', async () => {
    const { status, body } = await ask({ vaultId: await newVault() })

    expect(body.data).toEqual([])
    expect(status).toBe(200)
  })
})

describe("another user's streams", () => {
  test('never appear', async () => {
    const all = { fields: ['temperature'], aggregation: 'daily' }
    const { status, body } = await stranger.withToken<QueryPage>('POST', '/query', all)

    expect(body.data).toEqual([])
    expect(status).toBe(200)
  })

  test.each(['streamIds', 'vaultId'])(
    'are as unknown as any when they are named by %s',
    async (by) => {
      const vault = { name: 'secret', public: false }
      const template = { name: 'machine', hint: 'a machine', required_streams: [] }
      const made = await service.api.withKey<{ id: string }>('POST', '/templates', template)
      const secret = await service.api.withKey<{ id: string }>('POST', '/vaults', {
        ...vault,
        template_id: made.body.id,
      })
      const named = { streamIds: { streamIds: [boiler] }, vaultId: { vaultId: secret.body.id } }[by]
      const unknown = '00000000-0000-4000-8000-000000000000'
      const other = { streamIds: { streamIds: [unknown] }, vaultId: { vaultId: unknown } }[by]
      for (const selection of [named, other]) {
        const { status, body } = await stranger.withToken<ErrorBody>('POST', '/query', {
          fields: ['temperature'],
          aggregation: 'daily',
          ...selection,
        })

        expect(body).toMatchObject({ error: 'not_found' })
        expect(status).toBe(404)
      }
    },
  )

  test('do not appear among those of a public vault', async () => {
    const body = { fields: ['temperature'], aggregation: 'daily', vaultId }
    const answer = await stranger.withToken<QueryPage>('POST', '/query', body)

    expect(answer.body.data).toEqual([])
  })
})

describe('a query that cannot be answered', () => {
  test.each([
    [{ aggregation: 'raw' }, 'aggregation'],
    [{ aggregation: 'yearly' }, 'aggregation'],
    [{ fields: ['pressure'] }, 'fields'],
    [{ fields: [] }, 'fields'],
    [{ fields: ['temperature:median'] }, 'fields'],
    [{ tz: 'Mars' }, 'tz'],
    [{ fill: 'null' }, 'start'],
    [{ limit: 10_001 }, 'limit'],
    [{ cursor: 'x' }, 'cursor'],
    [{ start: 'yesterday' }, 'start'],
    [{ groupBy: 'mode' }, 'groupBy'],
    [{ groupBy: 'tag:' }, 'groupBy'],
    [{ tags: { 'no name': 'x' } }, 'tag'],
    [{ tags: { site: '' } }, 'tag'],
    [{ tags: { site: 1 } }, 'tags'],
    [{ streamIds: [] }, 'streamIds'],
    [{ other: 1 }, 'other'],
  ])('because it says %o is 400', async (body, path) => {
    const answer = await ask<ErrorBody>(body)

    expect(answer.body).toMatchObject({ error: 'invalid_request' })
    expect(answer.body.details?.[0]?.path).toContain(path)
    expect(answer.status).toBe(400)
  })

  test('because a field is of different types is 422', async () => {
    const { status, body } = await ask<ErrorBody>({ vaultId, fields: ['mode'] })

    expect(body).toMatchObject({ error: 'unsupported_query', details: [{ path: 'fields' }] })
    expect(status).toBe(422)
  })

  test('because it would fill millions of points is 422', async () => {
    const range = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' }
    const { status, body } = await ask({ ...range, aggregation: '1s', fill: 'null' })

    expect(body).toMatchObject({ error: 'too_many_points' })
    expect(status).toBe(422)
  })
})
