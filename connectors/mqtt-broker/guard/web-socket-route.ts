import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer } from 'ws'
import { DomainError, invalidParameter } from '../../../src/core/errors.ts'
import {
  assertOrigin,
  isUpgrade,
  type PendingUpgrade,
  takeUpgrade,
} from '../../../src/requests/http/upgrades.ts'
import type { ClientSocket } from './client-socket.ts'
import { publishBytesMax } from './fixed-header.ts'
import { MqttWebSocket } from './web-socket.ts'

/** Subprotocols that mean MQTT: the registered one ([MQTT-6.0.0-3]), and what older clients say. */
const subprotocols = ['mqtt', 'mqttv3.1'] as const

/** What one message may hold back: its bytes, and the parts and pieces that it comes in. */
const limits = {
  maxPayload: publishBytesMax,
  maxFragments: 4_096,
  maxBufferedChunks: 16_384,
  /** Time for a client to answer a closing handshake, in milliseconds. */
  closeTimeout: 1_000,
} as const

const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  ...limits,
  handleProtocols: (offered) => subprotocols.find((protocol) => offered.has(protocol)) ?? false,
})

export interface MqttWebSocketNeeds {
  /** Takes a new connection, as one that came over TCP. */
  readonly accept: (socket: ClientSocket) => void
  /** Origins whose pages may connect, beside our own. */
  readonly corsOrigins: readonly string[]
}

/** No operation of the HTTP interface: the only thing to be done with it is to leave HTTP. */
const options = { config: { undocumented: true } } as const

/**
 * `GET /mqtt`: the broker for those who can only use the HTTP port, such as pages in browsers. The
 * credentials are those of the CONNECT packet, as everywhere in MQTT, and not of this request.
 */
export function mqttWebSocketRoute(needs: MqttWebSocketNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get('/mqtt', options, async (request, reply) => connect(needs, request, reply))
  }
}

function connect(
  { accept, corsOrigins }: MqttWebSocketNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!isUpgrade(request)) {
    // RFC 9110, section 15.5.22.
    void reply.header('upgrade', 'websocket').header('connection', 'upgrade')
    throw new DomainError('websocket_required', 'this path is for MQTT over a WebSocket')
  }
  assertOrigin(request, corsOrigins)
  assertSubprotocol(request)
  const { socket, head } = takeUpgrade(request) as PendingUpgrade
  void reply.hijack()
  server.handleUpgrade(request.raw, socket, head, (webSocket) =>
    accept(new MqttWebSocket({ webSocket, network: socket, remoteAddress: request.ip })),
  )
  return reply
}

/** @throws DomainError `invalid_request` for a client that does not say that it speaks MQTT */
function assertSubprotocol({ headers }: FastifyRequest): void {
  const offered = headers['sec-websocket-protocol']?.split(',').map((one) => one.trim()) ?? []
  if (subprotocols.some((protocol) => offered.includes(protocol))) return
  throw invalidParameter('Sec-WebSocket-Protocol', 'must offer mqtt, the only one spoken here')
}
