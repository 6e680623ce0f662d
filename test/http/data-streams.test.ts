import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let vaultId: string

beforeAll(async () => {
  const { api } = service
  const template = await api.withKey<{ id: string }>('POST', '/templates', {
    name: 'boiler',
    hint: 'a boiler',
    required_streams: [],
  })
  const vault = await api.withKey<{ id: string }>('POST', '/vaults', {
    template_id: template.body.id,
    name: 'boiler 7',
  })
  vaultId = vault.body.id
})

function definition(changes: object = {}): object {
  return {
    name: 'temperature',
    vaultId,
    type: 'iot_sensor',
    source: { deviceId: 'boiler-7', protocol: 'mqtt' },
    schema: { temperature: { type: 'number', unit: 'celsius', range: [-50, 150] } },
    ...changes,
  }
}

function create<Body = ErrorBody>(body: object): Promise<Answer<Body>> {
  return service.api.withToken<Body>('POST', '/streams', body)
}

/** The paths of the details of an error, sorted. */
function paths({ body }: Answer<ErrorBody>): string[] {
  return (body.details ?? []).map(({ path }) => path).toSorted()
}

const unknownId = '00000000-0000-4000-8000-000000000000'
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

describe('POST /streams', () => {
  test('answers 201 with exactly the fields of the specification', async () => {
    const { status, body } = await create<Record<string, unknown>>(definition())

    expect(status).toBe(201)
    const streamId = String(body['streamId'])
    expect(body).toEqual({
      streamId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      name: 'temperature',
      vaultId,
      type: 'iot_sensor',
      status: 'created',
      endpoint: expect.stringMatching(new RegExp(`^http://.*/streams/${streamId}/data$`)) as string,
      createdAt: expect.stringMatching(instant) as string,
    })
  })

  test.each(['iot_sensor', 'manufacturing', 'building_systems', 'occupancy'])(
    'takes the type %s',
    async (type) => {
      expect((await create(definition({ type }))).status).toBe(201)
    },
  )

  test('takes every type of field, and what may be said of it', async () => {
    const schema = {
      temperature: { type: 'number', unit: 'celsius', range: [-50, 150], required: true },
      pressure: { type: 'number', min: 0 },
      starts: { type: 'integer', min: 0, max: 10 },
      isOn: { type: 'boolean' },
      mode: { type: 'string', enum: ['eco', 'boost'] },
      servicedAt: { type: 'datetime' },
      position: { type: 'object', fields: { x: { type: 'number' }, y: { type: 'number' } } },
      codes: { type: 'array', items: { type: 'integer' } },
    }
    const processing = { frequency: '1m', aggregation: 'average', validation: 'strict' }

    expect((await create(definition({ schema, processing }))).status).toBe(201)
  })

  test('answers 404 for a vault that one does not have', async () => {
    const answer = await create(definition({ vaultId: unknownId }))

    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ error: 'not_found', statusCode: 404 })
  })

  test('names everything that is wrong at once, with 400', async () => {
    const answer = await create({
      name: '',
      vaultId: 'boiler-7',
      type: 'sensor',
      schema: { temperature: { type: 'float' }, '9lives': { type: 'number' } },
      processing: { validation: 'loose', frequency: 'often' },
      colour: 'red',
    })

    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('invalid_request')
    expect(paths(answer)).toEqual([
      'colour',
      'name',
      'processing.frequency',
      'processing.validation',
      'schema.9lives',
      'schema.temperature.type',
      'type',
      'vaultId',
    ])
  })

  test.each([
    ['no schema', { schema: undefined }, 'schema'],
    ['an empty schema', { schema: {} }, 'schema'],
    ['raw JSON Schema', { schema: { type: 'object', properties: {} } }, 'schema.type'],
    ['a reserved name', { schema: { timestamp: { type: 'datetime' } } }, 'schema.timestamp'],
    [
      'names that differ in case only',
      { schema: { a: { type: 'number' }, A: { type: 'number' } } },
      'schema.A',
    ],
    ['a range of a text', { schema: { a: { type: 'string', range: [0, 1] } } }, 'schema.a'],
    [
      'a range turned round',
      { schema: { a: { type: 'number', range: [9, 1] } } },
      'schema.a.range',
    ],
    ['an unknown key of a field', { schema: { a: { type: 'number', max_: 1 } } }, 'schema.a.max_'],
    ['an unknown key of the source', { source: { colour: 'red' } }, 'source.colour'],
    ['a wrong time format', { source: { timestampFormat: 'unix' } }, 'source.timestampFormat'],
    ['an unknown key of processing', { processing: { filter: 'x' } }, 'processing.filter'],
  ])('refuses %s with 400, naming it', async (_, wrong, path) => {
    const answer = await create(definition(wrong))

    expect(answer.status).toBe(400)
    expect(paths(answer)).toContain(path)
  })

  test('refuses a protocol that this version has no connector for with 422', async () => {
    const answer = await create(definition({ source: { protocol: 'coap' } }))

    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ error: 'unsupported_definition', statusCode: 422 })
    expect(paths(answer)).toEqual(['source.protocol'])
  })

  test.each([
    ['source.protocol', { source: { protocol: 'coap' } }],
    ['source.clientId', { source: { clientId: 'vault' } }],
  ])('refuses %s with 422 rather than ignore it', async (path, unsupported) => {
    const answer = await create(definition(unsupported))

    expect(answer.status).toBe(422)
    expect(paths(answer)).toEqual([path])
  })

  test('refuses a body that is no object with 400', async () => {
    expect((await create([])).status).toBe(400)
  })
})

