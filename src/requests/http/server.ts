import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Actor } from '../../access/audit/audit-log.ts'
import type {
  AuthenticatedCaller,
  Authenticator,
  Credentials,
  Interface,
} from '../../access/auth/authenticate.ts'
import type { CallerKind } from '../../access/auth/limited-key.ts'
import { grants, type NeededScope, type Scope } from '../../access/auth/scopes.ts'
import type { Certificate } from '../../config/tls-files.ts'
import { DomainError, lackingPermission, remedyOf } from '../../core/errors.ts'
import type { Tracing } from '../../core/tracing.ts'
import { answerChecks } from './answer-check.ts'
import { answerHeaders } from './answer-headers.ts'
import { ArrivingBodies } from './arriving-bodies.ts'
import type { BodiesInFlight } from './bodies-in-flight.ts'
import { allowOrigins } from './cors.ts'
import { handleError, handleFrameworkError, notFoundHandler } from './error-handler.ts'
import { incomingBodies } from './incoming-bodies.ts'
import { takeStrictJson } from './json-body.ts'
import { limitConnections, refuseBadHead, serverOptions } from './node-server.ts'
import { openApiRoutes } from './openapi/openapi-routes.ts'
import { RouteRegister } from './route-description.ts'
import { keyHeaders } from './schema.ts'
import type { SessionCookies } from './session-cookies.ts'
import { traceRequests } from './traced-requests.ts'
import { undeclaredCheck } from './undeclared.ts'
import { noticeUnnamedProxy } from './unnamed-proxy.ts'
import { limitUnsentAnswers } from './unsent-answers.ts'
import { credentialHeaders, routeUpgrades } from './upgrades.ts'
import { requestChecks } from './validation.ts'

/** Largest body of a request, unless its route says otherwise. */
const bodyBytesMax = 2 * 1024 * 1024

/** How the server meets the network. */
export interface HttpNetwork {
  /** Undefined: no TLS. */
  readonly certificate: Certificate | undefined
  readonly corsOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
}

export interface HttpServerNeeds {
  readonly logger: FastifyBaseLogger
  /** The version of the service, for the OpenAPI document. */
  readonly version: string
  /** Base of the addresses that we hand out. */
  readonly publicUrl: string
  /** Whether an answer that is not as its route describes it becomes a 500: for tests. */
  readonly checkAnswers: boolean
  readonly network: HttpNetwork
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'isStillGood' | 'lookUp'>
  /** Undefined: no console, and no cookies. */
  readonly cookies?: SessionCookies | undefined
  /** Limits what arrives at once. */
  readonly bodies: BodiesInFlight
  /** Undefined: no traces. */
  readonly tracing?: Tracing | undefined
  /** Routes that anybody may use. */
  readonly openRoutes: readonly FastifyPluginAsync[]
  /** Routes that anybody may use, and whose bodies show who has sent them. */
  readonly signedRoutes: readonly FastifyPluginAsync[]
  readonly routes: readonly GuardedRoutes[]
}

export type CallerOf = (request: FastifyRequest) => AuthenticatedCaller

/** Routes that need credentials, made with what tells them who asks. */
export type GuardedRoutes = (callerOf: CallerOf) => FastifyPluginAsync

