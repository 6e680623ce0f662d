import type { FastifyPluginAsync } from 'fastify'
import type { AttemptLimits } from '../../access/auth/attempt-limits.ts'
import type {
  AuthenticatedCaller,
  Authenticator,
  BearerCaller,
} from '../../access/auth/authenticate.ts'
import { type SigningKeys, signingOverlapS } from '../../access/auth/signing-keys.ts'
import { type Tokens, tokenLifetimeS } from '../../access/auth/tokens.ts'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { issueToken, publicKeys, rotateSigningKey, validateToken } from './auth-schemas.ts'

/** Anybody may send this body, so it is a small one. */
const bodyBytesMax = 4_096

/** Seconds that others may keep the public keys: far less than an old key stays accepted. */
const publicKeysFreshS = 300

export interface TokenRoutesNeeds {
  readonly authenticator: Pick<Authenticator, 'byKey' | 'lookUpPassword'>
  readonly tokens: Tokens
  readonly signingKeys: SigningKeys
  readonly limits: AttemptLimits
  readonly clock: Clock
}

/** What needs no credentials in its headers: a key and its secret become an access token. */
export function tokenRoutes(needs: TokenRoutesNeeds): FastifyPluginAsync {
  const { tokens, signingKeys } = needs
  return async (app) => {
    app.post<IssueToken>(
      '/auth/token',
      {
        schema: issueToken,
        bodyLimit: bodyBytesMax,
        config: { errors: ['invalid_api_key', 'rate_limited'] },
      },
      async (request, reply) => {
        const caller = await logIn(needs, request.body, request.ip)
        return reply.header('cache-control', 'no-store').send({
          accessToken: tokens.issue(caller),
          tokenType: 'Bearer',
          expiresIn: tokenLifetimeS,
          scope: caller.scope,
        })
      },
    )

    app.get('/.well-known/jwks.json', { schema: publicKeys }, async (_, reply) =>
      reply
        .header('cache-control', `public, max-age=${publicKeysFreshS}`)
        .send(signingKeys.publicKeys()),
    )
  }
}

/** @throws DomainError `invalid_api_key`, or `rate_limited` (decisions.md#failed-logins) */
async function logIn(
  { authenticator, limits }: TokenRoutesNeeds,
  { apiKey, apiSecret }: IssueToken['Body'],
  address: string,
): Promise<AuthenticatedCaller> {
  limits.assertMayTry(address, apiKey)
  await authenticator.lookUpPassword(apiKey, apiSecret)
  try {
    const caller = authenticator.byKey(apiKey, apiSecret, { address, protocol: 'http' })
    if (caller.registration) {
      throw new DomainError('invalid_api_key', 'a provisioning key gets no token')
    }
    limits.succeeded(address, apiKey)
    return caller
  } catch (error) {
    if (error instanceof DomainError) limits.failed(address, apiKey)
    throw error
  }
}

export interface AuthRoutesNeeds {
  readonly signingKeys: SigningKeys
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** What a token says, and the keys that tokens are signed with. */
export function authRoutes({ signingKeys, posts, callerOf }: AuthRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get(
      '/auth/validate',
      { schema: validateToken, config: { scope: 'any', interface: 'bearer' } },
      async (request, reply) => {
        // The interface of the route lets no other callers in.
        const { expiresAtUs, scope, apiKeyId, userId } = callerOf(request) as BearerCaller
        const expiresAt = formatUs(expiresAtUs)
        return reply
          .header('cache-control', 'no-store')
          .send({ valid: true, expiresAt, scope, apiKeyId, userId })
      },
    )

    app.post<RotateSigningKey>(
      '/auth/signing-keys/rotate',
      { schema: rotateSigningKey, config: { scope: 'platform:admin' } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const overlapS = request.body?.overlapSeconds ?? signingOverlapS
          const { kid, ...plan } = signingKeys.planRotation(actorOf(request, callerOf), overlapS)
          return { ...plan, statusCode: 200, body: { kid } }
        })
      },
    )
  }
}

interface IssueToken {
  Body: { apiKey: string; apiSecret: string }
}

interface RotateSigningKey {
  Body: { overlapSeconds?: number } | null | undefined
}
