import { describe, expect, test } from 'vitest'
import { asDevice, newDevice } from '../support/devices.ts'
import { metricOf } from '../support/metrics.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, received, streamOf, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const topic = 'tele/plug/SENSOR'

/** Somebody whose client has sent messages to a topic of no stream. */
async function personWith(payloads: readonly (string | Buffer)[], to = topic): Promise<Person> {
  const ada = await newPerson(service.api, { foreignTopics: 'ignore' })
  const { mqtt } = await connect(ada.key, { clientId: 'plug' })
  for (const payload of payloads) await mqtt.publishAsync(to, payload, { qos: 1 })
  return ada
}

function metric(name: string): Promise<number> {
  return metricOf(service.process, name)
}

function make(person: Person, asked: object) {
  return person.withToken('POST', '/mqtt/unrouted/streams', asked)
}

const sensor = (power: number) => JSON.stringify({ Power: power, Time: '2026-11-26T10:00:00Z' })

describe('what leads nowhere is shown', () => {
  test('with how often it came, from whom, and the last payload', async () => {
    const ada = await personWith([sensor(12), sensor(13)])

    const { body } = await ada.withToken('GET', '/mqtt/unrouted')

    const time = expect.stringMatching(/Z$/) as unknown
    expect(body).toEqual([
      {
        topic,
        count: 2,
        reason: 'no_stream',
        firstAt: time,
        lastAt: time,
        clientId: 'plug',
        apiKeyId: ada.key.apiKey,
        deviceId: null,
        example: { encoding: 'utf8', payload: sensor(13), bytes: sensor(13).length },
      },
    ])
  })

  test.each([
    ['bytes that are no text, as base64', Buffer.from([0xff, 0]), 'base64', '/wA=', 2],
    ['the first KiB of what is longer', 'x'.repeat(5_000), 'utf8', 'x'.repeat(1_024), 5_000],
    [
      'a text that is cut within a character',
      `x${'€'.repeat(500)}`,
      'utf8',
      `x${'€'.repeat(341)}`,
      1_501,
    ],
    ['nothing', '', 'utf8', '', 0],
  ] as const)('%s', async (_, payload, ...[encoding, shown, bytes]) => {
    const ada = await personWith([payload])

    const { body } = await ada.withToken('GET', '/mqtt/unrouted')

    expect(body).toMatchObject([{ example: { encoding, payload: shown, bytes } }])
  })

  test('page by page, the newest first', async () => {
    const ada = await newPerson(service.api, { foreignTopics: 'ignore' })
    const { mqtt } = await connect(ada.key)
    for (let index = 0; index < 5; index++) await mqtt.publishAsync(`t/${index}`, '', { qos: 1 })

    const first = await ada.withToken<{ topic: string }[]>('GET', '/mqtt/unrouted?limit=3')
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await ada.withToken<{ topic: string }[]>('GET', next)

    const topics = [...first.body, ...second.body].map((one) => one.topic)
    expect(topics).toEqual(['t/4', 't/3', 't/2', 't/1', 't/0'])
    expect(second.headers.get('link')).toBeNull()
  })

  test('also of clients that do not ignore it, and of devices, which do not see it themselves', async () => {
    const ada = await newPerson(service.api)
    const device = await newDevice(ada, { streamIds: [await streamOf(ada)] })
    const { mqtt } = await connect(device, { clientId: 'boiler' })
    await mqtt.publishAsync(topic, '{}', { qos: 1 })

    const { body } = await ada.withToken('GET', '/mqtt/unrouted')

    expect(body).toMatchObject([{ topic, deviceId: device.id, clientId: 'boiler' }])
    expect(await asDevice(service.api, device, ['GET', '/mqtt/unrouted'])).toMatchObject({
      status: 403,
    })
  })

  test('to nobody else, until it is forgotten', async () => {
    const [ada, bob] = [await personWith([sensor(12)]), await newPerson(service.api)]
    expect(await bob.withToken('GET', '/mqtt/unrouted')).toMatchObject({ body: [] })
    await bob.withToken('DELETE', '/mqtt/unrouted')
    await ada.withToken('DELETE', '/mqtt/unrouted?topic=another')
    expect((await ada.withToken('GET', '/mqtt/unrouted')).body).toHaveLength(1)

    expect(await ada.withToken('DELETE', `/mqtt/unrouted?topic=${topic}`)).toMatchObject({
      status: 204,
    })

    expect((await ada.withToken('GET', '/mqtt/unrouted')).body).toEqual([])
  })

  test('and counted', async () => {
    const before = [
      await metric('mqtt_unrouted_topics'),
      await metric('mqtt_unrouted_bytes'),
    ] as const
    const dropped = await metric('mqtt_unrouted_total{reason="no_stream"}')

    await personWith([sensor(12), sensor(13)])

    expect(await metric('mqtt_unrouted_topics')).toBe(before[0] + 1)
    expect(await metric('mqtt_unrouted_bytes')).toBeGreaterThan(before[1])
    expect(await metric('mqtt_unrouted_total{reason="no_stream"}')).toBe(dropped + 2)
  })
})

