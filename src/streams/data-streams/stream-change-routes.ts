import type { FastifyPluginAsync } from 'fastify'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { parseId, type StreamId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import { assertMatch, ifMatchHeaders, versionTag } from '../../requests/http/if-match.ts'
import { describedOnly, noContent } from '../../requests/http/schema.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import { type AddTwoHalves, halfOf, twoHalvesOf } from '../../requests/operations/two-halves.ts'
import { withConversions } from './conversions.ts'
import * as api from './data-stream-api.ts'
import {
  type DataStreamRoutesNeeds,
  ownStream,
  shownDefinition,
  shownStatus,
  subjectOf,
} from './data-stream-routes.ts'
import type { DataStream } from './data-stream-store.ts'
import { changedDefinition, isSameDefinition } from './definition-change.ts'
import { definitionChange } from './definition-schemas.ts'
import { assertOwnPart } from './fleet-part.ts'
import { deletionBody, noticeOf, versionBody } from './stream-body.ts'
import { type StreamChanges, versionsMax } from './stream-changes.ts'

export interface StreamChangeRoutesNeeds extends DataStreamRoutesNeeds {
  readonly changes: StreamChanges
  /** Lets readings meet the stream as it is now. */
  readonly forget: (stream: Pick<DataStream, 'id' | 'ownerId' | 'fleet'>) => void
  /** Has what is left of a deleted stream removed, and ends what goes on about it. */
  readonly onDeleted: (id: StreamId) => void
}

/** What happens to a data stream after it was made: changes, pauses, its end. */
export function streamChangeRoutes(needs: StreamChangeRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })
    addChanges(twoHalvesOf(app, { ...needs, tags: ['Streams'] }), needs)
    addPauses(add, needs)
    addPast(add, needs)
  }
}

function addChanges(add: AddTwoHalves, needs: StreamChangeRoutesNeeds): void {
  add('PUT /streams/:streamId', {
    operationId: 'changeStream',
    summary: 'Change a data stream, or an asset stream.',
    scope: 'streams:write',
    headers: ifMatchHeaders,
    key: needs.assetHalves.change,
    bearer: halfOf<'PUT /streams/:streamId'>()({
      description: [
        'A data stream. What is not sent stays. The definition as it would be is checked as for a new',
        'stream, and becomes the next version, unless it says what the version before did. Readings that',
        'arrive after the answer are judged by it. With `If-Match` it is changed only while it has that',
        'version. Of the stream of a device of a fleet only the name and its own tags can be changed.',
      ].join(' '),
      body: describedOnly(definitionChange),
      answers: { 200: api.versionedAnswer },
      errors: [
        'conflict',
        'destination_not_allowed',
        'precondition_failed',
        'unsupported_definition',
      ],
      handler: async (exchange) => {
        const stream = await change(needs, exchange)
        void exchange.reply.header('etag', versionTag(stream.version))
        return await shownDefinition(needs, stream)
      },
    }),
  })

  add('DELETE /streams/:streamId', {
    operationId: 'deleteStream',
    summary: 'Delete a data stream with all of its readings, or an asset stream.',
    scope: 'streams:write',
    key: needs.assetHalves.remove,
    bearer: halfOf<'DELETE /streams/:streamId'>()({
      description:
        'A data stream. It is gone at once, and its vault is free. Its data is removed in the background; `GET /streams/{streamId}/deletion` says when that is done.',
      answers: { 204: noContent },
      handler: async ({ caller, params }) => {
        const find = () => ownStream(needs, caller.userId, params.streamId)
        while (!(await remove(needs, await find(), caller))) continue
        return null
      },
    }),
  })
}

function addPauses(add: AddOperation, needs: StreamChangeRoutesNeeds): void {
  add('POST /streams/:streamId/pause', {
    operationId: 'pauseStream',
    summary: 'Pause a data stream.',
    description: [
      'From the answer on, readings over HTTP are refused with 409 `stream_paused`, and are not received;',
      'readings over MQTT are kept in the quarantine. Pausing a paused stream changes nothing.',
    ].join(' '),
    scope: 'streams:write',
    answers: { 200: api.streamStatus },
    effect: ({ caller, params }) => pausing(needs, true, { actor: caller, id: params.streamId }),
  })

  add('POST /streams/:streamId/resume', {
    operationId: 'resumeStream',
    summary: 'Let a paused data stream go on.',
    description: 'Resuming a stream that is not paused changes nothing.',
    scope: 'streams:write',
    answers: { 200: api.streamStatus },
    effect: ({ caller, params }) => pausing(needs, false, { actor: caller, id: params.streamId }),
  })
}

