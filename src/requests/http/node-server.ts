import type { Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Certificate } from '../../config/tls-files.ts'
import { type ErrorCode, errorCatalogue } from '../../core/error-catalogue.ts'
import { DomainError, remedyOf } from '../../core/errors.ts'
import type { ErrorBody } from './error-handler.ts'
import { nodeHttp } from './node-http.ts'
import { asksForWebSocket } from './upgrades.ts'

/** Time for its head alone: whoever takes longer wants to hold the connection. */
const headersTimeoutMs = 10_000

/** How long a silent connection may wait for its next request. Devices report about once a minute. */
const keepAliveTimeoutMs = 75_000

/**
 * How long a connection may stand still with an answer that nobody reads: it holds the memory of
 * the answer. Longer than the wait for a request, which is no reason to close one.
 */
const standstillTimeoutMs = 90_000

/** How often connections are looked at for these times. */
const connectionsCheckMs = 2_000

/** Request line and headers together. A token of ours has less than 1 KiB. */
const headerBytesMax = 16_384

/** Browsers behind proxies send about thirty. */
const headersMax = 100

/** Longest URL, query included: ours are far shorter, and a list of fields fits. */
const urlLengthMax = 8_192

/** Longest id in a path: that of an MQTT client has up to 256 bytes, each of them as `%XX`. */
const parameterLengthMax = 768

/** Connections beyond this are closed at once. */
const connectionsMax = 10_000

/** What Fastify makes its server with. */
export function serverOptions(certificate: Certificate | undefined) {
  const limits: ServerOptions = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: connectionsCheckMs,
    // Node's own answer would be an empty one: `refuseBadHead` looks for it.
    requireHostHeader: false,
    shouldUpgradeCallback: asksForWebSocket,
  }
  return {
    // One limit would hold for all routes: `ArrivingBodies` has several.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionTimeout: standstillTimeoutMs,
    clientErrorHandler: answerUnreadable,
    routerOptions: { maxParamLength: parameterLengthMax },
    ...(certificate === undefined
      ? { http: limits }
      : { https: { ...limits, ...certificate, minVersion: 'TLSv1.2' as const } }),
  }
}

export function limitConnections(server: Server): void {
  server.maxConnections = connectionsMax
  // Node leaves out what is beyond: one more than we take, so that we see that there are too many.
  server.maxHeadersCount = headersMax + 1
}

/** Refuses a head that is too large, or names no host (RFC 9112, section 3.2). With a callback, because it runs for every request. */
export function refuseBadHead(
  { raw }: FastifyRequest,
  _: FastifyReply,
  done: (error?: DomainError) => void,
): void {
  const { length } = raw.url ?? ''
  // Names and values alternate.
  const headers = raw.rawHeaders.length / 2
  if (length > urlLengthMax) {
    const message = `the URL has ${length} characters of ${urlLengthMax}`
    done(new DomainError('url_too_long', message))
  } else if (headers > headersMax) {
    done(new DomainError('headers_too_large', `more than ${headersMax} headers`))
  } else if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
    done(new DomainError('malformed_request', 'the Host header is missing'))
  } else {
    done()
  }
}

/** What Node itself found wrong with what came over a connection. */
interface ClientError extends Error {
  readonly code?: string
}

/** Answers what is no request at all, in the shape of every error, and ends the connection. */
function answerUnreadable(error: ClientError, socket: Socket): void {
  // What comes behind a request whose answer is under way can only end that.
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  const [code, message] = problemOf(error)
  const statusCode = errorCatalogue[code].status
  const remedy = remedyOf(code)
  const body = JSON.stringify({ error: code, message, statusCode, remedy } satisfies ErrorBody)
  const head = [
    `HTTP/1.1 ${statusCode} ${nodeHttp.STATUS_CODES[statusCode]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Whether some of an answer was sent over a connection, and not all of it. */
function isAnswering(socket: Socket): boolean {
  // Where Node itself keeps it, and looks for it in the same case.
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: ServerResponse | null }
  return answer?.headersSent === true
}

type UnreadableCode = Extract<
  ErrorCode,
  'headers_too_large' | 'malformed_request' | 'request_timeout'
>

function problemOf({ code }: ClientError): readonly [UnreadableCode, string] {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return ['headers_too_large', `the headers have more than ${headerBytesMax} bytes`]
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return ['request_timeout', 'the request took too long to arrive']
  }
  return ['malformed_request', 'that is not HTTP/1.1']
}
