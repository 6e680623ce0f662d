import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { download, exported } from '../support/exports.ts'
import { imported, importTypes } from '../support/imports.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, publishPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { metric, payloadOf } from '../support/sparkplug-payloads.ts'

/** Devices whose messages come through one filter, and who may send the same. */

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
const connect = mqttClients(() => service.process.mqttPort)
let broker: Mosquitto

beforeAll(async () => {
  broker = await Mosquitto.start([], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
})

type Publish = (topic: string, payload: string | Uint8Array, qos?: 0 | 1 | 2) => Promise<void>

interface Place {
  readonly name: string
  /** A stream with this topic, and who publishes to it; what topics begin with is its own. */
  readonly open: (
    topic: (root: string) => string,
    rest?: { readonly source?: object; readonly processing?: object; readonly schema?: object },
  ) => Promise<{ readonly streamId: string; readonly root: string; readonly publish: Publish }>
}

let roots = 0

async function publisherOf(client: Mosquitto | undefined): Promise<Publish> {
  const { mqtt } = client
    ? { mqtt: await client.client() }
    : await connect({ apiKey: adminKey, apiSecret: adminSecret })
  return async (topic, payload, qos = 1) => {
    await mqtt.publishAsync(topic, Buffer.from(payload as string), { qos })
  }
}

const places: readonly Place[] = [
  {
    name: 'our own broker',
    async open(topic, { source = {}, schema, ...rest } = {}) {
      const root = `plant-${++roots}`
      const own = { source: { topic: topic(root), ...source }, ...rest }
      const streamId = await service.api.createStream(schema, own)
      return { streamId, root, publish: await publisherOf(undefined) }
    },
  },
  {
    name: 'mosquitto',
    async open(topic, { source = {}, schema, ...rest } = {}) {
      const root = `plant-${++roots}`
      const theirs = { endpoint: broker.endpoint, topic: topic(root), ...source }
      const streamId = await service.api.createStream(schema, { source: theirs, ...rest })
      await expect
        .poll(async () => (await service.api.status(streamId))['source'])
        .toMatchObject({ state: 'running' })
      return { streamId, root, publish: await publisherOf(broker) }
    },
  },
]

function reading(second: number, temperature: unknown = 21.5): string {
  const timestamp = `2026-01-01T00:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z`
  return JSON.stringify({ timestamp, temperature })
}

/** The filter of all devices of a plant. */
function anyDevice(root: string): string {
  return `${root}/+`
}

interface Held {
  readonly payload: string
  readonly source: string
}

async function held(streamId: string): Promise<readonly Held[]> {
  const path = `/streams/${streamId}/quarantine`
  return (await service.api.withToken<{ entries: readonly Held[] }>('GET', path)).body.entries
}

describe.each(places)('at $name', ({ open }) => {
  test.each([
    ['plant/+/temperature', (root: string) => `${root}/+/temperature`],
    ['plant/#', (root: string) => `${root}/#`],
    ['#', (root: string) => `+/one/#`.replace('+', root)],
  ])('%s: the same reading of two devices is two readings', async (_, filter) => {
    const { streamId, root, publish } = await open(filter)
    const topics = filter(root).includes('one')
      ? [`${root}/one/a`, `${root}/one/b`]
      : [`${root}/one/temperature`, `${root}/two/temperature`]
    for (const topic of topics) await publish(topic, reading(0))
    // Each of them is known when it comes again.
    for (const topic of topics) await publish(topic, reading(0), 2)

    expect(await service.api.settled(streamId, 4)).toMatchObject({ stored: 2, duplicates: 2 })
    expect(await service.api.readAll(streamId)).toMatchObject([
      { temperature: 21.5 },
      { temperature: 21.5 },
    ])
  })

  test('on a topic without a wildcard it is one, whichever way it comes', async () => {
    const { streamId, root, publish } = await open((name) => `${name}/temperature`)

    await publish(`${root}/temperature`, reading(0))
    await service.api.withToken('POST', `/streams/${streamId}/data`, JSON.parse(reading(0)))

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })

  test('deduplication compares with the same device, and averages stay what they are', async () => {
    const processing = { deduplicate: true, frequency: '30m' }
    const dropping = await open(anyDevice, { processing })
    const keeping = await open(anyDevice)
    // Every 5 s one of two devices, whose values seldom change; some send several times in a row.
    const sent = Array.from({ length: 360 }, (__, index) => ({
      device: Math.floor(index / 7) % 3 === 0 ? 'one' : 'two',
      second: index * 5,
      temperature: Math.floor(index / 7) % 3 === 0 ? Math.floor(index / 50) : 40,
    }))
    for (const { streamId: _id, root, publish } of [dropping, keeping]) {
      await Promise.all(
        sent.map(({ device, second, temperature }) =>
          publish(`${root}/${device}`, reading(second, temperature)),
        ),
      )
    }

    const { stored, unchanged } = await service.api.settled(dropping.streamId, sent.length)
    expect(stored + unchanged).toBe(sent.length)
    expect(unchanged).toBeGreaterThan(sent.length / 2)
    await service.api.settled(keeping.streamId, sent.length)
    const [kept, all] = await Promise.all(
      [dropping, keeping].map(({ streamId }) => averagesOf(streamId)),
    )
    expect(kept).toEqual((all ?? []).map((value) => expect.closeTo(Number(value), 9) as unknown))
  })

  test('with deduplication equal values of two devices are both kept', async () => {
    const processing = { deduplicate: true, frequency: '1h' }
    const { streamId, root, publish } = await open((name) => `${name}/+`, { processing })

    await publish(`${root}/one`, reading(1))
    await publish(`${root}/two`, reading(2))
    await publish(`${root}/two`, reading(3))

    const counts = { stored: 2, unchanged: 1, duplicates: 0 }
    expect(await service.api.settled(streamId, 3)).toMatchObject(counts)
  })

  test('a redrive keeps apart what was refused, and knows what comes again', async () => {
    const schema = { temperature: { type: 'string' } }
    const { streamId, root, publish } = await open((name) => `${name}/+`, { schema })
    for (const device of ['one', 'two']) await publish(`${root}/${device}`, reading(0))
    expect(await service.api.settled(streamId, 2)).toMatchObject({ quarantined: 2 })
    expect((await held(streamId)).map(({ source }) => source)).toEqual([
      expect.stringContaining(`topic '${root}/one'`),
      expect.stringContaining(`topic '${root}/two'`),
    ])

    const change = { schema: { temperature: { type: 'number' } } }
    await service.api.withToken('PUT', `/streams/${streamId}`, change)
    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
    expect(await service.api.settled(streamId)).toMatchObject({ stored: 2, quarantined: 0 })
    // A source that changes begins anew: until it has, nobody hears what is published.
    await expect
      .poll(async () => {
        await publish(`${root}/one`, reading(0))
        return (await service.api.status(streamId)).counters.duplicates
      })
      .toBeGreaterThan(0)
    expect(await service.api.settled(streamId)).toMatchObject({ stored: 2 })
  })

  test('devices of one edge node of Sparkplug are told apart', async () => {
    const source = { format: 'sparkplug' }
    const { streamId, root, publish } = await open((name) => `spBv1.0/${name}/+/node7/#`, {
      source,
    })
    const timestamp = Date.UTC(2026, 0, 1)
    const send = (type: string, device: string, seq: number) => {
      const metrics = device === '' ? [] : [metric('Double', 21.5, { name: 'temperature' })]
      const payload = payloadOf(metrics, { seq, timestamp })
      return publish(`spBv1.0/${root}/${type}/node7${device}`, payload)
    }

    await send('NBIRTH', '', 0)
    await send('DBIRTH', '/pump', 1)
    await send('DBIRTH', '/valve', 2)
    // What a device says of the same time in another kind of message is the same reading.
    await send('DDATA', '/pump', 3)

    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, duplicates: 1 })
  })
})

