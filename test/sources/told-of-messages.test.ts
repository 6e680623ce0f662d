import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { InboundWebhook } from '../support/inbound-webhook.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { SsePeer } from '../support/sse-peer.ts'
import { ToldStream, toldPayloads } from '../support/told-messages.ts'
import { senders } from '../support/webhook-senders.ts'

const [brokerPort, peerPort] = [await freePort(), await freePort()]
const broker = await Mosquitto.start([], brokerPort)
const peer = await SsePeer.start(peerPort)
const allowed = [brokerPort, peerPort].map((port) => `127.0.0.1:${port}`).join(',')
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: allowed })
const connect = mqttClients(() => service.process.mqttPort)

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
  await peer[Symbol.asyncDispose]()
})

const text = (from: string) => ({ type: 'string', from })

/** Sends what a device has to say over HTTP. */
async function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  return await service.api.withToken('POST', path, body, headers)
}

describe('a request over HTTP', () => {
  test('tells its headers and parameters, and no credentials', async () => {
    const stream = await ToldStream.make(service.api, {
      device: text("$header['X-Device']"),
      site: text("$query['site']"),
    })
    const path = `/streams/${stream.id}/data?site=north&token=hidden`
    for (const payload of toldPayloads) {
      await post(path, payload, { 'x-device': 'b7', 'x-auth-token': 'hidden' })
    }
    await service.api.settled(stream.id, 2)
    using state = new DatabaseSync(join(service.process.dataDir, 'state.db'), { readOnly: true })
    const kept = state.prepare('SELECT context FROM quarantine').all()
    expect(JSON.stringify(kept)).toContain('north')
    expect(JSON.stringify(kept)).not.toContain('hidden')
    await stream.has({ device: 'b7', site: 'north' })
  })

  test('has no parameters where the stream reads none', async () => {
    const streamId = await service.api.createStream()
    for (const path of [`/streams/${streamId}/data`, `/streams/${streamId}/validate`]) {
      expect(await post(`${path}?site=north`, '{"temperature":1}')).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', details: [{ path: 'site' }] },
      })
    }
  })

  test('is validated with what it tells', async () => {
    const streamId = await service.api.createStream({
      site: { type: 'string', from: '$query.site' },
    })
    const path = `/streams/${streamId}/validate?site=north`
    expect(await post(path, '{}')).toMatchObject({
      status: 200,
      body: { accepted: 1, readings: [{ values: { site: 'north' } }] },
    })
  })
})

describe('readings of several streams in one request', () => {
  const items = { path: 'rows' }
  const mapped = {
    device: text('$parent.device'),
    by: text('$header.x-by'),
    level: { type: 'number' },
  }

  test('are found in the elements of those that have a mapping', async () => {
    const flat = await service.api.createStream({ level: { type: 'number' } })
    const streamId = await service.api.createStream(mapped, {
      source: { items },
      processing: { validation: 'strict' },
    })
    const body = [
      { streamId, device: 'a', rows: [{ level: 1 }, { level: 'none' }, { level: 3 }] },
      { streamId: flat, level: 7 },
      { streamId, device: 'b' },
      { streamId, device: 'c', rows: [{ level: 4 }] },
    ]
    const answer = await post('/data', JSON.stringify(body), { 'x-by': 'gateway' })
    expect(answer).toMatchObject({
      status: 202,
      body: {
        accepted: 4,
        rejected: [
          { index: 0, error: 'schema_mismatch' },
          { index: 2, error: 'mapping_failed' },
        ],
      },
    })
    expect(await service.api.settled(streamId, 5)).toMatchObject({ stored: 3, quarantined: 2 })
    expect(await service.api.settled(flat, 1)).toMatchObject({ stored: 1 })
    const readings = await service.api.readAll(streamId)
    expect(new Set(readings.map(({ timestamp }) => timestamp)).size).toBe(3)
    const found = readings.map(({ device, by, level }) => [device, by, level])
    expect(found).toEqual(
      expect.arrayContaining([
        ['a', 'gateway', 1],
        ['a', 'gateway', 3],
        ['c', 'gateway', 4],
      ]),
    )

    const source = { items: { path: 'rows' } }
    const schema = { ...mapped, level: { type: 'string' } }
    await service.api.withToken('PUT', `/streams/${streamId}`, { source, schema })
    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
    await expect
      .poll(async () => (await service.api.status(streamId)).counters)
      .toMatchObject({ stored: 4, quarantined: 1 })
    expect(await service.api.readAll(streamId)).toContainEqual(
      expect.objectContaining({ device: 'a', by: 'gateway', level: 'none' }),
    )
  })

  test('are passed on as elements, however many readings one holds', async () => {
    const streamId = await service.api.createStream(mapped, { source: { items } })
    const listener = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    await listener.subscribe(`streams/${streamId}/data`, 1)
    const elements = [1, 2].map((device) => {
      return { streamId, device: `${device}`, rows: [{ level: 1 }, { level: 2 }] }
    })
    await post('/data', JSON.stringify(elements))
    await expect.poll(() => listener.messages.length).toBe(2)
    expect(listener.messages.map(({ payload }) => JSON.parse(payload) as unknown)).toEqual(elements)
  })

  test('hold 10,000 readings at most together', async () => {
    const streamId = await service.api.createStream(mapped, { source: { items } })
    const rows = Array.from({ length: 6_000 }, (_, level) => ({ level }))
    const body = JSON.stringify([
      { streamId, rows },
      { streamId, rows },
    ])
    expect(await post('/data', body)).toMatchObject({
      status: 202,
      body: { accepted: 6_000, rejected: [{ index: 1, error: 'mapping_failed' }] },
    })
  })
})

