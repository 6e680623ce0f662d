import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../core/errors.ts'
import { count, record, text } from '../http/schema.ts'
import type { ApiKeys } from './api-keys.ts'
import { type Tokens, tokenLifetimeS } from './tokens.ts'

export interface AuthRoutesNeeds {
  readonly keys: ApiKeys
  readonly tokens: Tokens
}

/** A key and its secret become an access token. */
export function authRoutes({ keys, tokens }: AuthRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.post<IssueToken>(
      '/auth/token',
      { schema: issueToken, bodyLimit: bodyBytesMax, config: { errors: ['invalid_api_key'] } },
      async (request, reply) => {
        const { apiKey, apiSecret } = request.body
        const caller = await keys.verify(apiKey, apiSecret)
        if (!caller) {
          throw new DomainError('invalid_api_key', 'the key or its secret is not valid')
        }
        return reply.header('cache-control', 'no-store').send({
          accessToken: tokens.issue(caller),
          tokenType: 'Bearer',
          expiresIn: tokenLifetimeS,
          scope: caller.scope,
        })
      },
    )
  }
}

/** Anybody may send this body, so it is a small one. */
const bodyBytesMax = 4_096

interface IssueToken {
  Body: { apiKey: string; apiSecret: string }
}

const credential = { type: 'string', minLength: 1, maxLength: 512 } as const

const issueToken = {
  operationId: 'issueToken',
  summary: 'Get an access token for a key and its secret.',
  tags: ['Authentication'],
  body: record({ apiKey: credential, apiSecret: credential }),
  response: {
    200: record({
      accessToken: { ...text, description: 'A JWT.' },
      tokenType: { const: 'Bearer' },
      expiresIn: { ...count, description: 'Seconds.', examples: [3600] },
      scope: { ...text, description: 'Permissions, separated by spaces.' },
    }),
  },
} as const
