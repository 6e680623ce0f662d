import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { nodeHttp } from './node-http.ts'

/** The subprotocol that a WebSocket speaks with us. */
export const webSocketProtocol = 'streamvault.v1'

/** Before the token, where a browser offers it as a subprotocol: it can set no header. */
const tokenPrefix = 'bearer.'

/** A request that wants to become a WebSocket, until it is one or was answered otherwise. */
export interface PendingUpgrade {
  readonly socket: Duplex
  /** Bytes that came after the head of the request. */
  readonly head: Buffer
}

interface RoutedUpgrade extends PendingUpgrade {
  readonly response: ServerResponse
}

const upgrades = new WeakMap<IncomingMessage, RoutedUpgrade>()

/** Any other protocol is not known here: such a request is an ordinary one (RFC 9110, section 7.8). */
export function asksForWebSocket({ headers, method }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Sends requests for a WebSocket through the routes like all others, with the same checks and refusals.
 * A route that knows what to do with one takes it over (`takeUpgrade`); whatever else it answers is
 * the last that is said on the connection.
 */
export function routeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node has taken its own listener away: without one, a broken connection would end the process.
    socket.on('error', () => socket.destroy())
    const response = new nodeHttp.ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as never)
    // Nobody reads from it: waiting for the client to close as well would be in vain.
    response.once('finish', () => (socket as Socket).destroySoon())
    upgrades.set(request, { socket, head, response })
    app.routing(request, response)
  })
}

/** Whether the request wants to be a WebSocket. */
export function isUpgrade({ raw }: FastifyRequest): boolean {
  return upgrades.has(raw)
}

/**
 * Browsers send no preflight for a WebSocket, only the origin of the page.
 *
 * @throws DomainError `origin_not_allowed` for a page that is neither ours nor allowed
 */
export function assertOrigin({ headers }: FastifyRequest, allowed: readonly string[]): void {
  const { origin, host } = headers
  if (origin === undefined || allowed.includes(origin)) return
  if (URL.canParse(origin) && new URL(origin).host === host) return
  throw new DomainError('origin_not_allowed', 'pages of this origin may not connect')
}

/** Takes the connection of a request that wants to be a WebSocket; undefined when it is none. */
export function takeUpgrade({ raw }: FastifyRequest): PendingUpgrade | undefined {
  const upgrade = upgrades.get(raw)
  upgrade?.response.detachSocket(upgrade.socket as never)
  return upgrade
}

/**
 * Reads what a client still sends, and drops it, for an answer that goes on for long: behind bytes that nobody
 * reads it would not be seen that the client leaves.
 */
export function hearNothing({ raw }: FastifyRequest): void {
  raw.resume()
  const socket = upgrades.get(raw)?.socket
  // Node does the same for a connection that is still its own.
  socket?.once('end', () => socket.destroy()).resume()
}

/**
 * The headers that say who asks: those of the request, and for a WebSocket also a token among the
 * subprotocols. Never the URL, which is written down by every proxy on the way.
 */
export function credentialHeaders(request: IncomingMessage): readonly string[] {
  const { rawHeaders, headers } = request
  const offered = upgrades.has(request) ? headers['sec-websocket-protocol'] : undefined
  const token = offered
    ?.split(',')
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(tokenPrefix))
  if (token === undefined) return rawHeaders
  return [...rawHeaders, 'authorization', `Bearer ${token.slice(tokenPrefix.length)}`]
}