async function averagesOf(streamId: string): Promise<readonly unknown[]> {
  const path = `/streams/${streamId}/data?aggregation=15m&fields=temperature&start=2026-01-01T00:00:00Z&end=2026-01-01T00:30:00Z`
  type Page = { readonly data: readonly { readonly temperature: number }[] }
  const { body } = await service.api.withToken<Page>('GET', path)
  return body.data.map(({ temperature }) => temperature)
}

test('what is sent again with DUP has no time of its own, and is one reading of each device', async () => {
  const streamId = await service.api.createStream(undefined, { source: { topic: 'cellar/+' } })
  for (const isDup of [false, true]) {
    const connection = await RawMqttConnection.open(service.process.mqttPort)
    connection.send(connectPacket({ clientId: 'gw', username: adminKey, password: adminSecret }))
    for (const [packetId, device] of [
      [7, 'one'],
      [8, 'two'],
    ] as const) {
      const payload = '{"temperature": 1}'
      connection.send(publishPacket({ topic: `cellar/${device}`, payload, packetId, isDup }))
    }
    await connection.next(3)
    connection.destroy()
  }

  expect(await service.api.settled(streamId, 4)).toMatchObject({ stored: 2, duplicates: 2 })
})

test('the topic of a message is shown with what is refused of it, on that of the stream as well', async () => {
  const streamId = await service.api.createStream()
  const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })

  await mqtt.publishAsync(`streams/${streamId}/data`, '[{"temperature":"hot"},1]', { qos: 1 })

  await service.api.settled(streamId, 2)
  const shown = expect.stringContaining(`topic 'streams/${streamId}/data'`) as unknown
  expect(await held(streamId)).toMatchObject([{ source: shown }, { source: shown }])
})

