import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer, DataPage } from '../support/api-client.ts'
import { addFleet } from '../support/fleet-rows.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** A fleet of three devices; `spare` has no stream. */
let fleetId: string
let streams: Readonly<Record<'north' | 'south' | 'east' | 'hall' | 'shed', string>>
let stranger: Person

const schema = {
  temperature: { type: 'number' },
  mode: { type: 'string' },
  stage: { type: 'integer' },
  isOn: { type: 'boolean' },
  level: { type: 'number' },
}

async function newStream(vaultId: string, rest: object = {}): Promise<string> {
  const definition = { name: 'machine', vaultId, type: 'iot_sensor', schema, ...rest }
  const { body } = await service.api.withToken<{ streamId: string }>('POST', '/streams', definition)
  return body.streamId
}

async function send(streamId: string, readings: readonly object[]): Promise<void> {
  await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  await service.api.settled(streamId, readings.length)
}

/** A reading of so many hours after the first of March. */
function at(hours: number, fields: object): object {
  return { timestamp: new Date(Date.UTC(2026, 2, 1, hours)).toISOString(), ...fields }
}

beforeAll(async () => {
  const any = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${any}`)
  const { vaultId } = body
  streams = {
    north: await newStream(vaultId, { tags: { device: 'another name', site: 'berlin' } }),
    south: await newStream(vaultId, { tags: { site: 'berlin' } }),
    east: await newStream(vaultId, { tags: { site: 'paris' } }),
    hall: await newStream(vaultId, { tags: { device: 'hall' } }),
    shed: await newStream(vaultId, {
      schema: {
        temperature: { type: 'number' },
        mode: { type: 'boolean' },
        device: { type: 'string' },
      },
    }),
  }
  const { north, south, east, hall, shed } = streams
  fleetId = addFleet(service.process.dataDir, { north, south, east, spare: null })
  await send(north, [
    at(0, { temperature: 1, mode: 'heat', stage: 10, isOn: true, level: 1.5 }),
    at(1, { temperature: 2, mode: 'heat', stage: 9, isOn: true }),
    at(2, { temperature: 3, mode: 'cool', stage: 9 }),
    at(30, { temperature: 4, mode: 'cool', stage: -1 }),
  ])
  await send(south, [
    at(0, { temperature: 100, mode: 'heat', isOn: false }),
    at(31, { temperature: 200 }),
  ])
  await send(east, [at(3, { temperature: 7, mode: '' })])
  await send(hall, [at(0, { temperature: 50, mode: 'heat' })])
  await send(shed, [at(0, { temperature: 60, device: 'probe' })])
  stranger = await newPerson(service.api)
})

type Point = Readonly<Record<string, unknown>>

function ask<Body = DataPage>(body: object): Promise<Answer<Body>> {
  const all = { fields: ['temperature'], aggregation: 'monthly', ...body }
  return service.api.withToken<Body>('POST', '/query', all)
}

/** What tells the series, the average and the count of points. */
async function averages(key: string, body: object): Promise<readonly (readonly unknown[])[]> {
  const { data } = (await ask(body)).body
  return data.map((point: Point) => [point[key], point['temperature'], point['count']])
}

describe('a query of a fleet', () => {
  test('is about the streams of its devices', async () => {
    const { data } = (await ask({ fleetId })).body
    const { north, south, east } = streams

    expect(new Set(data.map((point: Point) => point['streamId']))).toEqual(
      new Set([north, south, east]),
    )
    const berlin = await ask({ fleetId: fleetId.toUpperCase(), tags: { site: 'berlin' } })
    expect(berlin.body.data).toHaveLength(2)
    expect((await ask({ fleetId, streamIds: [streams.hall] })).body.data).toEqual([])
  })

  test('can be exported as a whole', async () => {
    const asked = { fleetId, format: 'ndjson' }
    const { body } = await service.api.withToken<{ streamIds: string[] }>('POST', '/exports', asked)
    const { north, south, east } = streams

    expect(body.streamIds).toEqual([north, south, east].toSorted())
  })

  test('answers a point for each device, by its name in the fleet', async () => {
    expect(await averages('device', { fleetId, groupBy: 'device' })).toEqual([
      ['east', 7, 1],
      ['north', 2.5, 4],
      ['south', 150, 2],
    ])
  })

  test('averages all readings that have one value of a tag', async () => {
    expect(await averages('tag', { fleetId, groupBy: 'tag:site' })).toEqual([
      ['berlin', (1 + 2 + 3 + 4 + 100 + 200) / 6, 6],
      ['paris', 7, 1],
    ])
  })

  test.each([
    [
      'mode',
      [
        [null, 200, 1],
        ['', 7, 1],
        ['cool', 3.5, 2],
        ['heat', (1 + 2 + 100) / 3, 3],
      ],
    ],
    [
      'stage',
      [
        [null, (100 + 200 + 7) / 3, 3],
        [-1, 4, 1],
        [9, 2.5, 2],
        [10, 1, 1],
      ],
    ],
    [
      'isOn',
      [
        [null, (3 + 4 + 200 + 7) / 4, 4],
        [false, 100, 1],
        [true, 1.5, 2],
      ],
    ],
  ])('averages all readings that have one value of %s', async (name, expected) => {
    expect(await averages('field', { fleetId, groupBy: `field:${name}` })).toEqual(expected)
  })

  test.each(['asc', 'desc'])('comes page by page with the cursor, %s', async (order) => {
    const all = { fleetId, groupBy: 'field:mode', aggregation: 'daily', order }
    const found: unknown[] = []
    let cursor: string | null = null
    do {
      const { body }: Answer<DataPage> = await ask({
        ...all,
        limit: 2,
        ...(cursor === null ? {} : { cursor }),
      })
      expect(body.data.length).toBeLessThanOrEqual(2)
      found.push(...body.data)
      cursor = body.nextCursor
    } while (cursor !== null)

    expect(found).toEqual((await ask(all)).body.data)
    const groups = found.map((point) => (point as Point)['field'])
    const expected = ['', 'cool', 'heat', null, 'cool']
    expect(groups).toEqual(order === 'asc' ? expected : expected.toReversed())
  })

  test('fills the gaps of each series', async () => {
    const range = { start: '2026-03-01T00:00:00Z', end: '2026-03-03T00:00:00Z' }
    const { data } = (
      await ask({ ...range, fleetId, groupBy: 'field:mode', aggregation: 'daily', fill: 'null' })
    ).body

    expect(data.map((point: Point) => [point['field'], point['temperature']])).toEqual([
      [null, null],
      ['', 7],
      ['cool', 3],
      ['heat', (1 + 2 + 100) / 3],
      [null, 200],
      ['', null],
      ['cool', 4],
      ['heat', null],
    ])
  })
})

describe('a query without a fleet', () => {
  test('takes the device of a stream from the tag `device`, and none where there is no such tag', async () => {
    expect(await averages('device', { groupBy: 'device' })).toEqual([
      [null, 60, 1],
      ['east', 7, 1],
      ['hall', 50, 1],
      ['north', 2.5, 4],
      ['south', 150, 2],
    ])
  })

  test('groups by a field what has no such field, too', async () => {
    const { hall, shed } = streams

    expect(await averages('field', { streamIds: [hall, shed], groupBy: 'field:stage' })).toEqual([
      [null, 55, 2],
    ])
  })

  test('of no stream has no points', async () => {
    const { status, body } = await ask({ tags: { site: 'rome' }, groupBy: 'field:mode' })

    expect(body.data).toEqual([])
    expect(status).toBe(200)
  })
})

describe('a fleet that the caller does not have', () => {
  test('is as unknown as any', async () => {
    const body = { fields: ['temperature'], aggregation: 'daily' }
    const answers = [
      await stranger.withToken<ErrorBody>('POST', '/query', { ...body, fleetId }),
      await ask<ErrorBody>({ fleetId: randomUUID() }),
    ]

    for (const answer of answers) {
      expect(answer.body).toMatchObject({ error: 'not_found' })
      expect(answer.status).toBe(404)
    }
  })
})

describe('a group that cannot be made', () => {
  test.each([
    [{ groupBy: 'field:pressure' }, 'groupBy'],
    [{ groupBy: 'field:' }, 'groupBy'],
    [{ groupBy: 'devices' }, 'groupBy'],
    [{ groupBy: 'field:mode', aggregation: 'window' }, 'groupBy'],
    [{ fleetId: 'north' }, 'fleetId'],
  ])('because the query says %o is 400', async (body, path) => {
    const answer = await ask<ErrorBody>({ streamIds: [streams.north], ...body })

    expect(answer.body).toMatchObject({ error: 'invalid_request' })
    expect(answer.body.details?.[0]?.path).toContain(path)
    expect(answer.status).toBe(400)
  })

  test('because a field has the key of the groups is 400, and not under a function', async () => {
    const shed = { streamIds: [streams.shed], groupBy: 'device' }
    const { status, body } = await ask<ErrorBody>({ ...shed, fields: ['device'] })

    expect(body.details?.[0]?.message).toContain('device:latest')
    expect(status).toBe(400)
    const { data } = (await ask({ ...shed, fields: ['device:latest'] })).body
    expect(data).toMatchObject([{ device: null, 'device:latest': 'probe' }])
  })

  test.each(['temperature', 'level'])('because %s is a number is 422', async (name) => {
    const { status, body } = await ask<ErrorBody>({ fleetId, groupBy: `field:${name}` })

    expect(body).toMatchObject({ error: 'unsupported_query', details: [{ path: 'groupBy' }] })
    expect(status).toBe(422)
  })

  test('because the field is of different types is 422', async () => {
    const { status, body } = await ask<ErrorBody>({ groupBy: 'field:mode' })

    expect(body).toMatchObject({ error: 'unsupported_query', details: [{ path: 'groupBy' }] })
    expect(status).toBe(422)
  })

  test('because the field has too many values is 422', async () => {
    const streamId = await newStream((await vaultOf(streams.north)) ?? '')
    await send(
      streamId,
      Array.from({ length: 1_001 }, (_, stage) => at(0, { temperature: stage, stage })),
    )
    const { status, body } = await ask<ErrorBody>({ streamIds: [streamId], groupBy: 'field:stage' })

    expect(body).toMatchObject({ error: 'too_many_points', details: [{ path: 'groupBy' }] })
    expect(status).toBe(422)
  })
})

async function vaultOf(streamId: string): Promise<string | undefined> {
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
  return body.vaultId
}
