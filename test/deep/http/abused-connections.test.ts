import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, test } from 'vitest'
import { freePort } from '../../../scripts/servers/free-port.ts'
import { abuseAll } from '../../support/abused-operations.ts'
import { abuses, brokenOff, placesOfRequest } from '../../support/abusive-http.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { HeldResources } from '../../support/held-resources.ts'
import { connectPacket, publishPacket, subscribePacket } from '../../support/raw-mqtt.ts'
import { runningService } from '../../support/running-service.ts'
import { adminKey, adminSecret } from '../../support/service-process.ts'
import { keyHeaders } from '../../support/tails.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

// The certificate of the service is nobody's but its own, and the client of these tests is `fetch`.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'

const folder = new TemporaryFolder()
const { certPath, keyPath } = makeCertificate(folder.path)
const mqttsPort = await freePort()

const service = runningService({
  STREAMVAULT_CHECK_ANSWERS: 'off',
  STREAMVAULT_TLS_CERT: certPath,
  STREAMVAULT_TLS_KEY: keyPath,
  STREAMVAULT_MQTTS_PORT: String(mqttsPort),
})

let held: HeldResources
let streamId: string
let descriptors: number

beforeAll(async () => {
  streamId = await service.api.createStream()
  held = new HeldResources(service.process, service.api)
  await sweep('mqtts', mqttConversation())
  await followOnce()
  descriptors = held.descriptors
})

afterAll(() => folder[Symbol.dispose]())

/** Has the thread started that serves those who follow: it starts with the first of them, and holds files of its own. */
async function followOnce(): Promise<void> {
  const path = `/streams/${streamId}`
  await service.api.withKey('POST', `${path}/data`, { temperature: 1 })
  const following = new AbortController()
  const { body } = await fetch(`${service.process.http}${path}/tail?last=1`, {
    headers: keyHeaders,
    signal: following.signal,
  })
  let text = ''
  for await (const bytes of body ?? []) {
    text += Buffer.from(bytes).toString()
    if (text.includes('temperature')) break
  }
  following.abort()
  if (!text.includes('temperature')) throw new Error(`the stream was not followed: ${text}`)
}

type Way = 'mqtt' | 'mqtts' | 'https'

function portOf(way: Way): number {
  if (way === 'mqtts') return mqttsPort
  return way === 'mqtt' ? service.process.mqttPort : Number(new URL(service.process.http).port)
}

function mqttConversation(): Buffer {
  const topic = `streams/${streamId}/data`
  const payload = '{"temperature": 1}'
  return Buffer.concat([
    connectPacket({ clientId: 'rude', clean: false, username: adminKey, password: adminSecret }),
    subscribePacket(1, [topic, 2], ['alerts/+/#', 1]),
    publishPacket({ topic, payload, qos: 1, packetId: 2 }),
    publishPacket({ topic, payload, qos: 2, packetId: 3 }),
    publishPacket({ topic: 'a/b', payload: 'x'.repeat(1_000), qos: 1, packetId: 4, retain: true }),
    publishPacket({ topic, payload }),
  ])
}

/** A request for a WebSocket, and frames of a client behind it. */
function webSocketConversation(path: string, protocol: string, payload: Buffer): Buffer {
  const head = [
    `GET ${path} HTTP/1.1`,
    'Host: x',
    `x-api-key: ${adminKey}`,
    `x-api-secret: ${adminSecret}`,
    'Connection: upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Sec-WebSocket-Protocol: ${protocol}`,
  ]
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    frame(payload),
    frame(payload),
  ])
}

/** A binary frame of up to 64 KiB, masked with zeros (RFC 6455, section 5.2). */
function frame(payload: Buffer): Buffer {
  const head = Buffer.from([
    0x82,
    0x80 | 126,
    payload.length >> 8,
    payload.length & 0xff,
    0,
    0,
    0,
    0,
  ])
  return Buffer.concat([head, payload])
}

function eventsConversation(path: string): Buffer {
  const head = [
    `GET ${path} HTTP/1.1`,
    'Host: x',
    `x-api-key: ${adminKey}`,
    `x-api-secret: ${adminSecret}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`)
}

type Ending = (socket: Socket) => unknown

const endings: readonly Ending[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.end('\x00\xff nothing that makes sense'),
]

