import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { KeyDirectory } from '../../access/auth/key-directory.ts'
import type { Clock } from '../../core/clock.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Vault } from '../../twins/vaults/vault.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { parseDefinition } from '../data-streams/definition.ts'
import { check, integer, Problems, type Rule } from '../data-streams/definition-problems.ts'
import { isObject } from '../data-streams/field-map.ts'
import type { RateLimit } from './device.ts'
import { plainText, rateLimitRule, readExpiry } from './device-request.ts'
import { assertMayGive } from './device-rights.ts'
import { secretPost } from './device-routes.ts'
import { type ProvisioningKey, provisioningKeyBody } from './provisioning-key.ts'
import * as schemas from './provisioning-schemas.ts'
import {
  type NewProvisioningKey,
  type ProvisioningStore,
  provisioningKeysMax,
} from './provisioning-store.ts'

const registrationsPerMinuteDefault = 60

export interface ProvisioningRoutesNeeds {
  readonly provisioning: ProvisioningStore
  readonly vaults: VaultStore
  readonly directory: Pick<KeyDirectory, 'find'>
  readonly clock: Clock
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface OneVault {
  Params: { vaultId: string }
}

interface OneKey {
  Params: { vaultId: string; provisioningKeyId: string }
}

/** Keys that new devices of a vault register themselves with. */
export function provisioningRoutes(needs: ProvisioningRoutesNeeds): FastifyPluginAsync {
  const { provisioning, vaults, callerOf } = needs
  const config = { scope: 'keys:admin', errors: ['conflict', 'unsupported_definition'] } as const
  const vaultOf = (request: FastifyRequest<OneVault>) =>
    ownVault(vaults, callerOf(request).userId, request.params.vaultId)
  return async (app) => {
    app.post<OneVault>(
      '/vaults/:vaultId/provisioning-keys',
      { schema: schemas.createProvisioningKey, config },
      async (request, reply) => create(needs, await vaultOf(request), { request, reply }),
    )

    app.get<OneVault>(
      '/vaults/:vaultId/provisioning-keys',
      { schema: schemas.listProvisioningKeys, config: { scope: 'keys:admin' } },
      async (request) => {
        const keys = await provisioning.list((await vaultOf(request)).id)
        return keys.map(provisioningKeyBody)
      },
    )

    app.delete<OneKey>(
      '/vaults/:vaultId/provisioning-keys/:provisioningKeyId',
      { schema: schemas.revokeProvisioningKey, config: { scope: 'keys:admin' } },
      async (request, reply) => {
        const caller = callerOf(request)
        const { vaultId, provisioningKeyId } = request.params
        const found = await provisioning.find(provisioningKeyId)
        const key = own(found, caller.userId, vaultId)
        assertMayGive(needs.directory, caller, key.expiresAtUs)
        await provisioning.revoke(actorOf(request, callerOf), key)
        return reply.code(204).send()
      },
    )
  }
}

/** @throws DomainError `not_found` for the keys of others, and of other vaults */
function own(key: ProvisioningKey | undefined, userId: UserId, vaultId: string): ProvisioningKey {
  if (key?.ownerId === userId && key.vaultId === vaultId.toLowerCase()) return key
  throw new DomainError('not_found', 'no such provisioning key')
}

async function create(
  needs: ProvisioningRoutesNeeds,
  vault: Vault,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { provisioning, directory, clock, posts, callerOf } = needs
  const caller = callerOf(request)
  return await posts.answer(secretPost(needs, request, reply), async () => {
    const wanted = parseRequest(request.body, vault, clock.nowUs())
    const granted = { ...wanted, expiresAtUs: expiryFor(directory, caller, wanted.expiresAtUs) }
    const { key, secret, changes } = provisioning.plan(actorOf(request, callerOf), granted)
    return {
      statusCode: 201,
      body: { ...provisioningKeyBody(key), apiSecret: secret },
      changes,
      refusal: async () =>
        new DomainError('conflict', `a vault can have ${provisioningKeysMax} provisioning keys`),
    }
  })
}

function expiryFor(
  directory: Pick<KeyDirectory, 'find'>,
  caller: AuthenticatedCaller,
  wantedUs: number | undefined,
): number | undefined {
  const expiresAtUs = wantedUs ?? directory.find(caller.apiKeyId)?.expiresAtUs
  assertMayGive(directory, caller, expiresAtUs)
  return expiresAtUs
}

/** @throws DomainError `invalid_request`, or `unsupported_definition`, as `parseDefinition` does */
function parseRequest(body: unknown, vault: Vault, nowUs: number): NewProvisioningKey {
  const found: ErrorDetail[] = []
  const problems = new Problems('', found)
  const value = isObject(body) ? withoutEnd(body) : {}
  check(value, { rules, required: ['name', 'definition', 'devicesMax'] }, problems)
  const { name, devicesMax, expiresAt, registrationsPerMinute, rateLimit } = value
  const expiresAtUs = readExpiry(expiresAt as string | undefined, nowUs, problems)
  if (found.length > 0) {
    throw new DomainError('invalid_request', 'the provisioning key is not valid', {
      details: found,
    })
  }
  const definition = value['definition'] as ProvisioningKey['definition']
  parseDefinition({ ...definition, name: 'one of many', vaultId: vault.id })
  return {
    ownerId: vault.ownerId,
    vaultId: vault.id,
    name: name as string,
    definition,
    devicesMax: devicesMax as number,
    registrationsPerMinute:
      (registrationsPerMinute as number | undefined) ?? registrationsPerMinuteDefault,
    rateLimit: rateLimit as RateLimit | undefined,
    expiresAtUs,
  }
}

/** Without an end of its own is null, as a key that has none is shown. */
function withoutEnd({ expiresAt, ...rest }: Readonly<Record<string, unknown>>) {
  return expiresAt === null || expiresAt === undefined ? rest : { ...rest, expiresAt }
}

/** What is fetched from elsewhere is sent by no device, and its secrets would be kept in the open. */
const fetchedKeys = [
  'endpoint',
  'url',
  'credentials',
  'authentication',
  'headers',
  'secrets',
  'connection',
]

const definitionRule: Rule = (value, key, problems) => {
  if (!isObject(value)) {
    problems.add(key, 'must be an object')
    return
  }
  const within = problems.within(key)
  for (const given of ['name', 'vaultId']) {
    if (value[given] !== undefined) within.add(given, 'is given to each stream when it is made')
  }
  if (value['type'] !== 'iot_sensor') within.add('type', 'must be iot_sensor')
  const source = isObject(value['source']) ? value['source'] : {}
  for (const fetched of fetchedKeys) {
    if (source[fetched] !== undefined) within.add(`source.${fetched}`, 'is not for such streams')
  }
}

const rules = {
  name: plainText(200),
  definition: definitionRule,
  devicesMax: integer(1, 100_000),
  registrationsPerMinute: integer(1, 6_000),
  rateLimit: rateLimitRule,
  expiresAt: ((value, key, problems) => {
    if (typeof value !== 'string' || value.length > 64) problems.add(key, 'must be a time')
  }) satisfies Rule,
}
