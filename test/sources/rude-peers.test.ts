import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HeldResources } from '../support/held-resources.ts'
import { runningService } from '../support/running-service.ts'

/** Streams of each kind: each begins with another manner. */
const streamsEach = 6

const garbage = Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 167 + 13) & 0xff))

/** What a peer does with a connection, given what a polite one would say first. */
type Manner = (socket: Socket, greeting: Buffer) => void

const manners: readonly Manner[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.once('data', () => socket.resetAndDestroy()),
  (socket) => socket.once('data', () => socket.end()),
  (socket) => {
    socket.write(garbage, () => socket.resetAndDestroy())
  },
  (socket, greeting) => {
    socket.once('data', () => socket.write(Buffer.concat([greeting, garbage])))
    setTimeout(() => socket.resetAndDestroy(), 300)
  },
  (socket, greeting) => {
    socket.write(greeting.subarray(0, greeting.length / 2), () => socket.resetAndDestroy())
  },
  (socket, greeting) => {
    socket.write(greeting)
    socket.on('data', () => socket.write(greeting))
    setTimeout(() => socket.end(), 300)
  },
  (socket, greeting) => {
    socket.write(Buffer.concat([greeting, Buffer.alloc(1024 * 1024, 0xff)]), () =>
      socket.resetAndDestroy(),
    )
  },
]

/** A server that behaves in another way to each connection. */
class RudePeer implements Disposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #socket: DatagramSocket
  met = 0

  static async start(greeting: Buffer): Promise<RudePeer> {
    const peer = new RudePeer(greeting)
    peer.#server.listen(0, '127.0.0.1')
    await once(peer.#server, 'listening')
    peer.#socket.bind(peer.port, '127.0.0.1')
    await once(peer.#socket, 'listening')
    return peer
  }

  private constructor(greeting: Buffer) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      manners[this.met++ % manners.length]?.(socket, greeting)
    })
    // Clients that speak in datagrams are told as little that makes sense.
    this.#socket = createSocket('udp4', (said, { port, address }) => {
      const answers = [garbage, said, said.subarray(0, said.length / 2), Buffer.alloc(0), greeting]
      this.#socket.send(answers[this.met++ % answers.length] ?? garbage, port, address)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    this.#socket.close()
  }
}