/** Connects, over TLS where that is spoken, says a part, and leaves in one of the ways. */
async function breakOff(
  way: Way,
  bytes: Buffer,
  { place, ending }: { place: number; ending: Ending },
) {
  const plain = connect(portOf(way), '127.0.0.1')
  plain.on('error', () => undefined)
  const closed = new Promise((resolve) => plain.once('close', resolve))
  const isSecure = way !== 'mqtt'
  const socket = isSecure ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain
  socket.on('error', () => undefined)
  await Promise.race([once(socket, isSecure ? 'secureConnect' : 'connect'), closed])
  socket.resume()
  const part = bytes.subarray(0, Math.ceil((bytes.length * place) / placesOfRequest))
  await new Promise((resolve) => socket.write(part, resolve))
  // Every other one waits for what the service says to it.
  if (place % 2 === 0)
    await Promise.race([once(socket, 'data').catch(() => undefined), closed, moment()])
  if (ending === endings[0]) plain.resetAndDestroy()
  else ending(socket)
  await Promise.race([closed, moment()])
  plain.destroy()
}

/** Time for what the service says to something whole; to a part it says nothing for long. */
async function moment(): Promise<void> {
  await sleep(300, undefined, { ref: false })
}

/** At all places, in all ways to leave. */
async function sweep(way: Way, bytes: Buffer): Promise<void> {
  const places = Array.from({ length: placesOfRequest }, (_, index) => index + 1)
  for (const ending of endings) {
    await Promise.all(places.map((place) => breakOff(way, bytes, { place, ending })))
  }
}

/** What a client says first over TLS. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  client.on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return hello
}

test.each<Way>(['mqtt', 'mqtts'])(
  'MQTT clients that break off in %s leave nothing',
  async (way) => {
    await sweep(way, mqttConversation())

    await held.expectAtRest(descriptors)
  },
)

test('MQTT clients over WebSockets that break off leave nothing', async () => {
  await sweep('https', webSocketConversation('/mqtt', 'mqtt', mqttConversation()))

  await held.expectAtRest(descriptors)
})

test('those who follow a stream over WebSockets and break off leave nothing', async () => {
  const path = `/streams/${streamId}/tail?last=100`
  await sweep('https', webSocketConversation(path, 'streamvault.v1', Buffer.alloc(2_000)))
  await sweep('https', webSocketConversation(path, 'streamvault.v1', Buffer.from('talk')))

  await held.expectAtRest(descriptors)
})

test('those who follow events and break off leave nothing', async () => {
  await sweep('https', eventsConversation(`/streams/${streamId}/tail?last=100`))
  await sweep('https', eventsConversation('/notifications/in-app/stream'))

  await held.expectAtRest(descriptors)
})

test.each(['mqtts', 'https'] as const)(
  'handshakes of TLS that break off at %s leave nothing',
  async (way) => {
    const hello = await clientHello()
    for (const ending of endings) {
      for (let place = 1; place <= placesOfRequest; place++) {
        const socket = connect(portOf(way), '127.0.0.1')
        socket.on('error', () => undefined)
        await once(socket, 'connect')
        const part = hello.subarray(0, Math.ceil((hello.length * place) / placesOfRequest))
        await new Promise((resolve) => socket.write(part, resolve))
        ending(socket)
        if (place % 2 === 0) socket.destroy()
        else socket.resume().setTimeout(200, () => socket.destroy())
      }
    }

    await held.expectAtRest(descriptors)
  },
)

test('requests over TLS that are abused leave nothing', async () => {
  const headers = [
    `x-api-key: ${adminKey}`,
    `x-api-secret: ${adminSecret}`,
    'Content-Type: application/json',
  ]
  const path = `/streams/${streamId}/data`
  const request = { method: 'POST', path, headers, body: Buffer.from('{"temperature": 1}') }
  const places = Array.from({ length: placesOfRequest }, (_, index) => index + 1)
  const all = [
    ...Object.values(abuses),
    ...places.flatMap((place) => [brokenOff(place, true), brokenOff(place, false)]),
  ]
  await abuseAll(
    { port: portOf('https'), isSecure: true },
    all.map((how) => ({ request, how })),
  )

  await held.expectAtRest(descriptors)
})
