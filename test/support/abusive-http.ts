import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { gzipSync, zstdCompressSync } from 'node:zlib'

/** A request as it would be in order: abuses are made of it. */
export interface AbusedRequest {
  readonly method: string
  readonly path: string
  /** `name: value`. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** Where the service listens. */
export interface AbusedPlace {
  readonly port: number
  readonly isSecure: boolean
}

/** Something that is done to the service over one connection. Resolves when all is said, and the connection is over. */
export type Abuse = (socket: Socket, request: AbusedRequest) => Promise<void>

/** More than any route takes that keeps its body in memory. */
const tooLongBytes = 4 * 1024 * 1024 + 1

/** Time for an answer that may never come: these connections are made for nobody to answer. */
const answerMs = 1_000

/** Places at which a request is broken off. */
export const placesOfRequest = 20

const crlf = '\r\n'

function headOf({ method, path, headers }: AbusedRequest, framing: readonly string[]): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, ...framing, '', '']
  return Buffer.from(lines.join(crlf))
}

function whole(request: AbusedRequest, more: readonly string[] = []): Buffer {
  const { body } = request
  return Buffer.concat([headOf(request, [`Content-Length: ${body.length}`, ...more]), body])
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(bytes.length.toString(16) + crlf), bytes, Buffer.from(crlf)])
}

function chunked(request: AbusedRequest, ...more: readonly string[]): Buffer {
  return headOf(request, ['Transfer-Encoding: chunked', ...more])
}

/** Writes, and waits until the network has it, or will never have. */
async function say(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (socket.destroyed) return
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off('close', done)
      resolve()
    }
    socket.once('close', done)
    socket.write(bytes, done)
  })
}

/** Waits until something was answered, or the connection is closed. */
async function hear(socket: Socket): Promise<void> {
  await Promise.race([
    heard(socket, 'data'),
    heard(socket, 'close'),
    sleep(answerMs, undefined, { ref: false }),
  ])
}

async function heard(socket: Socket, event: string): Promise<void> {
  if (socket.destroyed) return
  await new Promise<void>((resolve) => socket.once(event, () => resolve()))
}

/** Ways to leave. */
const endings: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.destroy(),
  (socket) => socket.end(),
]

let endingsGone = 0

/** Leaves in one of the ways, in turn. */
function leave(socket: Socket): void {
  endings[endingsGone++ % endings.length]?.(socket)
}

/** Breaks the whole request off at one of the places. */
export function brokenOff(place: number, isReset: boolean): Abuse {
  return async (socket, request) => {
    const bytes = whole(request)
    await say(socket, bytes.subarray(0, Math.ceil((bytes.length * place) / placesOfRequest)))
    if (isReset) socket.resetAndDestroy()
    else socket.end()
  }
}

const spaces = Buffer.alloc(256 * 1024, ' ')

