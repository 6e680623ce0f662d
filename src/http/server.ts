import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { AuthenticatedCaller, Authenticator } from '../auth/authenticate.ts'
import { grants, type Scope } from '../auth/scopes.ts'
import { DomainError } from '../core/errors.ts'
import { handleError, handleNotFound } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller's key must grant for this route; every route that needs credentials names it. */
    readonly scope?: Scope
  }
}

/** Largest body of a request, unless its route says otherwise. */
const bodyBytesMax = 2 * 1024 * 1024

/** Time for a request to arrive: a body that drips in is not waited for. */
const requestTimeoutMs = 30_000

/** Connections beyond this are closed at once. */
const connectionsMax = 10_000

export interface HttpServerNeeds {
  readonly logger: FastifyBaseLogger
  readonly authenticator: Authenticator
  /** Routes that anybody may use. */
  readonly openRoutes: readonly FastifyPluginAsync[]
  /** Routes that need credentials, with what tells them who asks. */
  readonly routes: readonly ((callerOf: CallerOf) => FastifyPluginAsync)[]
}

export type CallerOf = (request: FastifyRequest) => AuthenticatedCaller

export async function buildHttpServer(needs: HttpServerNeeds): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: needs.logger,
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    logController: new LogController({ disableRequestLogging: true }),
    // The client's id would be as good as ours only if it were unique: ours is a counter.
    requestIdHeader: false,
    frameworkErrors: (_, request, reply) => handleNotFound(request, reply),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } },
  })
  // JSON only: without this, text/plain would be taken and then be found wanting.
  app.removeContentTypeParser('text/plain')
  app.server.maxConnections = connectionsMax
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
  for (const routes of needs.openRoutes) await app.register(routes)

  await app.register(async (guarded) => {
    const callers = new WeakMap<FastifyRequest, AuthenticatedCaller>()
    // A route without one would be open to every key: that is a mistake of ours, found at start.
    guarded.addHook('onRoute', ({ method, url, config }) => {
      if (config?.scope === undefined) throw new Error(`${String(method)} ${url} names no scope`)
    })
    // Before the body is read: nobody unknown gets us to parse anything.
    guarded.addHook('onRequest', async (request) => {
      const caller = await needs.authenticator.authenticate(request.raw)
      requireScope(caller, request.routeOptions.config.scope)
      callers.set(request, caller)
    })
    const callerOf: CallerOf = (request) => {
      const caller = callers.get(request)
      if (!caller) throw new Error('the request was not authenticated')
      return caller
    }
    for (const routes of needs.routes) await guarded.register(routes(callerOf))
  })
  return app
}

/** @throws DomainError `insufficient_permissions`, naming what the key lacks */
function requireScope({ scope: granted }: AuthenticatedCaller, needed: Scope | undefined): void {
  if (needed === undefined || grants(granted, needed)) return
  throw new DomainError('insufficient_permissions', `the key lacks the permission ${needed}`)
}

/** @throws DomainError `invalid_request` unless the request speaks the token interface */
export function requireBearer(caller: AuthenticatedCaller, what: string): void {
  if (caller.interface === 'bearer') return
  throw new DomainError(
    'invalid_request',
    `${what} belongs to the token interface: use a bearer token`,
  )
}
