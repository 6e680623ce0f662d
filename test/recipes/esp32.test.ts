import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MadeDevice } from '../support/devices.ts'
import { connectPacket, RawMqtt } from '../support/raw-mqtt.ts'
import { runningService } from '../support/running-service.ts'
import { esp32 } from './esp32.ts'
import { afterReconnect, end, first, ping, recordedConnect, second } from './esp32-packets.ts'
import { recipePage } from './recipe-page.ts'

/** The bytes that the sketch of docs/recipes/esp32.md sends. */

const service = runningService()
const { definition, readings } = recipePage(esp32)

let device: MadeDevice
let streamId: string

beforeAll(async () => {
  const { schema, ...rest } = definition
  streamId = await service.api.createStream(schema, rest)
  const body = { name: 'a device', streamIds: [streamId] }
  device = (await service.api.withToken<MadeDevice>('POST', '/devices', body)).body
})

const sketch = { clientId: 'esp32-24dcc3a1b2c4', clean: false, keepAlive: 30 }

/** The CONNECT of the sketch, with credentials that this service knows. */
function connecting(keepAlive = sketch.keepAlive): Buffer {
  const credentials = { username: device.apiKey, password: device.apiSecret }
  return connectPacket({ ...sketch, ...credentials, keepAlive })
}

describe('the packets of espMqttClient', () => {
  test('begin with a CONNECT that differs from the recorded one by its credentials only', () => {
    expect(connectPacket({ ...sketch, username: 'KEY', password: 'SECRET' })).toEqual(
      recordedConnect,
    )
  })

  test('bring in each reading once, also one whose acknowledgement was lost', async () => {
    const before = await RawMqtt.open(service.process.mqttPort)
    before.send(connecting())
    expect(await before.next()).toMatchObject({ type: 'connack', sessionPresent: false })
    before.send(first)
    expect(await before.next()).toMatchObject({ type: 'puback', packetId: 1 })
    before.send(second)
    expect(await before.next()).toMatchObject({ type: 'puback', packetId: 2 })
    await before.break()

    const again = await RawMqtt.open(service.process.mqttPort)
    again.send(connecting())
    expect(await again.next()).toMatchObject({ type: 'connack', sessionPresent: true })
    again.send(afterReconnect)
    expect(await again.take(2)).toMatchObject([
      { type: 'puback', packetId: 2 },
      { type: 'puback', packetId: 3 },
    ])
    again.send(ping)
    expect(await again.next()).toMatchObject({ type: 'pingresp' })
    again.send(end)
    expect(await again.end()).toEqual([])

    expect(await service.api.settled(streamId, 4)).toMatchObject({ stored: 3, duplicates: 1 })
    expect(await service.api.readAll(streamId)).toEqual([
      ...readings,
      { timestamp: '2026-01-31T10:01:00.000000Z', temperature: 54.44, rssi: -62 },
      { timestamp: '2026-01-31T10:02:00.000000Z', temperature: 53.89, rssi: -60 },
    ])
  })

  test('keep a silent connection open by pings, and only by these', async () => {
    const silent = await RawMqtt.open(service.process.mqttPort)
    silent.send(connecting(1))
    await silent.next()
    // The library sends a ping after the keep-alive, and the service waits for half of it longer.
    for (let pings = 0; pings < 3; pings += 1) {
      await sleep(1_100)
      silent.send(ping)
      expect(await silent.next()).toMatchObject({ type: 'pingresp' })
    }
    expect(await silent.end()).toEqual([])
  })
})

/** What HTTPClient of the Arduino core 2 sends for a POST with Basic authentication, header by header. */
function httpClientPost(payload: string): string {
  const { apiKey, apiSecret } = device
  const head = [
    `POST /streams/${streamId}/data HTTP/1.1`,
    `Host: ${new URL(service.process.http).host}`,
    'User-Agent: ESP32HTTPClient',
    'Connection: keep-alive',
    'Accept-Encoding: identity;q=1,chunked;q=0.1,*;q=0',
    `Authorization: Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`,
    'Content-Type: application/json',
    `Content-Length: ${payload.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${payload}`
}

/** Head and body of the next answer; the client reads as many bytes as Content-Length says. */
async function answerTo(socket: ReturnType<typeof connect>, request: string): Promise<string> {
  socket.write(request)
  let text = ''
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    text += chunk.toString()
    const [head = '', body] = text.split('\r\n\r\n')
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1])
    if (body !== undefined && body.length >= length) return text
  }
}

describe('the requests of HTTPClient', () => {
  test('are answered in a way that it reads, on one connection', async () => {
    const { hostname, port } = new URL(service.process.http)
    const socket = connect({ host: hostname, port: Number(port) })
    await once(socket, 'connect')

    const stored = '{"timestamp":1769853780,"temperature":53.61,"rssi":-59}'
    const refused = '{"timestamp":1769853840,"temperature":"hot","rssi":-59}'
    const accepted = await answerTo(socket, httpClientPost(stored))
    expect(accepted).toMatch(/^HTTP\/1\.1 202 /)
    // It uses a connection again that says so, and knows no compression.
    expect(accepted).toMatch(/\r\nconnection: keep-alive\r\n/i)
    expect(accepted).not.toMatch(/\r\n(?:content-encoding|transfer-encoding):/i)
    expect(await answerTo(socket, httpClientPost(refused))).toMatch(/^HTTP\/1\.1 422 /)
    socket.destroy()

    const last = { timestamp: '2026-01-31T10:03:00.000000Z', temperature: 53.61, rssi: -59 }
    await expect.poll(async () => (await service.api.readAll(streamId)).at(-1)).toEqual(last)
  })
})
