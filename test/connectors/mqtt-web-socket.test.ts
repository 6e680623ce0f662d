import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { makeCertificate } from '../support/certificate.ts'
import { packetTypes } from '../support/mqtt-bytes.ts'
import { connectPacket, publishPacket } from '../support/mqtt-packets.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret, newDataDir } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const service = runningService({
  STREAMVAULT_CORS_ORIGINS: 'https://console.example',
  STREAMVAULT_TRUST_PROXY: '127.0.0.1',
})
const services = startedServices()
const endings: (() => unknown)[] = []

afterEach(async () => {
  await Promise.all(endings.splice(0).map((end) => end()))
})

function addressOf(http: string): string {
  return `${http.replace(/^http/, 'ws')}/mqtt`
}

async function client(http: string, options: IClientOptions = {}): Promise<MqttClient> {
  const credentials = { username: adminKey, password: adminSecret }
  const connected = await connectAsync(addressOf(http), {
    ...credentials,
    reconnectPeriod: 0,
    ...options,
  })
  endings.push(() => connected.endAsync(true))
  return connected
}

interface Opened {
  readonly socket: WebSocket
  /** Everything that the broker has sent, once it is so many bytes. */
  readonly received: (bytes: number) => Promise<Buffer>
  /** The close code. */
  readonly closed: Promise<number>
}

/** A WebSocket with nothing of MQTT in it. @throws Error with the body of a refusal */
async function openSocket(protocols: string | string[] = 'mqtt', headers = {}): Promise<Opened> {
  const socket = new WebSocket(addressOf(service.process.http), protocols, { headers })
  let all = Buffer.alloc(0)
  socket.on('message', (data: Buffer) => (all = Buffer.concat([all, data])))
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, answer) => {
      void text(answer).then((body) => reject(new Error(body)))
    })
  })
  // A connection that is cut: the close code says so, too.
  socket.on('error', () => undefined)
  endings.push(() => socket.terminate())
  return {
    socket,
    closed: once(socket, 'close').then(([code]) => code as number),
    async received(bytes) {
      while (all.length < bytes) await once(socket, 'message')
      return all
    },
  }
}

const connackBytes = 4

describe('MQTT over a WebSocket', () => {
  test('takes readings and acknowledges them', async () => {
    const streamId = await service.api.createStream()
    const device = await client(service.process.http)

    for (const qos of [0, 1, 2] as const) {
      const payload = JSON.stringify({ temperature: 20 + qos })
      await device.publishAsync(`streams/${streamId}/data`, payload, { qos })
    }

    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 3 })
  })

  test('takes messages as large as over TCP, whichever way they are cut', async () => {
    const streamId = await service.api.createStream()
    const device = await client(service.process.http)
    const note = 'x'.repeat(3_900_000)
    const payload = JSON.stringify({ temperature: 1, note })

    await device.publishAsync(`streams/${streamId}/data`, payload, { qos: 1 })

    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1 })
  })

  test('reads packets wherever frames begin and end', async () => {
    const streamId = await service.api.createStream()
    const topic = `streams/${streamId}/data`
    const { socket, received } = await openSocket()
    const bytes = Buffer.concat([
      connectPacket({ clientId: 'cut-up' }),
      ...[1, 2, 3].map((packetId) =>
        publishPacket({ topic, payload: `{"temperature":${packetId}}`, packetId }),
      ),
    ])

    // Cut in the middle of the CONNECT, and with the end of one packet and the next ones together.
    for (const [from, to] of [[0, 5], [5, 6], [6, bytes.length - 10], [bytes.length - 10]]) {
      socket.send(bytes.subarray(from, to))
    }

    const answers = await received(connackBytes + 3 * 4)
    expect([...answers.subarray(0, connackBytes)]).toEqual([0x20, 2, 0, 0])
    expect([...answers.subarray(connackBytes)]).toEqual(
      [1, 2, 3].flatMap((id) => [packetTypes.puback << 4, 2, 0, id]),
    )
  })

  test('reads a message in several frames', async () => {
    const { socket, received } = await openSocket()
    const connect = connectPacket({ clientId: 'fragments' })

    socket.send(connect.subarray(0, 7), { fin: false })
    socket.send(connect.subarray(7, 9), { fin: false })
    socket.send(connect.subarray(9), { fin: true })

    expect([...(await received(connackBytes))]).toEqual([0x20, 2, 0, 0])
  })

  test('answers a client with wrong credentials by a CONNACK', async () => {
    const { socket, received, closed } = await openSocket()

    socket.send(connectPacket({ clientId: 'stranger', password: 'wrong' }))

    expect([...(await received(connackBytes))]).toEqual([0x20, 2, 0, 4])
    await closed
  })

  test('closes a connection with a text frame (1003)', async () => {
    const { socket, closed } = await openSocket()

    socket.send('hello')

    expect(await closed).toBe(1003)
  })

  test('closes a connection with bytes that are no MQTT', async () => {
    const { socket, closed } = await openSocket()

    socket.send(Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff]))

    await closed
  })

  test('keeps little of a message from a client that is not known', async () => {
    const { socket, closed } = await openSocket()

    // No end of the message, so that nobody but the WebSocket itself sees anything of it.
    for (let part = 0; part < 40; part++) socket.send(Buffer.alloc(8_192), { fin: false })

    expect(await closed).toBe(1006)
  })

  test('closes a connection with a message that is too large for a packet (1009)', async () => {
    const { socket, received, closed } = await openSocket()
    socket.send(connectPacket({ clientId: 'too-large' }))
    await received(connackBytes)

    socket.send(Buffer.alloc(4 * 1024 * 1024 + 2_048))

    expect(await closed).toBe(1009)
  })

  test('does not compress, also when the client offers to', async () => {
    const { socket } = await openSocket()

    expect(socket.extensions).toBe('')
  })

  test('counts a client behind a trusted proxy under its own address', async () => {
    const { api } = service
    const streamId = await api.createStream()
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    const device = await client(service.process.http, { wsOptions: { headers } })

    await device.publishAsync(`streams/${streamId}/data`, '{"temperature":"hot"}', { qos: 1 })

    await api.settled(streamId, 1)
    const { body } = await api.withToken<{ entries: readonly { source: string }[] }>(
      'GET',
      `/streams/${streamId}/quarantine`,
    )
    expect(body.entries[0]?.source).toContain('at 192.0.2.7')
  })
})

