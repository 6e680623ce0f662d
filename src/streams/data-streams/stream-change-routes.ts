import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { parseId, type StreamId } from '../../core/ids.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { withConversions } from './conversions.ts'
import {
  type DataStreamRoutesNeeds,
  ownStream,
  shownDefinition,
  shownStatus,
  subjectOf,
} from './data-stream-routes.ts'
import type { DataStream } from './data-stream-store.ts'
import { changedDefinition, isSameDefinition } from './definition-change.ts'
import { deletionBody, noticeOf, versionBody } from './stream-body.ts'
import {
  changeStream,
  deleteStream,
  listStreamVersions,
  pauseStream,
  readStreamDeletion,
  resumeStream,
} from './stream-change-schemas.ts'
import { type StreamChanges, versionsMax } from './stream-changes.ts'

export interface StreamChangeRoutesNeeds extends DataStreamRoutesNeeds {
  readonly changes: StreamChanges
  /** Lets readings meet the stream as it is now. */
  readonly forget: (stream: Pick<DataStream, 'id' | 'ownerId'>) => void
  /** Has what is left of a deleted stream removed, and ends what goes on about it. */
  readonly onDeleted: (id: StreamId) => void
}

interface OneStream {
  Params: { streamId: string }
}

interface ListVersions extends OneStream {
  Querystring: QueryOf<typeof listStreamVersions.querystring>
}

/** What happens to a data stream after it was made: changes, pauses, its end. */
export function streamChangeRoutes(needs: StreamChangeRoutesNeeds): FastifyPluginAsync {
  const { changes, callerOf } = needs
  const streamOf = (request: FastifyRequest<OneStream>) =>
    ownStream(needs, callerOf(request).userId, request.params.streamId)
  return async (app) => {
    app.put<OneStream>('/streams/:streamId', changeOptions, async (request) => {
      return await shownDefinition(needs, await change(needs, request))
    })

    app.delete<OneStream>('/streams/:streamId', deleteOptions, async (request, reply) => {
      while (!(await remove(needs, await streamOf(request), callerOf(request)))) continue
      return reply.code(204).send()
    })

    app.get<OneStream>(
      '/streams/:streamId/deletion',
      { schema: readStreamDeletion, config: { scope: 'streams:read' } },
      async (request) => {
        const { streamId } = request.params
        const id = parseId<StreamId>(streamId)
        const deletion = id && (await changes.deletion(callerOf(request).userId, id))
        if (!deletion) throw new DomainError('not_found', `no deleted stream ${streamId}`)
        return deletionBody(deletion)
      },
    )

    app.post<OneStream>(
      '/streams/:streamId/pause',
      { schema: pauseStream, config: { scope: 'streams:write' } },
      (request, reply) => setPaused(needs, true, { request, reply }),
    )

    app.post<OneStream>(
      '/streams/:streamId/resume',
      { schema: resumeStream, config: { scope: 'streams:write' } },
      (request, reply) => setPaused(needs, false, { request, reply }),
    )

    app.get<ListVersions>(
      '/streams/:streamId/versions',
      { schema: listStreamVersions, config: { scope: 'streams:read' } },
      async (request) => {
        const { id } = await streamOf(request)
        const { limit = 20, cursor: below = versionsMax + 1 } = request.query
        const found = await changes.versions(id, below, limit + 1)
        const page = found.slice(0, limit)
        const nextCursor = found.length > limit ? (page.at(-1)?.version ?? null) : null
        return { streamId: id, versions: page.map(versionBody), nextCursor }
      },
    )
  }
}

const changeOptions = {
  schema: changeStream,
  config: {
    scope: 'streams:write',
    interface: 'bearer',
    errors: ['conflict', 'destination_not_allowed', 'unsupported_definition'],
  },
} as const

const deleteOptions = {
  schema: deleteStream,
  config: { scope: 'streams:write', interface: 'bearer' },
} as const

/**
 * Makes the next version. Of several changes at once one is first, and the others are merged into
 * what it has made: each try that fails means that another change has succeeded.
 */
async function change(
  { streams, changes, units, sources, lifecycle, callerOf, forget }: StreamChangeRoutesNeeds,
  request: FastifyRequest<OneStream>,
): Promise<DataStream> {
  const actor = callerOf(request)
  const { userId, apiKeyId } = actor
  for (;;) {
    const stream = await ownStream({ streams }, userId, request.params.streamId)
    const parsed = await sources.completed(stream, changedDefinition(stream, request.body))
    if (isSameDefinition(stream, parsed)) return stream
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

async function setPaused(
  needs: StreamChangeRoutesNeeds,
  isPaused: boolean,
  { request, reply }: { readonly request: FastifyRequest<OneStream>; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { changes, lifecycle, posts, callerOf, forget } = needs
  const actor = callerOf(request)
  const { userId } = actor
  return await posts.answer({ request, reply, userId }, async () => {
    const stream = await ownStream(needs, userId, request.params.streamId)
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
      refusal: async () => new DomainError('not_found', `no stream ${stream.id}`),
      afterwards: async () => forget(stream),
    }
  })
}
