import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ArrivingBodies } from '../../src/requests/http/arriving-bodies.ts'

const kibibyte = 1024

let nowMs = 0
let server: Server
let arriving: ArrivingBodies
/** Requests that were heard of, and the bytes of their bodies. */
let heard = 0
let bytes = 0
let refusals: (string | undefined)[] = []

beforeEach(async () => {
  nowMs = 0
  heard = 0
  bytes = 0
  refusals = []
  arriving = new ArrivingBodies(() => nowMs)
  server = createServer({ requestTimeout: 0 })
  server.on('request', (request, response) => {
    heard++
    if (request.url === '/file') arriving.takeSlowly(request)
    if (request.url === '/refused') response.end('no')
    request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  })
  // Last, as in the service, whose routes are there before.
  arriving.watch(server)
  server.on('clientError', (error: { readonly code?: string }, socket: Socket) => {
    refusals.push(error.code)
    socket.end('HTTP/1.1 408 \r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A connection over which a POST was begun. */
async function begin(path: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n`)
  const before = heard
  await expect.poll(() => heard).toBeGreaterThan(before)
  return socket
}

async function send(socket: Socket, count: number): Promise<void> {
  const before = bytes
  socket.write(Buffer.alloc(count))
  await expect.poll(() => bytes).toBe(before + count)
}

function after(seconds: number): void {
  nowMs += seconds * 1_000
  arriving.check(server)
}

describe('a body', () => {
  test('has 30 s to arrive, however much of it has come', async () => {
    const socket = await begin('/')
    await send(socket, 1024 * kibibyte)

    after(29)
    expect(refusals).toEqual([])
    after(1)

    expect(refusals).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
  })

  test('has these 30 s too when nobody wants it', async () => {
    await begin('/refused')

    after(30)

    expect(refusals).toHaveLength(1)
  })

  test('whose sender does not go away after the answer loses its connection', async () => {
    const socket = await begin('/')
    const closed = once(socket, 'close')

    after(30)
    await turn()
    after(2)

    await closed
    expect(refusals).toHaveLength(1)
  })

  test('that has arrived is waited for no longer, whatever becomes of it', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc')
    await expect.poll(() => bytes).toBe(3)

    after(60)

    expect(refusals).toEqual([])
    socket.destroy()
  })
})

describe('a file', () => {
  test('may take longer as long as 256 KiB come in 30 s', async () => {
    const socket = await begin('/file')

    for (let times = 0; times < 5; times++) {
      await send(socket, 256 * kibibyte)
      after(30)
    }

    expect(refusals).toEqual([])
  })

  test.each([0, 255])('of which %i KiB come is not waited for', async (count) => {
    const socket = await begin('/file')
    await send(socket, 1024 * kibibyte)
    after(30)
    if (count > 0) await send(socket, count * kibibyte)

    after(30)

    expect(refusals).toHaveLength(1)
  })
})
