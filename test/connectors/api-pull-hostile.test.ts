import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'

const servers: Server[] = []
const sockets = new Set<Socket>()

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  for (const server of servers.splice(0)) {
    server.close()
    await once(server, 'close')
  }
})

/** A server that speaks as badly as a test wants, as soon as a connection has said something. */
async function badServer(speak: (socket: Socket) => void) {
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      resolve()
      speak(socket)
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}/`, port, reached }
}

async function failureOf(speak: (socket: Socket) => void, source: object = {}): Promise<string> {
  const { endpoint, port } = await badServer(speak)
  const rounds = new ApiRounds({ endpoint, ...source }, [port])
  const { message } = await rounds.failure()
  expect(rounds.position).toBeUndefined()
  return message
}

const head = (...lines: readonly string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

/** Writes as much as the other side takes, for ever. */
function flood(socket: Socket, chunk: Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', write)
  write()
}

function drip(socket: Socket, beginning: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write('x'), 20)
  socket.on('close', () => clearInterval(timer))
}

describe('an answer that does not end in time', () => {
  const late = 'there was no complete answer within 0.2 s'

  test.each<[string, (socket: Socket) => void]>([
    ['there is none', () => undefined],
    ['its headers drip', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n')],
    ['its body drips', (socket) => drip(socket, head('content-length: 1000'))],
    [
      'it says to go on, for ever',
      (socket) => flood(socket, Buffer.from('HTTP/1.1 100 C\r\n\r\n')),
    ],
  ])('is given up: %s', async (_, speak) => {
    expect(await failureOf(speak, { timeout: '200ms' })).toBe(late)
  })

  test('is given up when TLS is not agreed on, long before the connection would be', async () => {
    const { port } = await badServer(() => undefined)
    const source = { endpoint: `https://127.0.0.1:${port}`, timeout: '200ms' }
    const startedAtMs = performance.now()
    expect((await new ApiRounds(source, [port]).failure()).message).toBe(late)
    expect(performance.now() - startedAtMs).toBeLessThan(8_000)
  })

  test('is not waited for by a round that is told to end', async () => {
    const { port, reached } = await badServer(() => undefined)
    const stop = new AbortController()
    const rounds = new ApiRounds({ endpoint: `https://127.0.0.1:${port}` }, [port])
    const ended = rounds.round(1, stop.signal).catch((error: Error) => error.name)
    await reached
    const stoppedAtMs = performance.now()
    stop.abort()
    expect(await ended).toBe('AbortError')
    expect(performance.now() - stoppedAtMs).toBeLessThan(8_000)
  })
})

function after(socket: Socket, ...lines: readonly string[]): Socket {
  socket.write(head(...lines))
  return socket
}

describe('an answer that is too large', () => {
  const large = 'the answer is larger than 32 MiB'

  test('is not read when it says so', async () => {
    const tenGigabytes = 10 * 1024 ** 3
    const speak = (socket: Socket) => flood(after(socket, `content-length: ${tenGigabytes}`), chunk)
    expect(await failureOf(speak)).toBe(large)
  })

  test('is read up to the limit when it does not', async () => {
    let sent = 0
    const speak = (socket: Socket) => {
      flood(after(socket, 'connection: close'), chunk)
      socket.on('close', () => {
        sent = socket.bytesWritten
      })
    }
    expect(await failureOf(speak)).toBe(large)
    await expect.poll(() => sent).toBeGreaterThan(32 * 1024 ** 2)
    expect(sent).toBeLessThan(64 * 1024 ** 2)
  })

  const chunk = Buffer.alloc(64 * 1024, 'x')

  const zeros = Buffer.alloc(40 * 1024 ** 2)

  test.each([
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['zstd', zstdCompressSync(zeros)],
  ])('is not inflated: %s', async (coding, bomb) => {
    await using api = await ApiServer.start((_, answer) => {
      answer.setHeader('content-encoding', coding)
      answer.end(bomb)
    })
    const rounds = new ApiRounds({ endpoint: api.origin }, [api.port])
    expect((await rounds.failure()).message).toBe(large)
  })

  test('is given up at once when it says so', async () => {
    const declared = `content-length: ${33 * 1024 ** 2}`
    expect(await failureOf((socket) => after(socket, declared), { timeout: '10s' })).toBe(large)
  })

  test('may have many headers', async () => {
    await using api = await ApiServer.start((_, answer) =>
      json(answer, '{}', { 'x-long': 'x'.repeat(25_000) }),
    )
    expect(await new ApiRounds({ endpoint: api.origin }, [api.port]).texts()).toEqual(['{}'])
  })

  test('has too many headers', async () => {
    const line = Buffer.from(`x-flood: ${'x'.repeat(1_000)}\r\n`)
    const speak = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      flood(socket, line)
    }
    expect(await failureOf(speak)).toBe('the headers are larger than 32 KiB')
  })

  test('has too many items', async () => {
    const items = `[${'1,'.repeat(100_000)}1]`
    await using api = await ApiServer.start((_, answer) => json(answer, items))
    const rounds = new ApiRounds({ endpoint: api.origin }, [api.port])
    expect((await rounds.failure()).message).toBe('a page has more than 100000 items')
  })
})

describe('an answer whose length is wrong is no page', () => {
  test.each([
    ['shorter', head('content-length: 20'), 'the connection ended before the answer did'],
    [
      'cut in its chunks',
      `${head('transfer-encoding: chunked')}14\r\n`,
      'the connection ended before',
    ],
    ['longer', head('content-length: 5'), 'the answer is longer than it says'],
    [
      'longer, and the last',
      head('content-length: 5', 'connection: close'),
      'the answer is longer than it says',
    ],
    ['given twice', head('content-length: 5', 'content-length: 6'), 'no answer in HTTP'],
    ['no number', head('content-length: five'), 'no answer in HTTP'],
    [
      'given beside chunks',
      head('content-length: 5', 'transfer-encoding: chunked'),
      'no answer in HTTP',
    ],
  ])('%s', async (_, beginning, reason) => {
    expect(await failureOf((socket) => socket.end(`${beginning}{"a":1234}`))).toContain(reason)
  })

  test.each(['gzip', 'br', 'zstd', 'deflate', 'rot13'])('not in %s, as it says', async (coding) => {
    await using api = await ApiServer.start((_, answer) => {
      answer.setHeader('content-encoding', coding)
      answer.end('plainly not')
    })
    const { message } = await new ApiRounds({ endpoint: api.origin }, [api.port]).failure()
    expect(message).toMatch(/^the (answer is not|content coding) \w+/)
  })

  test('cut in what is compressed', async () => {
    await using api = await ApiServer.start((_, answer) => {
      answer.setHeader('content-encoding', 'gzip')
      answer.end(gzipSync('{"number": 1}').subarray(0, -6))
    })
    const { message } = await new ApiRounds({ endpoint: api.origin }, [api.port]).failure()
    expect(message).toBe('the answer is not gzip throughout')
  })
})

test('what is no HTTP is no answer', async () => {
  expect(await failureOf((socket) => socket.end('220 mail.example ESMTP\r\n'))).toContain(
    'no answer in HTTP',
  )
})
