import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

/** What a message may have. */
const bytesMax = 4 * 1024 * 1024

const credentials = `x-api-key: ${adminKey}\r\nx-api-secret: ${adminSecret}\r\n`

/** What a client does once it has had its answer, with a body that is not at its end. */
const endings: Readonly<Record<string, (socket: Socket) => void>> = {
  'goes on sending, and leaves': (socket) => {
    sendChunk(socket, 100_000)
    socket.end()
  },
  'ends the body': (socket) => void socket.end('0\r\n\r\n'),
  'says what is no chunk': (socket) => void socket.end('no length\r\n'),
  closes: (socket) => void socket.end(),
  'leaves without a word': (socket) => void socket.destroy(),
  'resets the connection': (socket) => void socket.resetAndDestroy(),
}

function sendChunk(socket: Socket, length: number): void {
  socket.write(`${length.toString(16)}\r\n${' '.repeat(length)}\r\n`)
}

async function sendTooMuch(path: string, headers: string): Promise<Socket> {
  const socket = connect(Number(new URL(service.process.http).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${credentials}${headers}Transfer-Encoding: chunked\r\n\r\n`,
  )
  sendChunk(socket, bytesMax)
  sendChunk(socket, 1)
  return socket
}

const ways = Object.keys(endings).flatMap((ending) => [
  [ending, 'plain', ''] as const,
  [ending, 'compressed', 'Content-Encoding: gzip\r\n'] as const,
])

test.each(ways)(
  'a client that %s after its %s body was refused as too long disturbs nobody',
  async (ending, _, coding) => {
    const { api, process } = service
    const path = `/streams/${await api.createStream()}/data`

    const socket = await sendTooMuch(path, `Content-Type: application/json\r\n${coding}`)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    endings[ending]?.(socket)
    socket.resume()
    await closed

    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /)
    expect((await api.withToken('GET', '/streams')).status).toBe(200)
    expect(process.output()).not.toMatch(/cut off/)
  },
)