export async function buildHttpServer(needs: HttpServerNeeds): Promise<FastifyInstance> {
  const { network } = needs
  const setHeaders = answerHeaders(network.certificate !== undefined)
  const app: FastifyInstance = Fastify({
    loggerInstance: needs.logger,
    bodyLimit: bodyBytesMax,
    ...serverOptions(network.certificate),
    trustProxy: network.trustedProxies.length > 0 && [...network.trustedProxies],
    logController: new LogController({ disableRequestLogging: true }),
    // None for each request: only failures are logged, and they name the request themselves.
    childLoggerFactory: (shared) => shared,
    // The client's id would be as good as ours only if it were unique: ours is a counter.
    requestIdHeader: false,
    // No hook runs for what the router cannot read.
    frameworkErrors: (error, request, reply) =>
      setHeaders(request, reply, () => handleFrameworkError(error, request, reply)),
  })
  // No path has it, and that is what is said of it: the framework would first ask for the type of its body.
  app.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true })
  const register = new RouteRegister()
  // JSON only: without this, text/plain would be taken and then be found wanting.
  app.removeContentTypeParser('text/plain')
  takeStrictJson(app)
  limitConnections(app.server)
  const arriving = new ArrivingBodies()
  arriving.watch(app.server)
  routeUpgrades(app)
  app.setErrorHandler(handleError)
  const refuse = notFoundHandler(register)
  app.setNotFoundHandler(refuse)
  app.setValidatorCompiler(requestChecks())
  // Nothing that a handler answers is dropped on the way; the tests check that it is as described.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.addHook('onRoute', (route) => register.add(route))
  if (needs.tracing) traceRequests(app, needs.tracing)
  app.addHook('onRequest', setHeaders)
  app.addHook('onRequest', refuseBadHead)
  app.addHook('onRequest', noticeUnnamedProxy(needs.logger))
  if (network.corsOrigins.length > 0) app.addHook('onRequest', allowOrigins(network.corsOrigins))
  if (needs.checkAnswers) app.addHook('onSend', answerChecks())
  await app.register(openApiRoutes({ ...needs, routes: register }))
  for (const routes of needs.openRoutes) await app.register(routes)

  await app.register(signedRoutes({ ...needs, arriving }))
  await app.register(guardedRoutes({ ...needs, arriving }))
  for (const { method, url } of register.mistakable) refuseMethod(app, method, url, refuse)
  return app
}

/** Refuses before anything is read of the body. */
function refuseMethod(
  app: FastifyInstance,
  method: string,
  url: string,
  refuse: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  const config = { undocumented: true }
  const onRequest = (request: FastifyRequest, reply: FastifyReply): void => refuse(request, reply)
  app.route({ method, url, config, onRequest, handler: refuse })
}

/** Everything that finds out who has sent something when it has all of it. */
function signedRoutes({
  signedRoutes: routes,
  bodies,
  arriving,
}: Pick<HttpServerNeeds, 'signedRoutes' | 'bodies'> & {
  readonly arriving: ArrivingBodies
}): FastifyPluginAsync {
  return async (signed) => {
    signed.addHook('preParsing', incomingBodies({ bodies, arriving, ownerOf: addressOf }))
    for (const group of routes) await signed.register(group)
  }
}

const addressOf = ({ ip }: FastifyRequest): string => ip

/** Everything that needs credentials. */
function guardedRoutes({
  authenticator,
  cookies,
  routes,
  bodies,
  arriving,
}: HttpServerNeeds & { readonly arriving: ArrivingBodies }): FastifyPluginAsync {
  return async (guarded) => {
    guarded.decorateRequest(callerKey, undefined)
    // A route without one would be open to every key: that is a mistake of ours, found at start.
    guarded.addHook('onRoute', (route) => {
      const { method, url, config, schema = {} } = route
      route.preValidation = undeclaredCheck(schema)
      if (config?.scope === undefined) throw new Error(`${String(method)} ${url} names no scope`)
      // A route must not take a key and then ignore it.
      if (method !== 'POST' || schema.headers === keyHeaders) return
      throw new Error(`POST ${url} does not say that it takes an Idempotency-Key`)
    })
    const userOf = (request: FastifyRequest) => request[callerKey]?.userId
    guarded.addHook('onSend', limitUnsentAnswers(userOf))
    const admit = admission({ authenticator, cookies })
    // Before the body is read: nobody unknown gets us to parse anything.
    guarded.addHook('onRequest', admit)
    guarded.addHook(
      'preParsing',
      incomingBodies({ bodies, arriving, ownerOf: (request) => userOf(request) ?? request.ip }),
    )
    // And after it: it may have taken half a minute, in which the key was revoked or has expired.
    guarded.addHook('preValidation', (request, reply, done) => {
      const known = request[callerKey]
      if (known !== undefined && authenticator.isStillGood(known)) done()
      else admit(request, reply, done)
    })
    for (const group of routes) await guarded.register(group(admittedCaller))
  }
}

/** Where a request carries who asks. Only this module reads it: routes get `callerOf`. */
const callerKey = Symbol('caller')

declare module 'fastify' {
  interface FastifyRequest {
    [callerKey]?: AuthenticatedCaller | undefined
  }
}

const admittedCaller: CallerOf = (request) => {
  const caller = request[callerKey]
  if (!caller) throw new Error('the request was not authenticated')
  return caller
}