/** All else that can be done to a request, by name. */
export const abuses: Readonly<Record<string, Abuse>> = {
  async 'says that it is too long'(socket, request) {
    await say(socket, headOf(request, [`Content-Length: ${tooLongBytes}`]))
    await say(socket, spaces)
    await hear(socket)
    leave(socket)
  },
  async 'is too long, in chunks'(socket, request) {
    await say(socket, chunked(request))
    for (let sent = 0; sent < tooLongBytes && !socket.destroyed; sent += spaces.length) {
      await say(socket, chunk(spaces))
    }
    await hear(socket)
    await say(socket, chunk(spaces))
    leave(socket)
  },
  async 'is too long, compressed, in chunks'(socket, request) {
    await say(socket, chunked(request, 'Content-Encoding: gzip'))
    for (let sent = 0; sent < tooLongBytes && !socket.destroyed; sent += spaces.length) {
      await say(socket, chunk(spaces))
    }
    leave(socket)
  },
  async 'is cut off in a chunk'(socket, request) {
    await say(socket, chunked(request))
    await say(socket, chunk(request.body))
    await say(socket, `ff${crlf}half of it`)
    leave(socket)
  },
  async drips(socket, request) {
    const bytes = whole(request)
    const step = Math.max(1, Math.ceil(bytes.length / 40))
    for (let at = 0; at < bytes.length && !socket.destroyed; at += step) {
      await say(socket, bytes.subarray(at, at + step))
      await turn()
    }
    await hear(socket)
    leave(socket)
  },
  async 'is no gzip'(socket, request) {
    await say(socket, whole(request, ['Content-Encoding: gzip']))
    await hear(socket)
    leave(socket)
  },
  async 'is half of a gzip'(socket, request) {
    const packed = gzipSync(request.body)
    const body = packed.subarray(0, packed.length / 2)
    await say(socket, whole({ ...request, body }, ['Content-Encoding: gzip']))
    await hear(socket)
    leave(socket)
  },
  async 'is no zstd, in chunks'(socket, request) {
    await say(socket, chunked(request, 'Content-Encoding: zstd'))
    await say(socket, chunk(request.body))
    await say(socket, `0${crlf}${crlf}`)
    await hear(socket)
    leave(socket)
  },
  async 'is zstd with something behind it'(socket, request) {
    const body = Buffer.concat([zstdCompressSync(request.body), request.body])
    await say(socket, whole({ ...request, body }, ['Content-Encoding: zstd']))
    await hear(socket)
    leave(socket)
  },
  async 'has a coding that nobody knows'(socket, request) {
    await say(socket, whole(request, ['Content-Encoding: br, gzip']))
    leave(socket)
  },
  async 'has another charset'(socket, request) {
    const headers = request.headers.filter((line) => !/^content-type/i.test(line))
    const other = 'Content-Type: application/json; charset=latin1'
    await say(socket, whole({ ...request, headers: [...headers, other] }))
    await hear(socket)
    leave(socket)
  },
  async 'has chunks that are none'(socket, request) {
    await say(socket, chunked(request))
    await say(socket, `zz${crlf}${crlf}`)
    await hear(socket)
    leave(socket)
  },
  async 'says its length in two ways'(socket, request) {
    await say(socket, chunked(request, `Content-Length: ${request.body.length}`))
    await say(socket, request.body)
    await hear(socket)
    leave(socket)
  },
  async 'has a trailer that does not end'(socket, request) {
    await say(socket, chunked(request, 'Trailer: x'))
    await say(socket, chunk(request.body))
    await say(socket, `0${crlf}x: ${'y'.repeat(1_000)}`)
    leave(socket)
  },
  async 'expects to be told to go on, and does not'(socket, request) {
    await say(socket, headOf(request, ['Content-Length: 100', 'Expect: 100-continue']))
    await hear(socket)
    leave(socket)
  },
  async 'expects to be told to go on'(socket, request) {
    const { length } = request.body
    await say(socket, headOf(request, [`Content-Length: ${length}`, 'Expect: 100-continue']))
    await hear(socket)
    await say(socket, request.body)
    leave(socket)
  },
  async 'expects what nobody can do'(socket, request) {
    await say(socket, whole(request, ['Expect: the-unexpected']))
    await hear(socket)
    leave(socket)
  },
  async 'comes three times at once'(socket, request) {
    const bytes = whole(request)
    await say(socket, Buffer.concat([bytes, bytes, bytes, bytes.subarray(0, bytes.length / 2)]))
    await hear(socket)
    leave(socket)
  },
  async 'is left before its answer'(socket, request) {
    await say(socket, whole(request))
    leave(socket)
  },
  async 'is left in the middle of its answer'(socket, request) {
    socket.pause()
    await say(socket, whole(request))
    await sleep(20)
    socket.resetAndDestroy()
  },
  async 'wants to become something else'(socket, request) {
    const upgrade = ['Connection: upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    await say(socket, headOf({ ...request, method: 'GET' }, [...upgrade, key]))
    await say(socket, request.body)
    await hear(socket)
    leave(socket)
  },
}

/** Does it over a connection of its own, and waits for the end of that. */
export async function abuse(
  { port, isSecure }: AbusedPlace,
  request: AbusedRequest,
  how: Abuse,
): Promise<void> {
  const plain = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  plain.on('error', () => undefined)
  const closed = heard(plain, 'close')
  await once(plain, 'connect')
  const socket = isSecure ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain
  socket.on('error', () => undefined)
  // It is the connection below that can be reset.
  if (isSecure) socket.resetAndDestroy = () => plain.resetAndDestroy()
  if (isSecure) await Promise.race([heard(socket, 'secureConnect'), closed])
  socket.resume()
  await how(socket, request)
  // What the service has not closed by now, it is told to.
  await Promise.race([closed, sleep(answerMs, undefined, { ref: false })])
  plain.destroy()
}
