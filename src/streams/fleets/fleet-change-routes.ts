import type { FastifyPluginAsync } from 'fastify'
import { canonicalJson } from '../../core/canonical-json.ts'
import { assertMatch, ifMatchHeaders, versionTag } from '../../requests/http/if-match.ts'
import { describedOnly, noContent } from '../../requests/http/schema.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import type { StateWriter } from '../../storage/state/database.ts'
import type { Fleet } from './fleet.ts'
import * as api from './fleet-api.ts'
import type { FleetChanges } from './fleet-changes.ts'
import { changedFleet } from './fleet-request.ts'
import { auditOf, type FleetRoutesNeeds, nameTaken, ownFleet, shownFleet } from './fleet-routes.ts'

export interface FleetChangeRoutesNeeds extends FleetRoutesNeeds {
  readonly writer: Pick<StateWriter, 'attempt'>
  /** Brings the streams of fleets to where their fleets are. */
  readonly fleetChanges: Pick<FleetChanges, 'wake'>
  readonly nowUs: () => number
}

/** What happens to a fleet after it was made: changes, and its end. */
export function fleetChangeRoutes(needs: FleetChangeRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Fleets'] })
    addChange(add, needs)
    addDeletion(add, needs)
  }
}

function addChange(add: AddOperation, needs: FleetChangeRoutesNeeds): void {
  add('PUT /fleets/:fleetId', {
    operationId: 'changeFleet',
    summary: 'Change a fleet.',
    description: [
      'What is not sent stays. Another definition, or other tags, are the next version of the fleet. New devices get it at',
      'once; the streams that exist get it one after the other, and `change` of `GET /fleets/{fleetId}` shows how far',
      'that is. Each reading is judged by the version that its stream has then. With `If-Match` the fleet is changed',
      'only while it has that version.',
    ].join(' '),
    scope: 'streams:write',
    headers: ifMatchHeaders,
    body: describedOnly(api.fleetChangeSchema),
    answers: { 200: api.versionedFleet },
    errors: ['conflict', 'precondition_failed', 'unsupported_definition'],
    handler: async (exchange) => {
      const fleet = await change(needs, exchange)
      void exchange.reply.header('etag', versionTag(fleet.version))
      return await shownFleet(needs, fleet)
    },
  })
}

function addDeletion(add: AddOperation, needs: FleetChangeRoutesNeeds): void {
  const { fleets, writer, topics, fleetChanges } = needs
  add('DELETE /fleets/:fleetId', {
    operationId: 'deleteFleet',
    summary: 'Delete a fleet, with or without its streams.',
    description: [
      'It is gone at once, and messages on its topic lead to no stream. Its streams become ordinary streams one after the',
      'other: they keep their readings, and lose the topic, which was that of the fleet. With `streams=delete` they are',
      'deleted instead.',
    ].join(' '),
    scope: 'streams:write',
    query: api.endingQuery,
    answers: { 204: noContent },
    handler: async ({ caller, params, query, request }) => {
      const { streams = 'keep' } = query
      const { userId, apiKeyId } = caller
      const fleet = await ownFleet(needs, userId, params.fleetId)
      const audit = auditOf(needs, request).deleted(fleet, streams)
      const isEnded = await writer.attempt(...fleets.ending(fleet, streams, apiKeyId), audit)
      // Another request was first.
      if (!isEnded) await ownFleet(needs, userId, params.fleetId)
      topics.forget(userId)
      fleetChanges.wake()
      return null
    },
  })
}

/**
 * Makes a fleet another one. Of several changes at once one is first, and the others are merged into what it has made.
 */
async function change(
  needs: FleetChangeRoutesNeeds,
  exchange: Exchange<'PUT /fleets/:fleetId'>,
): Promise<Fleet> {
  const { fleets, units, writer, topics, fleetChanges, nowUs } = needs
  const { caller, params, body, request } = exchange
  for (;;) {
    const fleet = await ownFleet(needs, caller.userId, params.fleetId)
    assertMatch(fleet.version, exchange)
    const isSettled = fleet.settledVersion === fleet.version
    const changed = await changedFleet(fleet, body, { units, isSettled })
    const isNext = versionedText(changed) !== versionedText(fleet)
    const { name, streamsMax } = changed
    if (!isNext && name === fleet.name && streamsMax === fleet.streamsMax) return fleet
    const next: Fleet = {
      ...(isNext ? changed : { ...fleet, name, streamsMax }),
      version: isNext ? fleet.version + 1 : fleet.version,
      changedAtUs: Math.max(nowUs(), fleet.changedAtUs + 1),
      changedBy: isNext ? caller.apiKeyId : fleet.changedBy,
    }
    const audit = auditOf(needs, request).changed(fleet, next)
    if (await writer.attempt(fleets.change(fleet, next), audit)) {
      topics.forget(caller.userId)
      if (isNext) fleetChanges.wake()
      return next
    }
    const other = await fleets.findByName(caller.userId, name)
    if (other && other.id !== fleet.id) throw nameTaken(name)
  }
}

/** What a version of a fleet is: the rules that a definition was checked by are not part of what it says. */
function versionedText({ definition, tags }: Fleet): string {
  const { deviceField, source, schema, processing } = definition
  return canonicalJson({ deviceField, source, schema, processing, tags: tagsIn(tags) })
}

function tagsIn(tags: Fleet['tags']): object {
  return Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== null))
}
