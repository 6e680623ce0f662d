import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

const unknownId = '00000000-0000-4000-8000-000000000000'

interface Definition {
  readonly version: number
  readonly schema: Readonly<Record<string, object>>
  readonly [key: string]: unknown
}

interface Versions {
  readonly versions: readonly Definition[]
  readonly nextCursor: number | null
}

function change<Body = Definition>(streamId: string, body: unknown): Promise<Answer<Body>> {
  return service.api.withToken<Body>('PUT', `/streams/${streamId}`, body)
}

async function read(streamId: string): Promise<Definition> {
  return (await service.api.withToken<Definition>('GET', `/streams/${streamId}`)).body
}

function push(streamId: string, reading: object): Promise<Answer<{ error?: string }>> {
  return service.api.withToken('POST', `/streams/${streamId}/data`, reading)
}

function versionsOf(streamId: string, query = ''): Promise<Answer<Versions>> {
  return service.api.withToken('GET', `/streams/${streamId}/versions${query}`)
}

function act(
  streamId: string,
  action: 'pause' | 'resume',
): Promise<Answer<{ readonly status: string }>> {
  return service.api.withToken('POST', `/streams/${streamId}/${action}`)
}

describe('PUT /streams/{stream_id}', () => {
  test('changes what is sent, keeps the rest, and answers the next version', async () => {
    const streamId = await service.api.createStream(undefined, {
      processing: { frequency: '1m', validation: 'strict' },
    })
    const before = await read(streamId)

    const { status, body } = await change(streamId, {
      name: 'heat',
      tags: { site: 'berlin' },
      schema: { pressure: { type: 'number', range: [0, 10] } },
      processing: { frequency: null },
    })

    expect(status).toBe(200)
    expect(body).toEqual({
      ...before,
      name: 'heat',
      tags: { site: 'berlin' },
      schema: { ...before.schema, pressure: { type: 'number', min: 0, max: 10 } },
      processing: { validation: 'strict' },
      version: 2,
    })
    expect(await read(streamId)).toEqual(body)
  })

  test('that says what is there already makes no version', async () => {
    const streamId = await service.api.createStream({ level: { type: 'number', range: [0, 9] } })
    const before = await read(streamId)

    expect((await change(streamId, {})).body).toEqual(before)
    expect((await change(streamId, { schema: before.schema })).body).toEqual(before)
    expect(
      (await change(streamId, { vaultId: before['vaultId'], type: before['type'] })).body,
    ).toEqual(before)
    expect((await versionsOf(streamId)).body.versions).toHaveLength(1)
  })

  test('refuses what the definition would not be right with, and changes nothing', async () => {
    const streamId = await service.api.createStream()
    const before = await read(streamId)

    const answer = await change<ErrorBody>(streamId, {
      schema: { temperature: { type: 'float' } },
      tags: { site: 7 },
      colour: 'red',
    })

    expect(answer.status).toBe(400)
    expect(answer.body.details?.map(({ path }) => path).toSorted()).toEqual([
      'colour',
      'schema.temperature.type',
      'tags.site',
    ])
    expect(await read(streamId)).toEqual(before)
  })

  test.each([
    [{ type: 'occupancy' }, 'type'],
    [{ vaultId: unknownId }, 'vaultId'],
    [{ schema: { temperature: null } }, 'schema'],
    [{ name: null }, 'name'],
    [[], ''],
  ])('refuses %j with 400, naming it', async (body, path) => {
    const answer = await change<ErrorBody>(await service.api.createStream(), body)

    expect(answer.status).toBe(400)
    expect(answer.body.details?.map((detail) => detail.path)).toEqual([path])
  })

  test('refuses with 422 what this version cannot do', async () => {
    const answer = await change<ErrorBody>(await service.api.createStream(), {
      source: { protocol: 'coap' },
    })

    expect(answer.status).toBe(422)
    expect(answer.body.error).toBe('unsupported_definition')
  })

  test('of many at once loses none', async () => {
    const streamId = await service.api.createStream()
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`)

    const answers = await Promise.all(
      names.map((name) => change(streamId, { schema: { [name]: { type: 'number' } } })),
    )

    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
    const { version, schema } = await read(streamId)
    expect(version).toBe(21)
    expect(Object.keys(schema).toSorted()).toEqual([...names, 'temperature'].toSorted())
    const versions = answers.map(({ body }) => body.version)
    expect(new Set(versions).size).toBe(20)
  })

  test('is what the next reading is judged by, again and again', async () => {
    const streamId = await service.api.createStream({ level: { type: 'number' } })
    const verdicts: number[] = []
    for (const type of ['string', 'number', 'string', 'number']) {
      await change(streamId, { schema: { level: { type } } })
      verdicts.push((await push(streamId, { level: 1 })).status)
    }

    expect(verdicts).toEqual([422, 202, 422, 202])
    expect(await service.api.settled(streamId, 4)).toMatchObject({ stored: 2, quarantined: 2 })
  })

  test('keeps readable what came under the version before', async () => {
    const streamId = await service.api.createStream({ level: { type: 'number' } })
    await push(streamId, { timestamp: '2026-03-01T00:00:00Z', level: 1 })
    await change(streamId, { schema: { level: { type: 'string' }, depth: { type: 'number' } } })
    await push(streamId, { timestamp: '2026-03-01T00:00:01Z', level: 'high', depth: 3 })
    await service.api.settled(streamId, 2)

    expect(await service.api.readAll(streamId)).toEqual([
      { timestamp: '2026-03-01T00:00:00.000000Z', level: 1 },
      { timestamp: '2026-03-01T00:00:01.000000Z', level: 'high', depth: 3 },
    ])
  })

  test('is 404 for an unknown stream', async () => {
    expect((await change(unknownId, { name: 'x' })).status).toBe(404)
  })
})

describe('GET /streams/{stream_id}/versions', () => {
  test('answers each version as it was, newest first, page by page', async () => {
    const streamId = await service.api.createStream({ level: { type: 'number' } })
    await change(streamId, { name: 'second' })
    await change(streamId, { tags: { site: 'berlin' }, schema: { depth: { type: 'number' } } })

    const first = (await versionsOf(streamId, '?limit=2')).body
    const second = (await versionsOf(streamId, `?limit=2&cursor=${first.nextCursor}`)).body

    expect(second.nextCursor).toBeNull()
    const versions = [...first.versions, ...second.versions]
    expect(versions).toMatchObject([
      { version: 3, name: 'second', tags: { site: 'berlin' } },
      { version: 2, name: 'second', tags: {}, schema: { level: { type: 'number' } } },
      { version: 1, name: 'temperature', tags: {}, source: {}, processing: {} },
    ])
    expect(versions[0]?.schema).toHaveProperty('depth')
    expect(versions.every((version) => version['createdBy'] === 'sv_test_admin')).toBe(true)
  })
})

describe('pausing a stream', () => {
  test('refuses the next reading over HTTP, which is not received, until it is resumed', async () => {
    const streamId = await service.api.createStream()
    await push(streamId, { temperature: 1 })

    const paused = await act(streamId, 'pause')
    const refused = await push(streamId, { temperature: 2 })
    const resumed = await act(streamId, 'resume')
    const taken = await push(streamId, { temperature: 3 })

    expect([paused.status, paused.body.status]).toEqual([200, 'paused'])
    expect([refused.status, refused.body.error]).toEqual([409, 'stream_paused'])
    expect([resumed.status, resumed.body.status]).toEqual([200, 'active'])
    expect(taken.status).toBe(202)
    expect(await service.api.settled(streamId, 2)).toMatchObject({ received: 2, stored: 2 })
  })

  test('keeps what comes over MQTT in the quarantine, and it was received', async () => {
    const streamId = await service.api.createStream()
    const client = await connectAsync(`mqtt://127.0.0.1:${service.process.mqttPort}`, {
      username: adminKey,
      password: adminSecret,
    })
    const publish = (reading: object) =>
      client.publishAsync(`streams/${streamId}/data`, JSON.stringify(reading), { qos: 1 })
    await publish({ temperature: 1 })
    await act(streamId, 'pause')
    await publish({ temperature: 2 })
    await act(streamId, 'resume')
    await publish({ temperature: 3 })
    await client.endAsync()

    const expected = { received: 3, stored: 2, quarantined: 1 }
    expect(await service.api.settled(streamId, 3)).toMatchObject(expected)
    const { body } = await service.api.withToken('GET', `/streams/${streamId}/quarantine`)
    expect(body).toMatchObject({
      entries: [{ reason: 'stream_paused', payload: '{"temperature":2}' }],
    })
  })

  test('can be asked for again, and shows in status, list and definition', async () => {
    const streamId = await service.api.createStream()
    await act(streamId, 'resume')
    await act(streamId, 'pause')

    const again = await act(streamId, 'pause')

    expect(again.body.status).toBe('paused')
    expect((await service.api.status(streamId)).status).toBe('paused')
    expect((await read(streamId))['status']).toBe('paused')
    const list = await service.api.withToken<Definition[]>('GET', '/streams?limit=1000')
    expect(list.body.find((one) => one['streamId'] === streamId)).toMatchObject({
      status: 'paused',
    })
  })

  test('makes no version', async () => {
    const streamId = await service.api.createStream()
    await act(streamId, 'pause')

    expect((await read(streamId)).version).toBe(1)
  })

  test.each(['pause', 'resume'] as const)('%s is 404 for an unknown stream', async (action) => {
    expect((await act(unknownId, action)).status).toBe(404)
  })
})
