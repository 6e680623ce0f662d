import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'

/** How long a browser may remember what it was allowed. */
const preflightLifetimeS = 600

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE'

const allowedHeaders = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'x-api-key',
  'x-api-secret',
].join(', ')

const exposedHeaders = 'ETag, Link, Retry-After, Idempotency-Replayed, X-Total-Count'

/**
 * Lets pages of these origins call us: exactly these, with credentials that the page holds, and never
 * with ones that the browser does (Fetch standard, section 3.3).
 */
export function allowOrigins(origins: readonly string[]) {
  const allowed = new Set(origins)
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { origin } = request.headers
    void reply.header('vary', 'Origin')
    if (origin === undefined || !allowed.has(origin)) {
      done()
      return
    }
    void reply
      .header('access-control-allow-origin', origin)
      .header('access-control-expose-headers', exposedHeaders)
    if (!isPreflight(request)) {
      done()
      return
    }
    // Answered here, before anybody asks for credentials, which a preflight never has.
    void reply
      .header('access-control-allow-methods', allowedMethods)
      .header('access-control-allow-headers', allowedHeaders)
      .header('access-control-max-age', preflightLifetimeS)
      .code(204)
      .send()
  }
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}
