import type { FastifyPluginAsync } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { changedMeanwhile, conflict, noRoom } from '../../core/conflict.ts'
import type { DomainError } from '../../core/errors.ts'
import { type FleetId, parseId, type UserId, type VaultId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { versionTag } from '../../requests/http/if-match.ts'
import { linkNext } from '../../requests/http/pagination.ts'
import { cursorLimitDefault, describedOnly } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import type { Units } from '../units/units.ts'
import { type Fleet, fleetsOfUserMax } from './fleet.ts'
import * as api from './fleet-api.ts'
import { FleetAudit } from './fleet-audit.ts'
import { encodeNameCursor, nameBehind } from './fleet-cursor.ts'
import { parseNewFleet } from './fleet-request.ts'
import type { FleetStore } from './fleet-store.ts'

export interface FleetRoutesNeeds {
  readonly fleets: FleetStore
  readonly vaults: VaultStore
  readonly units: Units
  /** To be notified of a user whose fleets may have other topics from now on. */
  readonly topics: { forget(userId: UserId): void }
  readonly audit: AuditLog
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Fleets: what is made, and what is there. */
export function fleetRoutes(needs: FleetRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Fleets'] })
    addCreation(add, needs)
    addReading(add, needs)
  }
}

function addCreation(add: AddOperation, needs: FleetRoutesNeeds): void {
  add('POST /fleets', {
    operationId: 'createFleet',
    summary: 'Create a fleet.',
    description: [
      'One definition for the data streams of many devices. The first message of a device makes its stream; later ones go',
      'there. A level `{device}` of the topic names the device, or `source.deviceField`, or the address',
      '`POST /fleets/{fleetId}/devices/{device}/data`.',
    ].join(' '),
    scope: 'streams:write',
    body: describedOnly(api.newFleetSchema),
    answers: { 201: api.fleetSchema },
    errors: ['conflict', 'not_found', 'unsupported_definition'],
    effect: (exchange) => creation(needs, exchange),
  })
}

function addReading(add: AddOperation, needs: FleetRoutesNeeds): void {
  const { fleets } = needs

  add('GET /fleets', {
    operationId: 'listFleets',
    summary: "List one's own fleets, by name.",
    scope: 'streams:read',
    query: api.fleetsQuery,
    answers: { 200: api.fleetsList },
    handler: async ({ caller, query, request, reply }) => {
      const { limit = cursorLimitDefault, cursor, vaultId } = query
      const wanted = { after: nameBehind(cursor), vaultId: vaultId as VaultId | undefined }
      const found = await fleets.list(caller.userId, { ...wanted, limit: limit + 1 })
      const page = found.slice(0, limit)
      const last = page.at(-1)
      if (last && found.length > limit) {
        linkNext(encodeNameCursor(last.name.toLowerCase()), { request, reply })
      }
      return await Promise.all(page.map((fleet) => shownFleet(needs, fleet)))
    },
  })

  add('GET /fleets/:fleetId', {
    operationId: 'readFleet',
    summary: 'Read a fleet.',
    scope: 'streams:read',
    answers: { 200: api.versionedFleet },
    handler: async ({ caller, params, reply }) => {
      const fleet = await ownFleet(needs, caller.userId, params.fleetId)
      void reply.header('etag', versionTag(fleet.version))
      return await shownFleet(needs, fleet)
    },
  })
}

async function creation(needs: FleetRoutesNeeds, { caller, body, request }: Exchange) {
  const { fleets, vaults, units, topics } = needs
  const { userId, apiKeyId } = caller
  const wanted = await parseNewFleet(body, units)
  await ownVault(vaults, userId, wanted.vaultId)
  const { fleet, changes } = fleets.plan(userId, wanted, apiKeyId)
  return {
    statusCode: 201,
    body: api.fleetBody(fleet, { streams: 0, behind: 0, failed: 0 }),
    changes: [...changes, auditOf(needs, request).created(fleet)],
    async refusal() {
      await ownVault(vaults, userId, wanted.vaultId)
      if (await fleets.findByName(userId, wanted.name)) return nameTaken(wanted.name)
      if (await fleets.hasRoom(userId))
        return changedMeanwhile('the vault', 'GET /vaults/{vaultId}')
      return noRoom(`a user can have ${fleetsOfUserMax} fleets`, 'DELETE /fleets/{fleetId}')
    },
    afterwards: async () => topics.forget(userId),
  }
}

/** A fleet, with how far its streams are. */
export async function shownFleet({ fleets }: Pick<FleetRoutesNeeds, 'fleets'>, fleet: Fleet) {
  return api.fleetBody(fleet, await fleets.progressOf(fleet))
}

/** @throws DomainError `not_found` for an unknown fleet and for another user's alike */
export async function ownFleet(
  { fleets }: Pick<FleetRoutesNeeds, 'fleets'>,
  userId: UserId,
  text: string,
): Promise<Fleet> {
  const id = parseId<FleetId>(text)
  const fleet = id && (await fleets.find(userId, id))
  if (!fleet) throw notFound('fleet', text)
  return fleet
}

export function auditOf(
  { audit, callerOf }: Pick<FleetRoutesNeeds, 'audit' | 'callerOf'>,
  request: Parameters<CallerOf>[0],
): FleetAudit {
  return new FleetAudit(audit, actorOf(request, callerOf))
}

export function nameTaken(name: string): DomainError {
  return conflict(
    `another fleet has the name ${name}, in this case or another`,
    'Choose another name, or find the fleet with GET /fleets.',
  )
}
