import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { afterEach, describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { packetTypes } from '../support/mqtt-bytes.ts'
import { type ConnectFields, connectPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()
const clients: MqttClient[] = []

async function device(options: IClientOptions = {}): Promise<MqttClient> {
  const client = await connectAsync({
    host: '127.0.0.1',
    port: service.process.mqttPort,
    username: adminKey,
    password: adminSecret,
    reconnectPeriod: 0,
    ...options,
  })
  clients.push(client)
  return client
}

afterEach(() => {
  for (const client of clients.splice(0)) client.end(true)
})

const unknownStream = '00000000-0000-4000-8000-000000000000'

function topicOf(streamId: string): string {
  return `streams/${streamId}/data`
}

function readingAt(second: number): string {
  const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  return JSON.stringify({ timestamp, temperature: second })
}

interface QuarantinePage {
  readonly entries: readonly Readonly<Record<string, unknown>>[]
}

async function quarantine(streamId: string): Promise<QuarantinePage['entries']> {
  const path = `/streams/${streamId}/quarantine`
  return (await service.api.withToken<QuarantinePage>('GET', path)).body.entries
}

describe('publishing', () => {
  test.each([0, 1, 2] as const)('with QoS %i is stored once', async (qos) => {
    const streamId = await service.api.createStream()
    const client = await device()

    await client.publishAsync(topicOf(streamId), readingAt(1), { qos })

    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, stored: 1 })
    expect(await service.api.readAll(streamId)).toEqual([
      { timestamp: '2026-01-01T00:00:01.000000Z', temperature: 1 },
    ])
  })

  test('an array stores each of its readings', async () => {
    const streamId = await service.api.createStream()
    const client = await device()

    const payload = `[${readingAt(1)}, ${readingAt(2)}, ${readingAt(3)}]`
    await client.publishAsync(topicOf(streamId), payload, { qos: 1 })

    expect(await service.api.settled(streamId, 3)).toMatchObject({ received: 3, stored: 3 })
  })

  test('a reading without a timestamp gets the time of receipt', async () => {
    const streamId = await service.api.createStream()
    const client = await device()

    const beforeMs = Date.now()
    await client.publishAsync(topicOf(streamId), '{"temperature":1}', { qos: 1 })

    await service.api.settled(streamId, 1)
    const [point] = await service.api.readAll(streamId)
    const storedMs = Date.parse(String(point?.['timestamp']))
    expect(Math.abs(storedMs - beforeMs)).toBeLessThan(10_000)
  })

  test('with the retain flag is stored like any other', async () => {
    const streamId = await service.api.createStream()
    const client = await device()

    await client.publishAsync(topicOf(streamId), readingAt(1), { qos: 1, retain: true })

    expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 1 })
  })

  test('the will of a device that vanishes is stored', async () => {
    const streamId = await service.api.createStream()
    const connection = await RawMqttConnection.open(service.process.mqttPort)
    const will = { topic: topicOf(streamId), payload: readingAt(9) }
    connection.send(connectPacket({ clientId: 'mortal', will }))
    await connection.next()

    connection.destroy()

    expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 1 })
  })

  test('a will is not stored after a proper goodbye', async () => {
    const streamId = await service.api.createStream()
    const leaving = await device({
      will: { topic: topicOf(streamId), payload: Buffer.from(readingAt(9)), qos: 1, retain: false },
    })
    await leaving.endAsync()
    const client = await device()

    await client.publishAsync(topicOf(streamId), readingAt(1), { qos: 1 })

    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, stored: 1 })
  })
})

