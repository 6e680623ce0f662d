import type { FastifyPluginAsync } from 'fastify'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type { ContentKeys } from './content-keys.ts'
import { contentKeySchema, contentKeysSchema } from './signature-api.ts'

/** Seconds that others may keep the public keys: a new one may have signed by then. */
const keysFreshS = 300

/** The public keys of the service for content: nobody asks who wants them. */
export function contentKeysRoute(keys: ContentKeys): FastifyPluginAsync {
  return async (app) => {
    app.get('/.well-known/signing-keys.json', { schema: readKeys }, async (_, reply) =>
      reply.header('cache-control', `public, max-age=${keysFreshS}`).send(keys.publicKeys()),
    )
  }
}

const readKeys = {
  operationId: 'listContentKeys',
  summary: 'Read the public keys that the service signs content with (RFC 7517).',
  description:
    'All that there ever were: what the retired ones have signed stays good. None of them signs tokens or blocks.',
  tags: ['Signatures'],
  response: { 200: contentKeysSchema },
} as const

export interface ContentKeyRoutesNeeds {
  readonly contentKeys: ContentKeys
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Another key for content. */
export function contentKeyRoutes(needs: ContentKeyRoutesNeeds): FastifyPluginAsync {
  const { contentKeys, callerOf } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Signatures'] })
    add('POST /content-keys/rotate', {
      operationId: 'rotateContentKey',
      summary: 'Sign content with a new key from now on.',
      description:
        'The private half of the one before is removed; its public half stays published, and what it has signed stays good.',
      scope: 'platform:admin',
      answers: { 200: contentKeySchema },
      errors: ['conflict'],
      effect: async ({ request }) => {
        const { kid, ...plan } = contentKeys.planRotation(actorOf(request, callerOf))
        return { ...plan, statusCode: 200, body: { kid } }
      },
    })
  }
}
