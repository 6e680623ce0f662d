import type { FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { type PendingUpgrade, webSocketProtocol } from '../../requests/http/upgrades.ts'
import type { OpenTail, TailEnd } from './open-tails.ts'
import type { TailEvent } from './tail.ts'
import type { Transport } from './tail-transport.ts'

/** Clients have nothing to say: longer messages close the connection (1009), and so do many. */
const messageBytesMax = 1_024
const messagesMax = 100

/** Time for a client to answer a closing handshake. */
const farewellMs = 1_000

/** How long the other side may take nothing at all. */
const standstillMs = 90_000

/** Close codes of RFC 6455, section 7.4.1, and our own, which begin with 44 as the statuses with 4. */
const closeCodes: Readonly<Record<string, number>> = {
  stopping: 1001,
  internal_error: 1011,
  store_unavailable: 1013,
  invalid_api_key: 4401,
  token_expired: 4401,
  not_found: 4404,
  position_expired: 4410,
}

const policyViolation = 1008

/** Bytes of a reason to close: RFC 6455, section 5.5, less the code. */
const reasonBytesMax = 123

/**
 * An option of the library that its types do not know yet: time for a client to answer a closing
 * handshake.
 */
const closing = { closeTimeout: farewellMs } as const

const server = new WebSocketServer({
  ...closing,
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: messageBytesMax,
  // Never the token that a browser has offered as a protocol.
  handleProtocols: (offered) => (offered.has(webSocketProtocol) ? webSocketProtocol : false),
})

/** A tail as messages of JSON over a WebSocket; undefined when the connection never becomes one. */
export async function tailSocket(
  { request, reply, upgrade }: UpgradedRequest,
  tail: OpenTail,
  position: string,
): Promise<Transport | undefined> {
  void reply.hijack()
  const { socket, head } = upgrade
  // Taken over, the connection closes without a word to its answer.
  socket.once('close', () => tail.release())
  const webSocket = await new Promise<WebSocket | undefined>((resolve) => {
    // ws tells nobody when the client has left, or asks in a way that it refuses.
    socket.once('close', () => resolve(undefined))
    server.handleUpgrade(request.raw, socket, head, resolve)
  })
  if (webSocket === undefined) return undefined
  refuseTalk(webSocket)
  const isAlive = pulse(webSocket)
  await say(webSocket, JSON.stringify({ type: 'position', position }))
  return {
    async events(events) {
      // The last one is taken when all are.
      await Promise.all(events.map((event) => say(webSocket, messageOf(event))))
    },
    async heartbeat(at) {
      if (!isAlive()) webSocket.terminate()
      await say(webSocket, JSON.stringify({ type: 'position', position: at }))
    },
    async end(end) {
      const { code: error, message, remedy } = end
      await say(webSocket, JSON.stringify({ type: 'end', error, message, remedy }))
      close(webSocket, end)
    },
  }
}

export interface UpgradedRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly upgrade: PendingUpgrade
}

function messageOf({ type, position, json }: TailEvent): string {
  return `{"type":"${type}","position":"${position}","data":${json}}`
}

/** Resolves when the network has taken it. A connection that takes nothing for long is given up. */
async function say(webSocket: WebSocket, text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => webSocket.terminate(), standstillMs)
  webSocket.send(text, () => resolve())
  await promise
  clearTimeout(timer)
}

function refuseTalk(webSocket: WebSocket): void {
  let messages = 0
  webSocket.on('message', () => {
    messages++
    if (messages > messagesMax) webSocket.close(policyViolation, 'clients have nothing to say here')
  })
  // A frame that is against the protocol closes the connection; ws has told the client why.
  webSocket.on('error', () => undefined)
}

/** Asks with each call for a sign of life, and tells whether the one before was answered. */
function pulse(webSocket: WebSocket): () => boolean {
  let isAnswered = true
  webSocket.on('pong', () => {
    isAnswered = true
  })
  return () => {
    const wasAnswered = isAnswered
    isAnswered = false
    webSocket.ping()
    return wasAnswered
  }
}

function close(webSocket: WebSocket, { code, message }: TailEnd): void {
  const reason = Buffer.from(`${code}: ${message}`).subarray(0, reasonBytesMax).toString()
  webSocket.close(closeCodes[code] ?? closeCodes['internal_error'], reason.replace(/\uFFFD$/, ''))
  setTimeout(() => webSocket.terminate(), farewellMs).unref()
}