/** A hook that lets in who has good credentials that are enough. With a callback, because it runs for every request. */
function admission({ authenticator, cookies }: Pick<HttpServerNeeds, 'authenticator' | 'cookies'>) {
  const credentialsOf = (request: FastifyRequest): Credentials => ({
    rawHeaders: credentialHeaders(request.raw),
    address: request.ip,
    takesBasic: request.routeOptions.config.takesBasic === true,
    session: cookies?.presentedIn(request),
  })
  const admit: Admitting = ({ request, reply, credentials }, done) => {
    try {
      const caller = authenticator.authenticate(credentials)
      const { callers, scope, interface: only, needsSession } = request.routeOptions.config
      requireKind(caller, callers)
      requireScope(caller, scope)
      requireInterface(caller, only)
      requireSession(caller, needsSession)
      // What a browser asks for without a page of ours is saved, and shown by nobody.
      if (caller.session?.isAlone === true) void reply.header('content-disposition', 'attachment')
      request[callerKey] = caller
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    let asking: Asking
    let pending: Promise<void> | undefined
    try {
      asking = { request, reply, credentials: credentialsOf(request) }
      pending = authenticator.lookUp(asking.credentials)
    } catch (error) {
      done(error as Error)
      return
    }
    if (pending === undefined) admit(asking, done)
    else void pending.then(() => admit(asking, done), done)
  }
}

interface Asking {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly credentials: Credentials
}

type Admitting = (asking: Asking, done: (error?: Error) => void) => void

/** @throws DomainError `insufficient_permissions` for whoever the route is not meant for */
function requireKind(
  { device, registration }: AuthenticatedCaller,
  callers: readonly CallerKind[] = users,
): void {
  const kind = (device ?? registration)?.kind ?? 'user'
  if (callers.includes(kind)) return
  const remedy = kind === 'user' ? registrationRemedy : userRemedy
  throw new DomainError('insufficient_permissions', refusalOf[kind], { remedy })
}

const users: readonly CallerKind[] = ['user']

const refusalOf: Readonly<Record<CallerKind, string>> = {
  user: 'this operation is for provisioning keys',
  device: 'the key of a device sends readings of its own streams, and nothing else',
  registration:
    'a provisioning key registers devices, sends readings of the fleet that it names, and does nothing else',
}

const registrationRemedy =
  'Use the key of POST /vaults/{vaultId}/provisioning-keys, which registers devices.'

const userRemedy = 'Use a key of a user, such as one of POST /keys, or a token of POST /auth/token.'

/** @throws DomainError `insufficient_permissions`, naming what the key lacks */
function requireScope(
  { scope: granted }: AuthenticatedCaller,
  needed: NeededScope | undefined,
): void {
  if (needed === undefined) return
  const lacking = lackingScope(granted, needed)
  if (lacking === undefined) return
  throw lackingPermission(lacking)
}

function lackingScope(granted: string, needed: NeededScope): Scope | undefined {
  // Nearly all need one, and no list is made of that with every request.
  if (typeof needed !== 'string') return needed.find((scope) => !grants(granted, scope))
  return needed === 'any' || grants(granted, needed) ? undefined : needed
}

/** @throws DomainError `invalid_request`, naming the credentials to use */
function requireInterface({ interface: spoken }: AuthenticatedCaller, only?: Interface): void {
  if (only === undefined || spoken === only) return
  const message = `this operation needs ${wordsFor[only]}`
  throw new DomainError('invalid_request', message, { remedy: remedyFor[only] })
}

/** @throws DomainError `invalid_request` for who has another way to be known */
function requireSession({ session }: AuthenticatedCaller, isNeeded = false): void {
  if (!isNeeded || session !== undefined) return
  const message =
    'this operation needs the cookie of a session (POST /console/session), and no other credentials'
  throw new DomainError('invalid_request', message, { remedy: remedyOf('session_expired') })
}

const wordsFor: Readonly<Record<Interface, string>> = {
  bearer: 'a bearer token',
  'header-key': 'x-api-key and x-api-secret',
}

const remedyFor: Readonly<Record<Interface, string>> = {
  bearer: 'Send Authorization: Bearer with a token from POST /auth/token, in place of the key.',
  'header-key': 'Send x-api-key with x-api-secret, in place of the token.',
}

/** Who the audit log says it was. */
export function actorOf(request: FastifyRequest, callerOf: CallerOf): Actor {
  const { userId, apiKeyId } = callerOf(request)
  return { userId, apiKeyId, address: request.ip }
}