describe('GET /streams/{stream_id}/status', () => {
  test('of a new stream has every field of the specification, at nothing', async () => {
    const streamId = await service.api.createStream()

    expect(await service.api.status(streamId)).toEqual({
      streamId,
      status: 'created',
      lastDataReceived: null,
      dataPointsToday: 0,
      errorCount: 0,
      firing: { alerts: 0, severity: null },
      health: {
        status: 'healthy',
        uptime: expect.any(Number) as number,
        avgLatency: 0,
      },
      processing: { queueLength: 0, processingRate: 0, lastProcessed: null },
      counters: {
        received: 0,
        stored: 0,
        duplicates: 0,
        unchanged: 0,
        filtered: 0,
        quarantined: 0,
        discarded: 0,
        pending: 0,
      },
      deleted: 0,
      expired: 0,
      retention: { raw: null, aggregated: null, keptFrom: null },
    })
  })

  test('tells what has arrived', async () => {
    const streamId = await service.api.createStream()
    const beforeMs = Date.now()
    await service.api.withToken('POST', `/streams/${streamId}/data`, [
      { timestamp: '2026-01-01T00:00:00Z', temperature: 1 },
      { timestamp: '2026-01-01T00:00:00Z', temperature: 1 },
      { timestamp: '2026-01-01T00:00:01Z', temperature: 'hot' },
    ])
    await service.api.settled(streamId, 3)

    const status = await service.api.status(streamId)

    expect(status).toMatchObject({
      status: 'active',
      lastDataReceived: expect.stringMatching(instant) as string,
      dataPointsToday: 3,
      errorCount: 1,
      health: { status: 'healthy' },
      processing: { queueLength: 0, lastProcessed: expect.stringMatching(instant) as string },
      counters: { received: 3, stored: 1, duplicates: 1, quarantined: 1, pending: 0 },
    })
    const lastMs = Date.parse(String(status['lastDataReceived']))
    expect(Math.abs(lastMs - beforeMs)).toBeLessThan(10_000)
    const { avgLatency } = status['health'] as { avgLatency: number }
    expect(avgLatency).toBeGreaterThan(0)
    expect(avgLatency).toBeLessThan(30_000)
    const { processingRate } = status['processing'] as { processingRate: number }
    expect(processingRate).toBeGreaterThan(0)
  })

  test.each([unknownId, 'boiler-7'])('is 404 for the stream %s', async (id) => {
    const { status, body } = await service.api.withToken('GET', `/streams/${id}/status`)

    expect(status).toBe(404)
    expect(body).toMatchObject({ error: 'not_found' })
  })
})
