import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { BearerCaller } from '../../access/auth/authenticate.ts'
import { type SigningKeys, signingOverlapS } from '../../access/auth/signing-keys.ts'
import { type Tokens, tokenLifetimeS } from '../../access/auth/tokens.ts'
import type { Clock } from '../../core/clock.ts'
import { formatUs } from '../../core/time.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import * as api from './auth-api.ts'
import { type LogInNeeds, logIn } from './log-in.ts'

/** Anybody may send this body, so it is a small one. */
const bodyBytesMax = 4_096

/** Seconds that others may keep the public keys: far less than an old key stays accepted. */
const publicKeysFreshS = 300

export interface TokenRoutesNeeds extends LogInNeeds {
  readonly tokens: Tokens
  readonly signingKeys: SigningKeys
  readonly clock: Clock
}

/** What needs no credentials in its headers: a key and its secret become an access token. */
export function tokenRoutes(needs: TokenRoutesNeeds): FastifyPluginAsync {
  const { tokens, signingKeys } = needs
  return async (app) => {
    app.post<{ Body: Login }>(
      '/auth/token',
      {
        schema: {
          operationId: 'issueToken',
          summary: 'Get an access token for a key and its secret.',
          tags: ['Authentication'],
          body: api.loginSchema,
          response: { 200: api.issuedTokenSchema },
        },
        bodyLimit: bodyBytesMax,
        config: { errors: ['invalid_api_key', 'rate_limited'] },
      },
      async (request, reply) => {
        const caller = await logIn(needs, {
          ...request.body,
          address: request.ip,
          refusal: ({ registration }) => registration && 'a provisioning key gets no token',
        })
        const issued: Static<typeof api.issuedTokenSchema> = {
          accessToken: tokens.issue(caller),
          tokenType: 'Bearer',
          expiresIn: tokenLifetimeS,
          scope: caller.scope,
        }
        return reply.header('cache-control', 'no-store').send(issued)
      },
    )

    app.get(
      '/.well-known/jwks.json',
      {
        schema: {
          operationId: 'listPublicKeys',
          summary: 'Read the public keys that access tokens are checked with (RFC 7517).',
          tags: ['Authentication'],
          response: { 200: api.publicKeysSchema },
        },
      },
      async (_, reply) =>
        reply
          .header('cache-control', `public, max-age=${publicKeysFreshS}`)
          .send(signingKeys.publicKeys()),
    )
  }
}

type Login = Static<typeof api.loginSchema>

export interface AuthRoutesNeeds {
  readonly signingKeys: SigningKeys
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** What a token says, and the keys that tokens are signed with. */
export function authRoutes(needs: AuthRoutesNeeds): FastifyPluginAsync {
  const { signingKeys, callerOf } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Authentication'] })

    add('GET /auth/validate', {
      operationId: 'validateToken',
      summary: 'Check the access token of this request, and read what it grants now.',
      scope: 'any',
      interface: 'bearer',
      answers: { 200: api.validTokenSchema },
      handler: async ({ caller, reply }) => {
        // The interface of the route lets no other callers in.
        const { expiresAtUs, scope, apiKeyId, userId } = caller as BearerCaller
        void reply.header('cache-control', 'no-store')
        const expiresAt = formatUs(expiresAtUs)
        return { valid: true, expiresAt, scope, apiKeyId, userId } as const
      },
    })

    add('POST /auth/signing-keys/rotate', {
      operationId: 'rotateSigningKey',
      summary: 'Sign access tokens with a new key from now on.',
      description: 'Tokens of the key before stay good for the overlap; 0 ends them at once.',
      scope: 'platform:admin',
      body: api.signingRotationSchema,
      answers: { 200: api.signingKeySchema },
      effect: async ({ body, request }) => {
        const overlapS = body?.overlapSeconds ?? signingOverlapS
        const { kid, ...plan } = signingKeys.planRotation(actorOf(request, callerOf), overlapS)
        return { ...plan, statusCode: 200, body: { kid } }
      },
    })
  }
}