test('a webhook tells headers but its proof, parameters and the type of its event', async () => {
  const fields = {
    delivery: text('$header.x-request-by'),
    proof: { type: 'string', from: '$header.x-hub-signature-256' },
    event: text('$event'),
    site: text('$query.site'),
    level: { type: 'number' },
  }
  const refused = await InboundWebhook.open(service.api, senders.github, { schema: fields }).catch(
    (error: Error) => error.message,
  )
  expect(refused).toContain('schema.proof.from')
  const { proof: _, ...schema } = fields
  const hook = await InboundWebhook.open(service.api, senders.github, { schema })
  const body = '{"level":1}'
  const headers = {
    ...senders.github.headers({ body, secret: senders.github.secret, id: '1', timestamp: 0 }),
    'content-type': 'application/json',
    'x-request-by': 'plant',
  }
  await service.api.request('POST', `${hook.path}?site=north`, { headers, body })
  await service.api.settled(hook.streamId, 1)
  expect(await service.api.readAll(hook.streamId)).toMatchObject([
    { level: 1, delivery: 'plant', event: 'push', site: 'north' },
  ])
})

describe('a message of MQTT', () => {
  const fields = { plant: text('$topic[1]'), last: text('$topic[-1]'), whole: text('$topic') }
  const told = { plant: '7', last: 'boiler', whole: 'plants/7/boiler' }

  test('at our own broker tells its topic', async () => {
    const stream = await ToldStream.make(service.api, fields, {
      source: { topic: 'plants/+/boiler' },
    })
    const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    for (const payload of toldPayloads) {
      await mqtt.publishAsync('plants/7/boiler', payload, { qos: 1 })
    }
    await stream.has(told)
  })

  test('at another broker tells its topic and its user properties', async () => {
    const more = { ...fields, site: text('$header.site') }
    const source = { endpoint: broker.endpoint, topic: 'plants/+/boiler' }
    const stream = await ToldStream.make(service.api, more, { source })
    await stream.reached()
    const client = await broker.client({ protocolVersion: 5 })
    for (const payload of toldPayloads) {
      const properties = { userProperties: { Site: 'north' } }
      await client.publishAsync('plants/7/boiler', payload, { qos: 1, properties })
    }
    await stream.has({ ...told, site: 'north' })
  })
})

test('an event of a server tells what it is called', async () => {
  const stream = await ToldStream.make(
    service.api,
    { kind: text('$event') },
    { type: 'event_stream', source: peer.source },
  )
  await stream.reached()
  await peer.publish(
    toldPayloads.map((payload) => Buffer.from(payload)),
    'measured',
  )
  await stream.has({ kind: 'measured' })
})