describe('a request for /mqtt', () => {
  test('is answered with the subprotocol that was offered', async () => {
    expect((await openSocket(['mqttv3.1'])).socket.protocol).toBe('mqttv3.1')
    expect((await openSocket(['mqttv3.1', 'mqtt'])).socket.protocol).toBe('mqtt')
  })

  test.each([[[]], [['amqp', 'streamvault.v1']]])(
    'that offers %j as subprotocols is refused with the reason',
    async (protocols) => {
      await expect(openSocket(protocols)).rejects.toThrow(
        /"error":"invalid_request".*Sec-WebSocket-Protocol must offer mqtt/,
      )
    },
  )

  test('from a page of another origin is refused', async () => {
    const { origin } = new URL(service.process.http)

    await openSocket('mqtt', { origin })
    await openSocket('mqtt', { origin: 'https://console.example' })
    await expect(openSocket('mqtt', { origin: 'https://evil.example' })).rejects.toThrow(
      'origin_not_allowed',
    )
  })

  test('that is no WebSocket is told to become one', async () => {
    const answer = await new Promise<{ statusCode?: number | undefined; headers: object }>(
      (resolve, reject) => {
        request(`${service.process.http}/mqtt`, resolve).on('error', reject).end()
      },
    )

    expect(answer.statusCode).toBe(426)
    expect(answer.headers).toMatchObject({ upgrade: 'websocket' })
  })
})

describe('/mqtt', () => {
  test('works with TLS', async () => {
    const folder = newDataDir()
    const { certPath, keyPath, authority } = makeCertificate(folder)
    const { http } = await services.start(services.newFolder(), {
      STREAMVAULT_TLS_CERT: certPath,
      STREAMVAULT_TLS_KEY: keyPath,
      STREAMVAULT_MQTTS_PORT: '0',
    })
    rmSync(folder, { recursive: true })

    const device = await client(http, { wsOptions: { ca: authority } })

    expect(http).toMatch(/^https:/)
    expect(device.connected).toBe(true)
  })

  test.each([
    ['0', '', undefined],
    ['0', 'on', true],
    [undefined, 'off', undefined],
  ])('with STREAMVAULT_MQTT_PORT=%s and _WEBSOCKET=%s: %s', async (port, isOn, isThere) => {
    const { http } = await services.start(services.newFolder(), {
      ...(port !== undefined && { STREAMVAULT_MQTT_PORT: port }),
      STREAMVAULT_MQTT_WEBSOCKET: isOn,
    })

    const { status } = await fetch(`${http}/mqtt`)

    expect(status).toBe(isThere ? 426 : 404)
  })

  test('does not hold up the end of the service', async () => {
    const running = await services.start(services.newFolder())
    const device = await client(running.http)
    const socket = new WebSocket(addressOf(running.http), 'mqtt')
    await once(socket, 'open')
    const deviceGone = new Promise<void>((resolve) => device.once('close', () => resolve()))
    const gone = [deviceGone, once(socket, 'close')]

    expect(await running.end('SIGTERM')).toBe(0)
    await Promise.all(gone)
  })
})
