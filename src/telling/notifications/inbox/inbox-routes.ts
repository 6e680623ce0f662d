import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../core/errors.ts'
import { type InboxEntryId, parseId } from '../../../core/ids.ts'
import { envelope, sliceOf } from '../../../requests/http/pagination.ts'
import type { QueryOf } from '../../../requests/http/schema.ts'
import type { CallerOf } from '../../../requests/http/server.ts'
import type { Posts } from '../../../requests/idempotency/posts.ts'
import { entryBody } from './inbox-entry.ts'
import {
  archiveInboxEntries,
  countUnread,
  deleteInboxEntry,
  inboxPageSizeDefault,
  listInbox,
  readInboxEntry,
  readWholeInbox,
} from './inbox-schemas.ts'
import type { InboxStore } from './inbox-store.ts'

export interface InboxRoutesNeeds {
  readonly inbox: InboxStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface ListInbox {
  Querystring: QueryOf<typeof listInbox.querystring>
}

interface OneEntry {
  Params: { notificationId: string }
}

interface Archive {
  Body: { readonly ids?: readonly string[]; readonly all_read?: true }
}

const path = '/notifications/in-app'

/** Events that the caller was notified of (decisions.md#the-inbox). */
export function inboxRoutes(needs: InboxRoutesNeeds): FastifyPluginAsync {
  const { inbox, callerOf } = needs
  const reading = { scope: 'notifications:read' } as const
  const writing = { scope: 'notifications:write' } as const
  return async (app) => {
    app.get<ListInbox>(path, { schema: listInbox, config: reading }, (request) =>
      list(needs, request),
    )

    app.get(`${path}/unread-count`, { schema: countUnread, config: reading }, async (request) => ({
      unread_count: await inbox.unread(callerOf(request).userId),
    }))

    app.put<OneEntry>(
      `${path}/:notificationId/read`,
      { schema: readInboxEntry, config: writing },
      async (request) => {
        const { notificationId } = request.params
        const id = entryId(notificationId)
        const entry = id && (await inbox.read(callerOf(request).userId, id))
        if (!entry) throw unknown(notificationId)
        return entryBody(entry)
      },
    )

    app.put(
      `${path}/mark-all-read`,
      { schema: readWholeInbox, config: writing },
      async (request) => {
        const { userId } = callerOf(request)
        await inbox.readAll(userId)
        return { unread_count: await inbox.unread(userId) }
      },
    )

    app.delete<OneEntry>(
      `${path}/:notificationId`,
      { schema: deleteInboxEntry, config: writing },
      async (request, reply) => {
        const { notificationId } = request.params
        const id = entryId(notificationId)
        const isRemoved = id !== undefined && (await inbox.remove(callerOf(request).userId, id))
        if (!isRemoved) throw unknown(notificationId)
        return reply.code(204).send()
      },
    )

    app.post<Archive>(
      `${path}/archive`,
      { schema: archiveInboxEntries, config: writing },
      (request, reply) => archive(needs, request, reply),
    )
  }
}

async function list(
  { inbox, callerOf }: InboxRoutesNeeds,
  request: FastifyRequest<ListInbox>,
): Promise<object> {
  const { query } = request
  const page = {
    page: query.page ?? 1,
    pageSize: query.page_size ?? inboxPageSizeDefault,
  }
  const { userId } = callerOf(request)
  const unreadOnly = query.unread_only ?? false
  const { severity } = query
  const wish = { ...sliceOf(page), unreadOnly, severity }
  const { entries, total, unread } = await inbox.list(userId, wish)
  return { ...envelope(entries.map(entryBody), total, page), unread_count: unread }
}

async function archive(
  { inbox, posts, callerOf }: InboxRoutesNeeds,
  request: FastifyRequest<Archive>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { userId } = callerOf(request)
  return await posts.answer({ request, reply, userId }, async () => {
    const ids = request.body.ids?.flatMap((text) => entryId(text) ?? [])
    const archived = await inbox.archivable(userId, ids)
    const changes = ids ? inbox.archiving(userId, ids) : inbox.archivingRead(userId)
    return { statusCode: 200, body: { archived }, changes }
  })
}

function entryId(text: string): InboxEntryId | undefined {
  return parseId<InboxEntryId>(text)
}

function unknown(text: string): DomainError {
  return new DomainError('not_found', `no notification ${text}`)
}
