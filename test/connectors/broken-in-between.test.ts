import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openMqttTransport } from '../../connectors/mqtt-client/transport.ts'
import { dialOf } from '../support/dial-of.ts'

// An error that nobody listens to fails the whole run of tests, as it ends a process.

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** The port of a server that does this with each connection. */
async function serving(handle: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    handle(socket)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Section 4.2.2 of RFC 6455. */
function upgradeFor(head: string): string {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? ''
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Protocol: mqtt',
    `Sec-WebSocket-Accept: ${accept.digest('base64')}`,
    '\r\n',
  ].join('\r\n')
}

async function transportBehind(sent: Buffer) {
  const port = await serving((socket) => {
    socket.once('data', (head: Buffer) => {
      socket.write(Buffer.concat([Buffer.from(upgradeFor(head.toString('latin1'))), sent]))
    })
  })
  const endpoint = { protocol: 'ws:', host: '127.0.0.1', port, path: '/' } as const
  const dial = dialOf(async () => await connected(port))
  return await openMqttTransport(endpoint, { dial, tls: {}, signal: AbortSignal.timeout(60_000) })
}

test('nonsense right behind the answer of a WebSocket reaches who reads it', async () => {
  const transport = await transportBehind(Buffer.from('ffffffffffffffffffff', 'hex'))
  const failed = once(transport, 'end')
  transport.resume()
  await expect(failed).rejects.toThrow(/WebSocket frame/)
})

test('a frame right behind the answer of a WebSocket is not lost', async () => {
  const transport = await transportBehind(Buffer.from('82024142', 'hex'))
  const [chunk] = (await once(transport, 'data')) as [Buffer]
  expect(chunk.toString()).toBe('AB')
  transport.destroy()
})