const http = (head: string) =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\n${head}\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n[{"temperature": 1},`,
  )

const everySecond = '* * * * * *'

interface Kind {
  readonly greeting: Buffer
  readonly source: (at: string) => object
}

const kinds: Readonly<Record<string, Kind>> = {
  mqtt: {
    greeting: Buffer.from([0x20, 2, 0, 0, 0x90, 3, 0, 1, 1]),
    source: (at) => ({ endpoint: `mqtt://${at}`, topic: 'plants/7' }),
  },
  kafka: {
    greeting: Buffer.from([0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    source: (at) => ({ protocol: 'kafka', endpoint: `kafka://${at}`, topic: 'a', group: 'vault' }),
  },
  nats: {
    greeting: Buffer.from(
      'INFO {"server_id":"x","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}\r\nPONG\r\n',
    ),
    source: (at) => ({ protocol: 'nats', endpoint: `nats://${at}`, topic: 'plants.*' }),
  },
  amqp: {
    greeting: Buffer.concat([
      Buffer.from([1, 0, 0, 0, 0, 0, 34, 0, 10, 0, 10, 0, 9, 0, 0, 0, 0, 0, 0, 0, 5]),
      Buffer.from('PLAIN'),
      Buffer.from([0, 0, 0, 5]),
      Buffer.from('en_US'),
      Buffer.from([0xce]),
    ]),
    source: (at) => ({ protocol: 'amqp', endpoint: `amqp://${at}`, topic: 'boilers' }),
  },
  redis: {
    greeting: Buffer.from('+OK\r\n+OK\r\n*1\r\n$3\r\nabc\r\n'),
    source: (at) => ({ protocol: 'redis', endpoint: `redis://${at}`, topic: 'plant' }),
  },
  sse: {
    greeting: http('Content-Type: text/event-stream'),
    source: (at) => ({ protocol: 'sse', endpoint: `http://${at}/events` }),
  },
  websocket: {
    greeting: Buffer.from(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: none\r\n\r\n',
    ),
    source: (at) => ({ protocol: 'websocket', endpoint: `ws://${at}/feed` }),
  },
  api: {
    greeting: http('Content-Type: application/json'),
    source: (at) => ({ endpoint: `http://${at}/data`, schedule: everySecond }),
  },
  postgres: {
    greeting: Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]),
    source: (at) => databaseSource('postgres', `${at}/plant`),
  },
  mariadb: {
    greeting: Buffer.concat([
      Buffer.from([0x4a, 0, 0, 0, 0x0a]),
      Buffer.from('8.0.36\0'),
      Buffer.alloc(62, 1),
    ]),
    source: (at) => databaseSource('mariadb', `${at}/plant`),
  },
  mssql: {
    greeting: Buffer.from([4, 1, 0, 43, 0, 0, 1, 0, 0, 0, 26, 0, 6, 1, 0, 32, 0, 1, 2]),
    source: (at) => databaseSource('mssql', `${at}/plant`),
  },
  'postgres log': {
    greeting: Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]),
    source: (at) => ({
      protocol: 'postgres',
      follow: 'log',
      endpoint: `${at}/plant`,
      credentials: { username: 'a', password: 'b' },
      table: 'public.boiler',
    }),
  },
  modbus: {
    greeting: Buffer.from([0, 1, 0, 0, 0, 5, 1, 4, 2, 0, 1]),
    source: (at) => ({
      protocol: 'modbus',
      endpoint: `modbus://${at}`,
      unitId: 1,
      registers: [{ field: 'temperature', kind: 'input', address: 0, type: 'int16' }],
      schedule: everySecond,
    }),
  },
  opcua: {
    greeting: Buffer.concat([
      Buffer.from('ACKF'),
      Buffer.from([28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]),
    source: (at) => ({
      protocol: 'opcua',
      endpoint: `opc.tcp://${at}`,
      items: { temperature: 'ns=1;s=a' },
    }),
  },
  bacnet: {
    greeting: Buffer.from([0x81, 0x0a, 0, 12, 1, 0, 0x30, 1, 0x0c, 0x0c, 0, 0]),
    source: (at) => ({
      protocol: 'bacnet',
      endpoint: `bacnet://${at}`,
      objects: [{ field: 'temperature', object: 'analog-input:1' }],
      schedule: everySecond,
    }),
  },
  coap: {
    greeting: Buffer.from([0x60, 0x45, 0, 1]),
    source: (at) => ({ protocol: 'coap', endpoint: `coap://${at}/temperature` }),
  },
}

function databaseSource(protocol: string, endpoint: string): object {
  return {
    protocol,
    endpoint,
    credentials: { username: 'a', password: 'b' },
    query: 'SELECT id, at AS timestamp, temperature FROM readings',
    incrementalColumn: 'timestamp',
    schedule: everySecond,
  }
}

const eventKinds = ['kafka', 'nats', 'amqp', 'redis', 'sse', 'websocket']
const databaseKinds = ['postgres', 'mariadb', 'mssql', 'postgres log']

function typeOf(kind: string): string {
  if (eventKinds.includes(kind)) return 'event_stream'
  if (databaseKinds.includes(kind)) return 'database'
  if (kind === 'modbus' || kind === 'bacnet') return 'building_systems'
  if (kind === 'opcua') return 'manufacturing'
  return kind === 'api' ? 'api_pull' : 'iot_sensor'
}

const peers = new Map<string, RudePeer>()
for (const [name, { greeting }] of Object.entries(kinds)) {
  peers.set(name, await RudePeer.start(greeting))
}
const receiver = await RudePeer.start(http('Content-Type: text/plain'))
const mailServer = await RudePeer.start(Buffer.from('220 rude ESMTP\r\n250 ok\r\n'))
const all = [...peers.values(), receiver, mailServer]

const service = runningService({
  STREAMVAULT_EGRESS_ALLOW: all.map(({ port }) => `127.0.0.1:${port}`).join(','),
  STREAMVAULT_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}?starttls=never`,
})

let held: HeldResources

beforeAll(() => {
  held = new HeldResources(service.process, service.api)
})

afterAll(() => {
  for (const peer of all) peer[Symbol.dispose]()
})

/** Kinds of peers that were not met often enough yet. */
function shy(): readonly string[] {
  return [...peers]
    .filter(([, { met }]) => met < streamsEach)
    .map(([name, { met }]) => `${name} ${met}`)
}

test('no peer that resets, breaks off or talks nonsense ends the service, or is left anything', async () => {
  const { api } = service
  const vaultId = await api.createVault()
  const make = async (source: object, type = 'iot_sensor'): Promise<string> => {
    const { status, body } = await api.withToken<{ streamId: string }>('POST', '/streams', {
      name: 'rude',
      vaultId,
      type,
      schema: { temperature: { type: 'number' } },
      source,
    })
    expect(body).toMatchObject({ streamId: expect.any(String) as string })
    expect(status).toBe(201)
    return body.streamId
  }
  const { descriptors } = held
  const streams: string[] = []
  for (const [name, { source }] of Object.entries(kinds)) {
    const at = `127.0.0.1:${peers.get(name)?.port}`
    // A device has one connection at a time, and those in datagrams count each of these.
    for (let count = 0; count < streamsEach && streams.length < 100; count++) {
      streams.push(await make(source(at), typeOf(name)))
    }
  }
  const url = `http://127.0.0.1:${receiver.port}/hook`
  const hook = await api.withKey<{ id: string }>('POST', '/notifications/webhooks', {
    url,
    event_types: ['vault.deleted'],
  })
  for (let count = 0; count < streamsEach; count++) {
    await api.withKey('POST', `/notifications/webhooks/${hook.body.id}/test`, {})
    await api.withKey('POST', '/notifications/email-configs', { email: `a${count}@vault.example` })
  }

  await expect.poll(shy, { timeout: 120_000 }).toEqual([])
  await expect.poll(() => receiver.met).toBeGreaterThan(2)
  await expect.poll(() => mailServer.met).toBeGreaterThan(2)
  for (const id of streams) {
    expect((await api.withToken('DELETE', `/streams/${id}`)).status).toBe(204)
  }

  // The thread that delivers has been started meanwhile, with files of its own.
  await held.expectAtRest(descriptors + 30)
})
