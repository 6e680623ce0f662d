import type { FastifyPluginAsync } from 'fastify'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { ForeignTopics } from '../../access/auth/foreign-topics.ts'
import type { KeyDirectory } from '../../access/auth/key-directory.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { check, integer, Problems, type Rule } from '../../contracts/definitions/problems.ts'
import type { Clock } from '../../core/clock.ts'
import { noRoom } from '../../core/conflict.ts'
import { DomainError, type ErrorDetail, invalidParameter } from '../../core/errors.ts'
import { type FleetId, parseId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { keyHeaders, listOf, noContent } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type Exchange, operationsOf, secretPostOf } from '../../requests/operations/operation.ts'
import type { Vault } from '../../twins/vaults/vault.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { parseDefinition } from '../data-streams/definition.ts'
import type { FleetStore } from '../fleets/fleet-store.ts'
import type { RateLimit } from './device.ts'
import { foreignTopicsRule, plainText, rateLimitRule, readExpiry } from './device-request.ts'
import { assertMayGive } from './device-rights.ts'
import * as api from './provisioning-api.ts'
import type { ProvisioningKey } from './provisioning-key.ts'
import {
  type NewProvisioningKey,
  type ProvisioningStore,
  provisioningKeysMax,
} from './provisioning-store.ts'

const registrationsPerMinuteDefault = 60

export interface ProvisioningRoutesNeeds {
  readonly provisioning: ProvisioningStore
  readonly vaults: VaultStore
  readonly fleets: Pick<FleetStore, 'find'>
  readonly directory: Pick<KeyDirectory, 'find'>
  readonly clock: Clock
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Keys that new devices of a vault register themselves with. */
export function provisioningRoutes(needs: ProvisioningRoutesNeeds): FastifyPluginAsync {
  const { provisioning, vaults, directory, posts, callerOf } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Devices'] })

    add('POST /vaults/:vaultId/provisioning-keys', {
      operationId: 'createProvisioningKey',
      summary: 'Make a key that new devices of a vault register themselves with.',
      description:
        'Its secret is shown this once. The key registers devices, and can do nothing else.',
      scope: 'keys:admin',
      headers: keyHeaders,
      body: api.newProvisioningKeySchema,
      answers: { 201: api.provisioningKeyWithSecretSchema },
      errors: ['conflict', 'not_found', 'unsupported_definition'],
      handler: async (exchange) => {
        const { caller, params } = exchange
        const vault = await ownVault(vaults, caller.userId, params.vaultId)
        return await posts.answer(secretPostOf(exchange), async () =>
          creation(needs, vault, exchange),
        )
      },
    })

    add('GET /vaults/:vaultId/provisioning-keys', {
      operationId: 'listProvisioningKeys',
      summary: 'List the provisioning keys of a vault.',
      scope: 'keys:admin',
      answers: { 200: listOf(api.provisioningKeySchema) },
      handler: async ({ caller, params }) => {
        const vault = await ownVault(vaults, caller.userId, params.vaultId)
        return (await provisioning.list(vault.id)).map(api.provisioningKeyBody)
      },
    })

    add('DELETE /vaults/:vaultId/provisioning-keys/:provisioningKeyId', {
      operationId: 'revokeProvisioningKey',
      summary: 'Revoke a provisioning key; devices that have registered with it stay.',
      scope: 'keys:admin',
      params: { provisioningKeyId: api.provisioningKeyId },
      answers: { 204: noContent },
      handler: async ({ caller, params, request }) => {
        await ownVault(vaults, caller.userId, params.vaultId)
        const found = await provisioning.find(params.provisioningKeyId)
        const isOwn = found?.ownerId === caller.userId
        const key = isOwn && found.vaultId === params.vaultId.toLowerCase() ? found : undefined
        if (!key) throw notFound('provisioning key', params.provisioningKeyId)
        assertMayGive(directory, caller, key.expiresAtUs)
        await provisioning.revoke(actorOf(request, callerOf), key)
        return null
      },
    })
  }
}

async function creation(
  { provisioning, fleets, directory, clock, callerOf }: ProvisioningRoutesNeeds,
  vault: Vault,
  { caller, body, request }: Exchange,
) {
  const wanted = parseRequest(body, vault, clock.nowUs())
  if (wanted.fleetId !== undefined) await assertFleetOf(fleets, vault, wanted.fleetId)
  const granted = { ...wanted, expiresAtUs: expiryFor(directory, caller, wanted.expiresAtUs) }
  const { key, secret, changes } = provisioning.plan(actorOf(request, callerOf), granted)
  return {
    statusCode: 201,
    body: { ...api.provisioningKeyBody(key), apiSecret: secret },
    changes,
    refusal: async () =>
      noRoom(
        `a vault can have ${provisioningKeysMax} provisioning keys`,
        'DELETE /vaults/{vaultId}/provisioning-keys/{provisioningKeyId}',
      ),
  }
}

/** @throws DomainError `not_found`, or `invalid_request` for a fleet of another vault */
async function assertFleetOf(
  fleets: ProvisioningRoutesNeeds['fleets'],
  vault: Vault,
  fleetId: FleetId,
): Promise<void> {
  const fleet = await fleets.find(vault.ownerId, fleetId)
  if (!fleet) throw notFound('fleet', fleetId)
  if (fleet.vaultId !== vault.id) throw invalidParameter('fleetId', 'must be a fleet of the vault')
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
  check(value, { rules, required: ['name', 'devicesMax'] }, problems)
  const { name, devicesMax, expiresAt, registrationsPerMinute, rateLimit, foreignTopics } = value
  const { fleetId } = value
  if ((value['definition'] === undefined) === (fleetId === undefined)) {
    problems.add('definition', 'must be given, or fleetId in its place: exactly one of them')
  }
  const expiresAtUs = readExpiry(expiresAt as string | undefined, nowUs, problems)
  if (found.length > 0) {
    throw new DomainError('invalid_request', 'the provisioning key is not valid', {
      details: found,
    })
  }
  const definition = value['definition'] as ProvisioningKey['definition']
  if (definition) parseDefinition({ ...definition, name: 'one of many', vaultId: vault.id })
  return {
    ownerId: vault.ownerId,
    vaultId: vault.id,
    name: name as string,
    definition,
    fleetId: fleetId === undefined ? undefined : parseId<FleetId>(fleetId as string),
    devicesMax: devicesMax as number,
    registrationsPerMinute:
      (registrationsPerMinute as number | undefined) ?? registrationsPerMinuteDefault,
    rateLimit: rateLimit as RateLimit | undefined,
    foreignTopics: (foreignTopics as ForeignTopics | undefined) ?? 'refuse',
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

const fleetRule: Rule = (value, key, problems) => {
  if (typeof value !== 'string' || parseId(value) === undefined) problems.add(key, 'must be a uuid')
}

const rules = {
  name: plainText(200),
  definition: definitionRule,
  fleetId: fleetRule,
  devicesMax: integer(1, 100_000),
  registrationsPerMinute: integer(1, 6_000),
  rateLimit: rateLimitRule,
  foreignTopics: foreignTopicsRule,
  expiresAt: ((value, key, problems) => {
    if (typeof value !== 'string' || value.length > 64) problems.add(key, 'must be a time')
  }) satisfies Rule,
}
