import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { ConsoleSession } from '../../access/auth/console-session.ts'
import { type ConsoleSessions, sessionLifetimeUs } from '../../access/auth/console-sessions.ts'
import { grants, scopesIn } from '../../access/auth/scopes.ts'
import { DomainError, lackingPermission } from '../../core/errors.ts'
import { notFound } from '../../core/not-found.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, noContent } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import {
  interfaceHeaders,
  interfaceIn,
  type SessionCookies,
} from '../../requests/http/session-cookies.ts'
import { type AddHandled, operationsOf } from '../../requests/operations/operation.ts'
import { loginSchema } from '../tokens/auth-api.ts'
import { type LogInNeeds, logIn } from '../tokens/log-in.ts'
import * as api from './console-session-api.ts'
import type { ConsoleSessionStore } from './console-session-store.ts'

/** Anybody may send this body, so it is a small one. */
const bodyBytesMax = 4_096

interface SessionNeeds {
  readonly sessions: ConsoleSessions
  readonly names: ConsoleSessionStore
  readonly cookies: SessionCookies
  /** What a page needs to know of the service that it is of. */
  readonly service: api.ServiceFacts
}

export interface SignInRouteNeeds extends SessionNeeds, LogInNeeds {}

/** What needs no credentials in its headers: a key and its secret become a session. */
export function signInRoute(needs: SignInRouteNeeds): FastifyPluginAsync {
  const { cookies } = needs
  return async (app) => {
    app.post<{ Body: Static<typeof loginSchema> }>(
      '/console/session',
      {
        schema: {
          operationId: 'signIn',
          summary: 'Sign a browser in to the console, with a key and its secret.',
          description:
            'Only for a page of this service. The session is a cookie; one that the browser has already ends. Keys of devices, and those that devices register with, get none.',
          tags: ['Console'],
          headers: interfaceHeaders,
          body: loginSchema,
          response: { 200: api.currentSessionSchema },
        },
        bodyLimit: bodyBytesMax,
        config: {
          errors: ['invalid_api_key', 'origin_not_allowed', 'overloaded', 'rate_limited'],
        },
        // Before the body: a page elsewhere is not to sign anybody in, with whatever key.
        onRequest: (request, _, done) => {
          cookies.assertOwnOrigin(request)
          interfaceIn(request)
          done()
        },
      },
      (request, reply) => signIn(needs, request, reply),
    )
  }
}

async function signIn(
  needs: SignInRouteNeeds,
  request: FastifyRequest<{ Body: Static<typeof loginSchema> }>,
  reply: FastifyReply,
) {
  const { sessions, cookies } = needs
  const { body, ip: address } = request
  const caller = await logIn(needs, {
    ...body,
    address,
    refusal: ({ device, registration }) =>
      (device ?? registration) && 'the console takes keys of users, and this is not one',
  })
  // A browser never keeps the id that it came with: whoever has put it there would be signed in as well.
  const before = cookies.secretIn(request)
  const { secret, session } = await sessions.begin({
    caller,
    apiSecret: body.apiSecret,
    address,
    replaced: before === undefined ? undefined : sessions.find(before),
  })
  cookies.set(reply, secret, sessionLifetimeUs / 1_000_000)
  return await currentBody(needs, caller, session)
}

/** What a page shows of its session. */
async function currentBody(
  { sessions, names, service }: SessionNeeds,
  { userId, scope }: AuthenticatedCaller,
  session: ConsoleSession,
): Promise<Static<typeof api.currentSessionSchema>> {
  return {
    id: session.id,
    user: { id: userId, username: await names.usernameOf(userId) },
    apiKeyId: session.apiKeyId,
    scopes: scopesIn(scope),
    ...api.termsBody(sessions.termsOf(session)),
    service,
  }
}

export interface ConsoleSessionRoutesNeeds extends SessionNeeds {
  readonly callerOf: CallerOf
}