describe('one call makes a stream of a topic', () => {
  test('that takes the next message', async () => {
    const ada = await personWith([sensor(12.5), sensor(13)])
    const vaultId = await vaultOf(ada)

    const made = await ada.withToken<{ streamId: string }>('POST', '/mqtt/unrouted/streams', {
      topic,
      vaultId,
    })

    expect(made).toMatchObject({ status: 201, body: { name: topic, vaultId } })
    const { mqtt } = await connect(ada.key)
    await mqtt.publishAsync(topic, sensor(14), { qos: 1 })
    const { streamId } = made.body
    await expect.poll(() => received(ada, streamId)).toBe(1)
    const { body } = await ada.withToken('GET', `/streams/${streamId}`)
    expect(body).toMatchObject({ source: { topic } })
    expect((await ada.withToken('GET', '/mqtt/unrouted')).body).toEqual([])
  })

  test('or shows what it would be', async () => {
    const ada = await personWith([sensor(12.5)])
    const asked = { topic, vaultId: await vaultOf(ada), preview: true }

    const { status, body } = await ada.withToken('POST', '/mqtt/unrouted/streams', asked)

    expect(status).toBe(200)
    expect(body).toMatchObject({
      proposal: { type: 'iot_sensor', source: { topic }, schema: { Power: { type: 'number' } } },
      samples: 1,
      misfits: [],
    })
    expect((await ada.withToken('GET', '/streams')).body).toEqual([])
  })

  test.each([
    ['numbers', ['21.5', '22', '-3e1'], 'number'],
    ['texts', ['ON', 'OFF'], 'string'],
  ])('of single values: %s', async (_, payloads, type) => {
    const ada = await personWith(payloads, 'weather/sensor/temperature/state')
    const asked = {
      topic: 'weather/sensor/temperature/state',
      vaultId: await vaultOf(ada),
      name: 'heat',
    }

    const made = await ada.withToken<{ streamId: string }>('POST', '/mqtt/unrouted/streams', asked)

    const { streamId } = made.body
    expect((await ada.withToken('GET', `/streams/${streamId}`)).body).toMatchObject({
      name: 'heat',
      source: { format: 'plain' },
      schema: { value: { type } },
    })
    const { mqtt } = await connect(ada.key)
    for (const payload of payloads) await mqtt.publishAsync(asked.topic, payload, { qos: 1 })
    const { body } = await ada.withToken('GET', `/streams/${streamId}/status`)
    expect(body).toMatchObject({ counters: { received: payloads.length, quarantined: 0 } })
  })

  test('once for each Idempotency-Key', async () => {
    const ada = await personWith([sensor(12.5)])
    const asked = { topic, vaultId: await vaultOf(ada) }
    const key = { 'idempotency-key': crypto.randomUUID() }

    const [first, second] = [
      await ada.withToken<{ streamId: string }>('POST', '/mqtt/unrouted/streams', asked, key),
      await ada.withToken<{ streamId: string }>('POST', '/mqtt/unrouted/streams', asked, key),
    ]

    expect(second.body).toEqual(first.body)
    expect((await ada.withToken('GET', '/streams')).body).toHaveLength(1)
  })

  test.each([
    ['empty messages', [''], /empty, or too long/],
    ['messages that are too long to be kept', ['x'.repeat(3_000)], /empty, or too long/],
    ['bytes', [Buffer.from([0xff, 1])], /messages cannot be read: /],
  ])('or says why it does not: %s', async (_, payloads, message) => {
    const ada = await personWith(payloads)
    const asked = { topic, vaultId: await vaultOf(ada) }

    expect(await ada.withToken('POST', '/mqtt/unrouted/streams', asked)).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        details: [{ path: 'topic', message: expect.stringMatching(message) as unknown }],
      },
    })
  })

  test('or says that nothing is known of the topic, or of the vault', async () => {
    const [ada, bob] = [await personWith([sensor(12.5)]), await newPerson(service.api)]
    const vaultId = await vaultOf(ada)

    expect(await make(ada, { topic: 'another', vaultId })).toMatchObject({ status: 404 })
    expect(await make(bob, { topic, vaultId: await vaultOf(bob) })).toMatchObject({ status: 404 })
    expect(await make(ada, { topic, vaultId: await vaultOf(bob) })).toMatchObject({ status: 403 })
  })
})
