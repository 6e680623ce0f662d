import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Span, SpanAttributes, Tracing } from '../../core/tracing.ts'

/** Where a request carries its span. */
const spanKey = Symbol('span')

declare module 'fastify' {
  interface FastifyRequest {
    [spanKey]?: Span | undefined
  }
}

/** Methods that have a name of their own in traces: a client may make up any number of others. */
const knownMethods: ReadonlySet<string> = new Set(
  'GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY'.split(' '),
)

/** Makes a span of each request, in the trace of who has sent it. With callbacks, because they run for every request. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.decorateRequest(spanKey, undefined)
  app.addHook('onRequest', (request, _, done) => {
    const { traceparent, tracestate } = request.headers
    const parent =
      typeof traceparent === 'string'
        ? { traceparent, ...(typeof tracestate === 'string' && { tracestate }) }
        : {}
    const attributes = attributesOf(request)
    const { 'http.request.method': method, 'http.route': route = '' } = attributes
    const name = `${method === otherMethod ? 'HTTP' : method} ${route}`.trimEnd()
    request[spanKey] = tracing.start({ name, kind: 'server', attributes, parent })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    request[spanKey]?.end(endOf(reply))
    done()
  })
}

const otherMethod = '_OTHER'

/**
 * Neither query nor headers: there are credentials in them. A path is sent only where its address alone opens nothing:
 * those of uploads, mails and inbound webhooks are secrets.
 */
function attributesOf(request: FastifyRequest): SpanAttributes {
  const { method, protocol, raw } = request
  const { url: route, config } = request.routeOptions
  const isGuarded = config.scope !== undefined
  return {
    'http.request.method': knownMethods.has(method) ? method : otherMethod,
    'http.route': route,
    'url.scheme': protocol,
    'url.path': isGuarded ? request.url.split('?', 1)[0] : route,
    'network.protocol.version': raw.httpVersion,
  }
}

/** Only what is our fault is a failure of the span: so OpenTelemetry wants it. */
function endOf({ statusCode, raw }: FastifyReply) {
  const attributes = { 'http.response.status_code': statusCode }
  if (statusCode >= 500) return { attributes, failure: String(statusCode) }
  return raw.writableFinished ? { attributes } : { attributes, failure: 'connection_closed' }
}