describe('what does not fit', () => {
  test('a malformed payload is quarantined with its bytes and where it came from', async () => {
    const streamId = await service.api.createStream()
    const client = await device({ clientId: 'boiler-7' })

    await client.publishAsync(topicOf(streamId), '{"temperature": 21', { qos: 1 })

    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, quarantined: 1 })
    expect(await quarantine(streamId)).toMatchObject([
      { reason: 'malformed', payload: '{"temperature": 21', encoding: 'utf8', timestamp: null },
    ])
    const [entry] = await quarantine(streamId)
    expect(entry?.['source']).toMatch(/mqtt.*boiler-7.*127\.0\.0\.1/)
  })

  test('a payload that is no text is quarantined in base64', async () => {
    const streamId = await service.api.createStream()
    const client = await device()
    const payload = Buffer.from([0xff, 0xfe, 0x00, 0x80])

    await client.publishAsync(topicOf(streamId), payload, { qos: 1 })

    await service.api.settled(streamId, 1)
    expect(await quarantine(streamId)).toMatchObject([
      { reason: 'malformed', payload: payload.toString('base64'), encoding: 'base64' },
    ])
  })

  test.each([
    ['an empty payload', ''],
    ['an empty array', '[]'],
    ['a bare number', '21.5'],
  ])('%s is quarantined as malformed', async (_, payload) => {
    const streamId = await service.api.createStream()
    const client = await device()

    await client.publishAsync(topicOf(streamId), payload, { qos: 1 })

    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, quarantined: 1 })
    expect(await quarantine(streamId)).toMatchObject([{ reason: 'malformed', payload }])
  })

  test('a bad reading of an array is quarantined alone, as it was written', async () => {
    const streamId = await service.api.createStream()
    const client = await device()

    const bad = '{ "temperature" : "hot" }'
    const payload = `[${readingAt(1)}, ${bad} ,${readingAt(2)}]`
    await client.publishAsync(topicOf(streamId), payload, { qos: 1 })

    const counters = await service.api.settled(streamId, 3)
    expect(counters).toMatchObject({ received: 3, stored: 2, quarantined: 1 })
    expect(await quarantine(streamId)).toMatchObject([{ reason: 'schema_mismatch', payload: bad }])
  })

  test.each([
    ['an unknown stream', topicOf(unknownStream)],
    ['no stream at all', 'streams/boiler/data'],
    ['another topic', 'factory/hall-3'],
  ])('a publish to %s is acknowledged, dropped and counted', async (_, topic) => {
    const client = await device()
    const droppedBefore = await metricOf(service.process, 'mqtt_dropped_total')

    await client.publishAsync(topic, readingAt(1), { qos: 1 })

    expect(client.connected).toBe(true)
    expect(await metricOf(service.process, 'mqtt_dropped_total')).toBe(droppedBefore + 1)
  })
})

/** The return code of the CONNACK; any but 0 must be followed by the end of the connection. */
async function returnCode(fields: ConnectFields): Promise<number> {
  const connection = await RawMqttConnection.open(service.process.mqttPort)
  connection.send(connectPacket(fields))
  const [connack] = await connection.next()
  expect(connack?.type).toBe(packetTypes.connack)
  const code = connack?.body[1] ?? -1
  if (code !== 0) await connection.closed
  connection.destroy()
  return code
}

describe('connecting', () => {
  test('with the right key and secret is answered 0', async () => {
    expect(await returnCode({ clientId: 'good' })).toBe(0)
  })

  test('with a wrong secret is answered 4', async () => {
    expect(await returnCode({ clientId: 'bad', password: 'wrong' })).toBe(4)
  })

  test('with an unknown key is answered 4', async () => {
    expect(await returnCode({ clientId: 'bad', username: 'sv_test_nobody' })).toBe(4)
  })

  test('without a client id is fine with a clean session', async () => {
    expect(await returnCode({ clientId: '' })).toBe(0)
  })

  test('without a client id and a clean session is answered 2 [MQTT-3.1.3-8]', async () => {
    expect(await returnCode({ clientId: '', isClean: false })).toBe(2)
  })

  test('with a client id that is in use closes the older connection [MQTT-3.1.4-2]', async () => {
    const older = await RawMqttConnection.open(service.process.mqttPort)
    older.send(connectPacket({ clientId: 'twin' }))
    await older.next()

    expect(await returnCode({ clientId: 'twin' })).toBe(0)

    await older.closed
  })
})
