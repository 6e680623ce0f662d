import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import { familyOf } from '../../core/ledger-settings.ts'
import { type KeyPair, rolesOf } from '../../ledgers/keys/ledger-key.ts'
import { keyOfSecret, newKey, secretForms } from '../../ledgers/keys/make-key.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import * as api from './ledger-key-api.ts'
import type { LedgerKeyStore } from './ledger-key-store.ts'

interface LedgerKeyRoutesNeeds {
  readonly keys: LedgerKeyStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Accounts on real networks, for those who run the service: private halves come in, and never out. */
export function ledgerKeyRoutes(needs: LedgerKeyRoutesNeeds): FastifyPluginAsync {
  const { keys, callerOf } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Anchors'] })

    add('GET /ledger-keys', {
      operationId: 'listAccountKeys',
      summary: 'List the keys of the accounts on real networks.',
      scope: 'platform:admin',
      answers: { 200: api.ledgerKeysSchema },
      handler: async () => (await keys.list()).map(api.ledgerKeyBody),
    })

    add('POST /ledger-keys', {
      operationId: 'createAccountKey',
      summary: 'Make a key for an account on a network, or bring one along.',
      scope: 'platform:admin',
      body: api.newLedgerKeySchema,
      answers: { 201: api.ledgerKeySchema },
      errors: ['conflict'],
      effect: async ({ body, request }) => {
        const { ledger, role = 'issuer', secret } = body
        if (!rolesOf(familyOf(ledger)).includes(role)) {
          throw invalidParameter('role', `must be issuer for ${ledger}`)
        }
        const pair = await pairOf(body)
        const isImported = secret !== undefined
        const planned = keys.plan(actorOf(request, callerOf), { ledger, role, pair, isImported })
        const { key, ...plan } = planned
        return { ...plan, statusCode: 201, body: api.ledgerKeyBody(key) }
      },
    })
  }
}

/** @throws DomainError `invalid_request` when the secret is none, without showing it */
async function pairOf({ ledger, secret }: Static<typeof api.newLedgerKeySchema>): Promise<KeyPair> {
  const family = familyOf(ledger)
  if (secret === undefined) return await newKey(family)
  const pair = await keyOfSecret(family, secret.trim())
  if (!pair) throw invalidParameter('secret', `must be ${secretForms[family]}`)
  return pair
}
