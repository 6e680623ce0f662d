import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { PolledRows } from '../support/polled-rows.ts'

const sockets = new Set<Socket>()
const servers: AsyncDisposable[] = []

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
})

/** A message of the server (PostgreSQL, 54.2.1). */
function message(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const ready = message('Z', Buffer.from('I'))
const done = message('C', Buffer.from('SELECT 0\0'))
const prepared = Buffer.concat([message('1'), message('2')])
/** One column, `id`, that is a bigint. */
const described = message(
  'T',
  Buffer.concat(
    [Buffer.from('\0\x01id\0'), int32(0), Buffer.from([0, 0]), int32(20)].concat([
      Buffer.from([0, 8]),
      int32(-1),
      Buffer.from([0, 0]),
    ]),
  ),
)

/** A packet of MySQL and MariaDB. */
function packet(sequence: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length, 0, 0, sequence % 256]), body])
}

const greeting = packet(
  0,
  Buffer.from('\x0a10.11.0-MariaDB\0\x01\0\0\x0012345678\0\xff\xf7\x21\x02\0\xff\0\x15', 'latin1'),
)

const loggedIn = packet(2, Buffer.from([0, 0, 0, 2, 0, 0, 0]))

/** One column, `id`, that is a text, and the beginning of its rows. */
const columns = Buffer.concat([
  packet(1, Buffer.from([1])),
  packet(2, Buffer.from('\x03def\0\0\0\x02id\0\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0', 'latin1')),
  packet(3, Buffer.from([254, 0, 0, 2, 0])),
])

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  return (server.address() as AddressInfo).port
}

/** Speaks as PostgreSQL does until rows are asked for; then as the test says. */
async function rogue(answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    let asked = 0
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', int32(0)), ready]))
      socket.on('data', (bytes: Buffer) => {
        const statements = bytes.toString('latin1').split(';').length
        if (bytes[0] === 81) socket.write(Buffer.concat([...Array(statements).fill(done), ready]))
        else if (asked++ === 0) socket.write(Buffer.concat([prepared, described, done, ready]))
        else answer(socket)
      })
    })
  })
  const port = await portOf(server)
  const source = {
    protocol: 'postgres',
    endpoint: `127.0.0.1:${port}/plant`,
    credentials: { username: 'plant', password: 'secret' },
    query: 'SELECT id FROM readings',
    keyColumn: 'id',
    statementTimeout: '1s',
  }
  return new PolledRows(source, { ports: [port] })
}

test('a server that sends rows without end is hung up on, before they take the memory', async () => {
  const rows = Buffer.concat(Array(9_000).fill(message('D', Buffer.from([0, 0]))))
  const polled = await rogue((socket) => {
    socket.write(Buffer.concat([prepared, described]))
    const pump = () => {
      while (!socket.destroyed && socket.write(rows));
    }
    socket.on('drain', pump)
    pump()
  })
  await expect(polled.poll()).rejects.toThrow('more rows than were asked for')
  await expect.poll(() => [...sockets].every(({ destroyed }) => destroyed)).toBe(true)
})

test('so is one that speaks as MariaDB does', async () => {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.write(greeting)
    socket.once('data', () => {
      socket.write(loggedIn)
      socket.once('data', () => {
        socket.write(columns)
        let sequence = 4
        const row = () => packet(sequence++, Buffer.from([1, 120]))
        const pump = () => {
          while (
            !socket.destroyed &&
            socket.write(Buffer.concat(Array.from({ length: 256 }, row)))
          );
        }
        socket.on('drain', pump)
        pump()
      })
    })
  })
  const port = await portOf(server)
  const source = {
    protocol: 'mariadb',
    endpoint: `127.0.0.1:${port}/plant`,
    credentials: { username: 'plant', password: 'secret' },
    query: 'SELECT id FROM readings',
    keyColumn: 'id',
  }
  const polled = new PolledRows(source, { ports: [port] })
  await expect(polled.poll()).rejects.toThrow('more rows than were asked for')
})

test('a server that never answers is given up', async () => {
  const polled = await rogue(() => undefined)
  await expect(polled.poll()).rejects.toThrow('has not answered in 1 s')
})
