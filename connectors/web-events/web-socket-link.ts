import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import type { Credentials } from '../http-client/credentials.ts'
import { beginningOf, Exchanges } from '../http-client/exchange.ts'
import { destinationOf, type HttpOptions } from '../http-client/http-options.ts'
import { SourceRequests, tlsAt } from '../http-client/source-requests.ts'
import { brokenOf } from './closing.ts'

/** Time for the connection, for a token where there is one, and for the answer to the upgrade: each of them. */
const openMs = 20_000

/** Larger messages are not taken: the connection ends. */
const messageBytesMax = 4 * 1024 * 1024

/** Parts of one message. */
const partsMax = 4_096

interface LinkNeeds {
  readonly options: HttpOptions & { readonly subprotocol: string | undefined }
  readonly credentials: Credentials
  readonly run: Pick<FetchRun, 'dial' | 'signal' | 'nowUs'>
}

/** A connection that is open. */
export interface WebSocketLink {
  readonly webSocket: WebSocket
  /** What it runs over: nothing is read from it or written to it by others. */
  readonly socket: Socket
}

/**
 * Opens a WebSocket: RFC 6455, section 4.1. Redirects are not followed. What comes is only read from when there is a
 * listener, which has to be added at once.
 *
 * @throws SourceRefused when the server does not want us; RetryLater; any other Error
 */
export async function openLink(needs: LinkNeeds): Promise<WebSocketLink> {
  const { options, credentials, run } = needs
  using exchanges = new Exchanges({ ...run, timeoutMs: openMs, tlsOf: tlsAt(options) })
  const requests = new SourceRequests({ ...run, options, credentials, exchanges })
  const first = await tryLink(needs, requests)
  if (!(first instanceof Refusal)) return first
  if (first.status !== 401 || !credentials.renew()) throw first.reason
  const second = await tryLink(needs, requests)
  if (second instanceof Refusal) throw second.reason
  return second
}

/** An answer that is no upgrade. */
class Refusal {
  readonly status: number
  readonly reason: Error

  constructor(status: number, reason: Error) {
    this.status = status
    this.reason = reason
  }
}

async function tryLink(
  { options, run }: LinkNeeds,
  requests: SourceRequests,
): Promise<WebSocketLink | Refusal> {
  const { endpoint, tls, subprotocol } = options
  const call = { url: endpoint, method: 'GET', usual: {}, fixed: { host: endpoint.host } }
  const { url, headers } = await requests.dressed(call)
  const isSecure = url.protocol === 'wss:'
  const { signal, dial } = run
  // Loaded when it is needed, as most services open none; before there is a connection, which could break meanwhile.
  const { WebSocket } = await import('ws')
  const socket = await dial({ ...destinationOf(url), tls: isSecure ? tls : undefined, signal })
  const subprotocols = subprotocol === undefined ? [] : [subprotocol]
  // TLS, where there is any, was done when the connection was made.
  const address = `ws://${url.host}${url.pathname}${url.search}`
  const webSocket = new WebSocket(address, subprotocols, {
    headers,
    createConnection: () => socket,
    maxPayload: messageBytesMax,
    maxFragments: partsMax,
    // Nobody can send us a bomb: compression is not offered.
    perMessageDeflate: false,
  })
  return await upgraded({ webSocket, socket }, requests, signal)
}

async function upgraded(
  link: WebSocketLink,
  requests: SourceRequests,
  signal: AbortSignal,
): Promise<WebSocketLink | Refusal> {
  const { webSocket, socket } = link
  const late = new Error(`there was no answer within ${openMs / 1_000} s`)
  const patience = setTimeout(() => socket.destroy(late), openMs)
  const abort = () => socket.destroy()
  signal.addEventListener('abort', abort)
  const answered = Promise.withResolvers<WebSocketLink | Refusal>()
  webSocket.once('open', () => {
    // Nothing is read until there is somebody to read it.
    webSocket.pause()
    answered.resolve(link)
  })
  // There may be more than one.
  webSocket.on('error', (error) => answered.reject(brokenOf(error)))
  webSocket.once('close', () => answered.reject(new Error('the connection was lost')))
  webSocket.once('unexpected-response', (_, incoming) => {
    const { statusCode: status = 0, headers } = incoming
    const reason = async () => {
      const body = await beginningOf(incoming, signal)
      return new Refusal(status, requests.failureOf({ status, headers, body }))
    }
    answered.resolve(reason())
  })
  if (signal.aborted) abort()
  try {
    const answer = await answered.promise
    if (answer instanceof Refusal) webSocket.terminate()
    return answer
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(patience)
    signal.removeEventListener('abort', abort)
  }
}