test.each(Object.keys(importTypes) as (keyof typeof importTypes)[])(
  'an export of two devices as %s makes another stream the same, and changes nothing in its own',
  async (format) => {
    const root = `hall-${++roots}`
    const source = { topic: `${root}/+` }
    const processing = { deduplicate: true, frequency: '1h' }
    const from = await service.api.createStream(undefined, { source, processing })
    const publish = await publisherOf(undefined)
    for (const [device, second] of [
      ['one', 0],
      ['two', 0],
      ['two', 5],
      ['one', 5],
      ['two', 9],
    ] as const) {
      await publish(`${root}/${device}`, reading(second))
    }
    await service.api.settled(from, 5)
    const before = await service.api.readAll(from)
    expect(before).toHaveLength(4)

    const job = await exported(service.api, { streamIds: [from], format })
    const file = await download(service, job, job.files[0])
    const content = new Uint8Array(await file.arrayBuffer())
    const to = await service.api.createStream(undefined, { processing })

    expect(await imported(service, from, { format, content })).toMatchObject({ duplicates: 4 })
    expect(await imported(service, to, { format, content })).toMatchObject({
      accepted: 4,
      refused: 0,
    })
    expect(await service.api.settled(from)).toMatchObject({ stored: 4 })
    expect(await service.api.settled(to, 4)).toMatchObject({ stored: 4, unchanged: 0 })
    expect(await service.api.readAll(to)).toEqual(before)
  },
)

test('files of a stream of one topic have no column more', async () => {
  const streamId = await service.api.createStream(undefined, { source: { topic: 'one/topic' } })
  await service.api.withToken('POST', `/streams/${streamId}/data`, JSON.parse(reading(0)))
  await service.api.settled(streamId, 1)

  const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
  const [head] = (await (await download(service, job, job.files[0])).text()).split('\r\n')

  expect(head).toBe('streamId,timestamp,temperature,extra,:flag')
})

test('a row whose digest is none is refused, and its neighbours are not', async () => {
  const streamId = await service.api.createStream()
  const content = [
    'timestamp,temperature,:digest',
    '2026-01-01T00:00:00Z,1,0123456789abcdef',
    '2026-01-01T00:00:00Z,1,fedcba9876543210',
    '2026-01-01T00:00:00Z,1,',
    '2026-01-01T00:00:00Z,1,nothing',
  ].join('\n')

  expect(await imported(service, streamId, { format: 'csv', content })).toMatchObject({
    accepted: 3,
    refused: 1,
    refusals: [{ row: 4, error: 'malformed' }],
  })
  expect(await service.api.settled(streamId, 4)).toMatchObject({ stored: 3, quarantined: 1 })
})
