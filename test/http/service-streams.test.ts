import { connectAsync } from 'mqtt'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let ada: Person
let templateId: string
let vaultId: string

interface Made {
  readonly id: string
  readonly streamId: string
  readonly apiKey: string
}

/** Does something as Ada, with success. */
async function done<Body = Made>(method: string, path: string, body?: unknown): Promise<Body> {
  const isBearer = path.startsWith('/streams')
  const answer = await ada[isBearer ? 'withToken' : 'withKey']<Body>(method, path, body)
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** Does something as Ada with her key, with success. */
async function byKey(method: string, path: string, body?: object): Promise<Made> {
  const answer = await ada.withKey<Made>(method, path, body)
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

async function newServiceStream(rest: object = {}): Promise<string> {
  const body = { name: 'changes', vaultId, type: 'service', ...rest }
  return (await done('POST', '/streams', body)).streamId
}

async function newSensor(name = 'temperature'): Promise<string> {
  const schema = { temperature: { type: 'number' } }
  const body = { name, vaultId, type: 'iot_sensor', schema }
  return (await done('POST', '/streams', body)).streamId
}

interface Told {
  readonly event: string
  readonly resourceId: string
  readonly [field: string]: unknown
}

/** What a stream was told, once it is that much. */
async function told(streamId: string, atLeast: number): Promise<readonly Told[]> {
  const path = `/streams/${streamId}/data?limit=10000`
  for (;;) {
    const { data } = await done<{ data: readonly Told[] }>('GET', path)
    if (data.length >= atLeast) return data
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The events without their times. */
async function events(streamId: string, atLeast: number): Promise<readonly (readonly string[])[]> {
  return (await told(streamId, atLeast)).map(({ event, resourceId }) => [event, resourceId])
}

beforeEach(async () => {
  ada = await newPerson(service.api)
  const template = { name: 'boiler', hint: 'a boiler', required_streams: [] }
  templateId = (await done('POST', '/templates', template)).id
  vaultId = (await done('POST', '/vaults', { template_id: templateId, name: 'boiler 7' })).id
})

describe('a stream of the type service', () => {
  test('begins with its own creation, and tells what, when, and by which key', async () => {
    const before = new Date().toISOString()
    const streamId = await newServiceStream()

    const [first, ...rest] = await told(streamId, 1)

    expect(rest).toEqual([])
    expect(first).toEqual({
      timestamp: expect.any(String),
      event: 'stream.created',
      resourceType: 'stream',
      resourceId: streamId,
      name: 'changes',
      apiKeyId: ada.key.apiKey,
    })
    expect(String(first?.['timestamp']) >= before.slice(0, -1)).toBe(true)
  })

  test('is told every change of the resources of its owner, in order and once', async () => {
    const streamId = await newServiceStream()

    const sensor = await newSensor()
    await done('PUT', `/streams/${sensor}`, { name: 'heat' })
    await done('PUT', `/streams/${sensor}`, { name: 'heat' })
    for (const action of ['pause', 'pause', 'resume', 'resume']) {
      await done('POST', `/streams/${sensor}/${action}`)
    }
    await done('DELETE', `/streams/${sensor}`)
    const shared = { vaultId, type: 'iot_sensor', schema: { level: { type: 'number' } } }
    const streams = [{ name: 'a' }, { name: 'b' }]
    const bulk = { definition: shared, streams }
    const { streamIds } = await done<{ streamIds: string[] }>('POST', '/streams/bulk', bulk)
    const template = (
      await done('POST', '/templates', { name: 'pump', hint: '', required_streams: [] })
    ).id
    await done('PUT', `/templates/${template}`, { name: 'old pump' })
    const vault = (await done('POST', '/vaults', { template_id: template, name: 'pump 1' })).id
    await done('PUT', `/vaults/${vault}`, { name: 'pump 2' })
    await done('DELETE', `/vaults/${vault}`)
    await done('DELETE', `/templates/${template}`)
    const wanted = { name: 'gateway', kind: 'test', permission: 'read_only' }
    const key = (await done('POST', '/keys', wanted)).apiKey
    await done('POST', `/keys/${key}/rotate`)
    await done('DELETE', `/keys/${key}`)

    const expected = [
      ['stream.created', streamId, 'changes'],
      ['stream.created', sensor, 'temperature'],
      ['stream.updated', sensor, 'heat'],
      ['stream.paused', sensor, 'heat'],
      ['stream.resumed', sensor, 'heat'],
      ['stream.deleted', sensor, 'heat'],
      ['stream.created', streamIds[0], 'a'],
      ['stream.created', streamIds[1], 'b'],
      ['template.created', template, 'pump'],
      ['template.updated', template, 'old pump'],
      ['vault.created', vault, 'pump 1'],
      ['vault.updated', vault, 'pump 2'],
      ['vault.deleted', vault, 'pump 2'],
      ['template.deleted', template, 'old pump'],
      ['key.created', key, 'gateway'],
      ['key.rotated', key, 'gateway'],
      ['key.revoked', key, 'gateway'],
    ]
    const found = await told(streamId, expected.length)
    expect(found.map(({ event, resourceId, name }) => [event, resourceId, name])).toEqual(expected)
    const { counters } = await done<{ counters: object }>('GET', `/streams/${streamId}/status`)
    const none = { duplicates: 0, unchanged: 0, filtered: 0, quarantined: 0, pending: 0 }
    const { length } = expected
    expect(counters).toMatchObject({ received: length, stored: length, discarded: 0, ...none })
  })

  test('is told of asset streams as of another kind of resource', async () => {
    const streamId = await newServiceStream()
    const { id } = await byKey('POST', '/streams', { asset_code: 'GOLD', description: null })
    await byKey('PUT', `/streams/${id}`, { description: 'bars' })
    await byKey('PUT', `/streams/${id}`, {})
    await byKey('PUT', `/streams/${id}`, { description: 'bars' })
    await byKey('DELETE', `/streams/${id}`)
    const sensor = await newSensor()

    const found = await told(streamId, 5)
    const about = { resourceType: 'asset_stream', resourceId: id, name: 'GOLD' }
    expect(found.slice(1)).toMatchObject([
      { event: 'asset_stream.created', ...about },
      { event: 'asset_stream.updated', ...about },
      { event: 'asset_stream.deleted', ...about },
      { event: 'stream.created', resourceType: 'stream', resourceId: sensor },
    ])
  })

  test('is not told of changes that did not come about', async () => {
    const streamId = await newServiceStream()

    expect((await ada.withKey('DELETE', `/vaults/${vaultId}`)).status).toBe(409)
    expect((await ada.withKey('DELETE', `/templates/${templateId}`)).status).toBe(409)
    const sensor = await newSensor()

    expect(await events(streamId, 2)).toEqual([
      ['stream.created', streamId],
      ['stream.created', sensor],
    ])
  })

  test('is told nothing of what others do', async () => {
    const streamId = await newServiceStream()
    const [mine, bob] = [ada, await newPerson(service.api)]
    await bob.withKey('POST', '/templates', { name: 'x', hint: '', required_streams: [] })
    ada = mine
    const sensor = await newSensor()

    expect(await events(streamId, 2)).toEqual([
      ['stream.created', streamId],
      ['stream.created', sensor],
    ])
  })

  test('is told by each of several, whole and apart', async () => {
    const [first, second] = [await newServiceStream(), await newServiceStream()]
    const sensor = await newSensor()

    expect(await events(first, 3)).toEqual([
      ['stream.created', first],
      ['stream.created', second],
      ['stream.created', sensor],
    ])
    expect(await events(second, 2)).toEqual([
      ['stream.created', second],
      ['stream.created', sensor],
    ])
  })

  test('is told nothing but what happens to itself while it is paused', async () => {
    const streamId = await newServiceStream()
    await done('POST', `/streams/${streamId}/pause`)
    await newSensor()
    await done('PUT', `/streams/${streamId}`, { name: 'all changes' })
    await done('POST', `/streams/${streamId}/resume`)
    const after = await newSensor()

    expect(await events(streamId, 5)).toEqual([
      ['stream.created', streamId],
      ['stream.paused', streamId],
      ['stream.updated', streamId],
      ['stream.resumed', streamId],
      ['stream.created', after],
    ])
  })

  test('is told once of a change that an Idempotency-Key repeats', async () => {
    const streamId = await newServiceStream()
    const body = { name: 'pump', hint: '', required_streams: [] }
    const answers = []
    for (let times = 0; times < 3; times++) {
      answers.push(
        await ada.withKey<Made>('POST', '/templates', body, { 'idempotency-key': 'once' }),
      )
    }
    const sensor = await newSensor()

    expect(await events(streamId, 3)).toEqual([
      ['stream.created', streamId],
      ['template.created', answers[0]?.body.id],
      ['stream.created', sensor],
    ])
  })

  test('ends like any other, with what it was not told yet', async () => {
    const [kept, gone] = [await newServiceStream(), await newServiceStream()]
    await newSensor()

    await done('DELETE', `/streams/${gone}`)

    expect((await events(kept, 4)).at(-1)).toEqual(['stream.deleted', gone])
    expect((await ada.withToken('GET', `/streams/${gone}/data`)).status).toBe(404)
  })

  test('can be one of many that are made at once, and at most ten', async () => {
    const definition = { vaultId, type: 'service' }
    const bulk = (count: number) => ({
      definition,
      streams: Array.from({ length: count }, (_, index) => ({ name: `changes ${index}` })),
    })

    const tooMany = await ada.withToken<ErrorBody>('POST', '/streams/bulk', bulk(11))
    const { streamIds } = await done<{ streamIds: string[] }>('POST', '/streams/bulk', bulk(10))
    const another = await ada.withToken<ErrorBody>('POST', '/streams', { name: 'x', ...definition })

    for (const { status, body } of [tooMany, another]) {
      expect([status, body.error]).toEqual([409, 'conflict'])
      expect(body.message).toContain('10 streams of the type service')
    }
    expect(await events(streamIds[9] ?? '', 1)).toEqual([['stream.created', streamIds[9]]])
  })
})

describe('nobody but the service writes into it', () => {
  const reading = { event: 'vault.created', resourceType: 'vault', resourceId: 'x', name: 'x' }

  test.each(['data', 'validate'])('over HTTP: %s', async (place) => {
    const streamId = await newServiceStream()

    const path = `/streams/${streamId}/${place}`
    const { status, body } = await ada.withToken<ErrorBody>('POST', path, reading)

    expect([status, body.error]).toEqual([409, 'conflict'])
  })

  test('over MQTT', async () => {
    const streamId = await newServiceStream()
    const { mqttPort } = service.process
    const credentials = { username: ada.key.apiKey, password: ada.key.apiSecret }
    const client = await connectAsync(`mqtt://127.0.0.1:${mqttPort}`, credentials)

    await client.publishAsync(`streams/${streamId}/data`, JSON.stringify(reading), { qos: 1 })
    await client.endAsync()
    await newSensor()

    await events(streamId, 2)
    const { counters } = await done<{ counters: object }>('GET', `/streams/${streamId}/status`)
    expect(counters).toMatchObject({ received: 2, stored: 2 })
  })

  test('among others, which are taken', async () => {
    const [streamId, sensor] = [await newServiceStream(), await newSensor()]

    const { status, body } = await ada.withToken('POST', '/data', [
      { streamId, ...reading },
      { streamId: sensor, temperature: 20 },
    ])

    expect(status).toBe(202)
    expect(body).toMatchObject({ accepted: 1, rejected: [{ index: 0, error: 'conflict' }] })
    await events(streamId, 2)
    const { counters } = await done<{ counters: object }>('GET', `/streams/${streamId}/status`)
    expect(counters).toMatchObject({ received: 2, quarantined: 0 })
  })
})
