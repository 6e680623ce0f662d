import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatUs } from '../../src/core/time.ts'
import { ApiPeer } from '../support/api-peer.ts'
import { CoapDevice } from '../support/coap-device.ts'
import { InboundWebhook } from '../support/inbound-webhook.ts'
import { endMessagePlaces, messagePlaces } from '../support/message-places.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'
import { runningService } from '../support/running-service.ts'
import { SsePeer } from '../support/sse-peer.ts'
import { WebSocketPeer } from '../support/web-socket-peer.ts'
import { senders } from '../support/webhook-senders.ts'

/** Texts that come through a source and are answered as they were sent, from one end of the service to the other. */

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.1:1024-65535' })
const started: AsyncDisposable[] = []

afterAll(async () => {
  for (const one of started) await one[Symbol.asyncDispose]()
  await endMessagePlaces()
})

const schema = { text: { type: 'string' }, place: { type: 'object' }, list: { type: 'array' } }
const startUs = 1_767_225_600_000_000

/** Each text in a field, in others, in a list, and as a name. */
const readings = naughtyTexts.map((text, index) => ({
  timestamp: formatUs(startUs + index),
  text,
  place: { a: [text], ...(text !== '__proto__' && { [text]: text }) },
  list: [text, { text }],
}))

const payloads = readings.map((reading) => Buffer.from(JSON.stringify(reading)))

type Publish = (payloads: readonly Uint8Array[]) => Promise<void>

async function streamOf(source: object, type = 'event_stream'): Promise<string> {
  const streamId = await service.api.createStream(schema, { type, source })
  await expect
    .poll(async () => (await service.api.status(streamId))['source'], { timeout: 20_000 })
    .toMatchObject({ state: expect.stringMatching(/running|waiting/) as unknown })
  return streamId
}

function kept<Server extends AsyncDisposable>(server: Server): Server {
  started.push(server)
  return server
}

interface Source {
  readonly name: string
  readonly isMissing: boolean
  readonly open: () => Promise<{ readonly streamId: string; readonly publish: Publish }>
}

const sources: readonly Source[] = [
  ...messagePlaces.map(({ name, isMissing, open }) => ({
    name,
    isMissing,
    async open() {
      const { source, topics, publish } = await open(true)
      return {
        streamId: await streamOf(source),
        publish: (some: readonly Uint8Array[]) => publish(topics[0], some),
      }
    },
  })),
  {
    name: 'a field of entries of Redis',
    isMissing: isRedisMissing,
    async open() {
      const server = kept(await RedisServer.start())
      const client = await server.client()
      const topic = `${server.newKey()}:\uFEFF é`
      const { endpoint } = server
      const payloadField = '\uFEFFbody'
      const source = { protocol: 'redis', endpoint, topic, payloadField }
      return {
        streamId: await streamOf(source),
        async publish(some) {
          for (const payload of some) {
            await client.xadd(
              topic,
              '*',
              'body',
              'another field',
              payloadField,
              Buffer.from(payload),
            )
          }
        },
      }
    },
  },
  {
    name: 'mosquitto',
    isMissing: false,
    async open() {
      const broker = kept(await Mosquitto.start())
      const topic = 'plant/\uFEFFé/1'
      const streamId = await streamOf({ endpoint: broker.endpoint, topic }, 'iot_sensor')
      const client = await broker.client()
      return {
        streamId,
        async publish(some) {
          for (const one of some) await client.publishAsync(topic, Buffer.from(one), { qos: 1 })
        },
      }
    },
  },
  {
    name: 'events that a server sends',
    isMissing: false,
    async open() {
      const peer = kept(await SsePeer.start())
      return { streamId: await streamOf(peer.source), publish: (some) => peer.publish(some) }
    },
  },
  {
    name: 'a WebSocket',
    isMissing: false,
    async open() {
      const peer = kept(await WebSocketPeer.start({ hasMemory: false }))
      return { streamId: await streamOf(peer.source), publish: (some) => peer.publish(some) }
    },
  },
  {
    name: 'a device of CoAP',
    isMissing: false,
    async open() {
      const device = kept(await CoapDevice.start())
      const streamId = await streamOf(device.source, 'iot_sensor')
      return { streamId, publish: (some) => device.publish(some) }
    },
  },
  {
    name: 'an API that is pulled',
    isMissing: false,
    async open() {
      const peer = kept(await ApiPeer.start())
      const streamId = await streamOf(peer.source, 'api_pull')
      return { streamId, publish: (some) => peer.publish(some) }
    },
  },
  {
    name: 'a webhook',
    isMissing: false,
    async open() {
      const hook = await InboundWebhook.open(service.api, senders['standard-webhooks'], { schema })
      return {
        streamId: hook.streamId,
        async publish(some) {
          for (const one of some) {
            const { status } = await hook.send({ body: Buffer.from(one).toString() })
            expect(status).toBe(202)
          }
        },
      }
    },
  },
]

const present = sources.filter(({ isMissing }) => !isMissing)

beforeAll(async () => {
  const others = messagePlaces.filter(({ isMissing }) => !isMissing)
  await Promise.all(others.map(({ start }) => start()))
}, 60_000)

describe.each(present)('by $name', ({ open }) => {
  test('texts and names are answered as they were sent', async () => {
    const { streamId, publish } = await open()
    await publish(payloads)
    const { quarantined } = await service.api.settled(streamId, payloads.length)

    expect(quarantined).toBe(0)
    expect(await service.api.readAll(streamId)).toEqual(readings)
  })
})