/** Sessions of the console, as their user sees and ends them. */
export function consoleSessionRoutes(needs: ConsoleSessionRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Console'] })
    addOwn(add, needs)
    addOthers(add, needs)
  }
}

function addOwn(add: AddHandled, needs: ConsoleSessionRoutesNeeds): void {
  const { sessions, cookies, callerOf } = needs

  add('GET /console/session', {
    operationId: 'readConsoleSession',
    summary: 'Read who is signed in to the console with this session, and what they may do.',
    scope: 'any',
    needsSession: true,
    headers: interfaceHeaders,
    answers: { 200: api.currentSessionSchema },
    handler: async ({ caller }) => await currentBody(needs, caller, ownSession(sessions, caller)),
  })

  add('DELETE /console/session', {
    operationId: 'signOut',
    summary: 'Sign out: the session of this request ends.',
    scope: 'any',
    needsSession: true,
    headers: interfaceHeaders,
    answers: { 204: noContent },
    handler: async ({ caller, request, reply }) => {
      const actor = actorOf(request, callerOf)
      await sessions.end(ownSession(sessions, caller), 'signed_out', actor)
      cookies.clear(reply)
      return null
    },
  })
}

function addOthers(add: AddHandled, needs: ConsoleSessionRoutesNeeds): void {
  const { sessions, names, callerOf } = needs

  add('GET /console/sessions', {
    operationId: 'listConsoleSessions',
    summary: 'List the sessions of the console that were made with this key, oldest first.',
    description: 'With `keys:admin` those of all keys of the user.',
    scope: 'any',
    query: api.sessionsQuery,
    answers: { 200: cursorListOf(api.sessionSchema) },
    handler: async ({ caller, query, request, reply }) => {
      const page = cursorRequest(query)
      const { after, limit } = page
      const found = sessions
        .ofUser(caller.userId)
        .filter((session) => mayEnd(caller, session) && isAfter(session, after))
      const shown = cursorPage(found.slice(0, limit + 1), page, { request, reply })
      const keyNames = await names.keyNamesOf(caller.userId)
      return shown.map((session) =>
        api.sessionBody({
          session,
          terms: sessions.termsOf(session),
          keyName: keyNames.get(session.apiKeyId) ?? '',
          isCurrent: session.id === caller.session?.id,
        }),
      )
    },
  })

  add('DELETE /console/sessions/:consoleSessionId', {
    operationId: 'endConsoleSession',
    summary: 'End a session of the console that was made with this key.',
    description: 'With `keys:admin` one of any key of the user.',
    scope: 'any',
    answers: { 204: noContent },
    handler: async ({ caller, params: { consoleSessionId: id }, request }) => {
      const session = sessions.ofUserById(caller.userId, id)
      if (!session) throw notFound('console session', id)
      if (!mayEnd(caller, session)) {
        const message = 'another key has made it: that needs the permission keys:admin'
        const { remedy } = lackingPermission('keys:admin')
        throw new DomainError('insufficient_permissions', message, { remedy })
      }
      await sessions.end(session, 'ended', actorOf(request, callerOf))
      return null
    },
  })
}

/** @throws DomainError `session_expired` when it has ended since the request was let in */
function ownSession(sessions: ConsoleSessions, caller: AuthenticatedCaller): ConsoleSession {
  const { userId, session } = caller
  const found = session && sessions.ofUserById(userId, session.id)
  if (!found) throw new DomainError('session_expired', 'the session is over: sign in again')
  return found
}

function mayEnd({ apiKeyId, scope }: AuthenticatedCaller, session: ConsoleSession): boolean {
  return session.apiKeyId === apiKeyId || grants(scope, 'keys:admin')
}

function isAfter(
  { createdAtUs, id }: ConsoleSession,
  after: { readonly createdAtUs: number; readonly id: string } | undefined,
): boolean {
  if (after === undefined) return true
  if (createdAtUs !== after.createdAtUs) return createdAtUs > after.createdAtUs
  return id > after.id
}