function addPast(add: AddOperation, needs: StreamChangeRoutesNeeds): void {
  const { changes } = needs

  add('GET /streams/:streamId/deletion', {
    operationId: 'readStreamDeletion',
    summary: 'Read how far the data of a deleted stream is removed.',
    description: 'For 30 days after that is done.',
    scope: 'streams:read',
    answers: { 200: api.streamDeletion },
    handler: async ({ caller, params: { streamId } }) => {
      const id = parseId<StreamId>(streamId)
      const deletion = id && (await changes.deletion(caller.userId, id))
      if (!deletion) throw notFound('deleted stream', streamId)
      return deletionBody(deletion)
    },
  })

  add('GET /streams/:streamId/versions', {
    operationId: 'listStreamVersions',
    summary: 'List the versions of a data stream, newest first.',
    scope: 'streams:read',
    query: api.versionsQuery,
    answers: { 200: api.streamVersions },
    handler: async ({ caller, params, query }) => {
      const { id } = await ownStream(needs, caller.userId, params.streamId)
      const { limit = api.versionsDefault, cursor: below = versionsMax + 1 } = query
      const found = await changes.versions(id, below, limit + 1)
      const page = found.slice(0, limit)
      const nextCursor = found.length > limit ? (page.at(-1)?.version ?? null) : null
      return { streamId: id, versions: page.map(versionBody), nextCursor }
    },
  })
}

/** Who changes which stream. */
interface Changing {
  readonly actor: AuthenticatedCaller
  /** As it came. */
  readonly id: string
}

/**
 * Makes the next version. Of several changes at once one is first, and the others are merged into
 * what it has made: each try that fails means that another change has succeeded. Those that are meant for one
 * version find another one then.
 */
async function change(
  { streams, changes, units, sources, lifecycle, forget }: StreamChangeRoutesNeeds,
  exchange: Exchange<'PUT /streams/:streamId'>,
): Promise<DataStream> {
  const { caller: actor, params, body } = exchange
  const { userId, apiKeyId } = actor
  for (;;) {
    const stream = await ownStream({ streams }, userId, params.streamId)
    assertMatch(stream.version, exchange)
    const parsed = await sources.completed(stream, changedDefinition(stream, body))
    if (isSameDefinition(stream, parsed)) return stream
    assertOwnPart(stream, parsed)
    await sources.assertAllowed(parsed.source)
    const changed = await withConversions(units, parsed)
    const next = { ...stream, ...changed, version: stream.version + 1 }
    const event = { event: 'stream.updated', ...subjectOf(next), actor } as const
    const also = [...(await sources.changed(stream, changed.source)), ...lifecycle.record(event)]
    const isMade = await changes.change(stream, changed, apiKeyId, ...also)
    if (!isMade) continue
    forget(stream)
    return next
  }
}

async function remove(
  { changes, sources, lifecycle, forget, onDeleted, publicUrl }: StreamChangeRoutesNeeds,
  stream: DataStream,
  actor: LifecycleEvent['actor'],
): Promise<boolean> {
  const notice = noticeOf(stream, 'deleted', publicUrl)
  const event = { event: 'stream.deleted', ...subjectOf(stream), actor, notice } as const
  const forgotten = [lifecycle.forget(stream.id), ...sources.removed(stream.id)]
  const also = [...lifecycle.record(event), ...forgotten]
  if (!(await changes.remove(stream, ...also))) return false
  forget(stream)
  onDeleted(stream.id)
  return true
}

async function pausing(needs: StreamChangeRoutesNeeds, isPaused: boolean, { actor, id }: Changing) {
  const { changes, lifecycle, forget } = needs
  const stream = await ownStream(needs, actor.userId, id)
  const event = isPaused ? 'stream.paused' : 'stream.resumed'
  const subject = { event, ...subjectOf(stream), actor } as const
  return {
    statusCode: 200,
    body: await shownStatus(needs, { ...stream, isPaused }),
    // The event first, as it is one only while the stream is not like that yet.
    changes: [
      ...lifecycle.record(subject, changes.isPausedAs(stream, !isPaused)),
      ...changes.pausing(stream, isPaused),
    ],
    refusal: async () => notFound('stream', stream.id),
    afterwards: async () => forget(stream),
  }
}
