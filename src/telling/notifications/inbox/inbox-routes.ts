import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../../../core/errors.ts'
import { type InboxEntryId, parseId } from '../../../core/ids.ts'
import { notFound } from '../../../core/not-found.ts'
import { envelope, sliceOf } from '../../../requests/http/pagination.ts'
import { noContent } from '../../../requests/http/schema.ts'
import type { CallerOf } from '../../../requests/http/server.ts'
import type { Posts } from '../../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../../requests/operations/operation.ts'
import * as api from './inbox-api.ts'
import type { InboxStore } from './inbox-store.ts'

export interface InboxRoutesNeeds {
  readonly inbox: InboxStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Events that the caller was notified of (decisions.md#the-inbox). */
export function inboxRoutes(needs: InboxRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Notifications'] })
    addReading(add, needs)
    addMarking(add, needs)
    addEnding(add, needs)
  }
}

function addReading(add: AddOperation, { inbox }: InboxRoutesNeeds): void {
  add('GET /notifications/in-app', {
    operationId: 'listInbox',
    summary: 'List your notifications, newest first.',
    description: 'Without what is archived or older than 30 days.',
    scope: 'notifications:read',
    query: api.inboxQuery,
    answers: { 200: api.inboxPageSchema },
    handler: async ({ caller, query }) => {
      const page = {
        page: query.page ?? 1,
        pageSize: query.page_size ?? api.inboxPageSizeDefault,
      }
      const { severity, unread_only: unreadOnly = false } = query
      const wish = { ...sliceOf(page), unreadOnly, severity }
      const { entries, total, unread } = await inbox.list(caller.userId, wish)
      return { ...envelope(entries.map(api.entryBody), total, page), unread_count: unread }
    },
  })

  add('GET /notifications/in-app/unread-count', {
    operationId: 'countUnreadInboxEntries',
    summary: 'Count your notifications that are not read.',
    scope: 'notifications:read',
    answers: { 200: api.unreadSchema },
    handler: async ({ caller }) => ({ unread_count: await inbox.unread(caller.userId) }),
  })
}

function addMarking(add: AddOperation, { inbox }: InboxRoutesNeeds): void {
  add('PUT /notifications/in-app/:notificationId/read', {
    operationId: 'markInboxEntryRead',
    summary: 'Mark one entry as read.',
    scope: 'notifications:write',
    answers: { 200: api.entrySchema },
    handler: async ({ caller, params }) => {
      const id = entryId(params.notificationId)
      const entry = id && (await inbox.read(caller.userId, id))
      if (!entry) throw unknown(params.notificationId)
      return api.entryBody(entry)
    },
  })

  add('PUT /notifications/in-app/mark-all-read', {
    operationId: 'markInboxRead',
    summary: 'Mark every entry as read.',
    scope: 'notifications:write',
    answers: { 200: api.unreadSchema },
    handler: async ({ caller: { userId } }) => {
      await inbox.readAll(userId)
      return { unread_count: await inbox.unread(userId) }
    },
  })
}

function addEnding(add: AddOperation, { inbox }: InboxRoutesNeeds): void {
  add('DELETE /notifications/in-app/:notificationId', {
    operationId: 'deleteInboxEntry',
    summary: 'Delete an entry.',
    description: 'If the event that it stood for happens again, there is a new notification.',
    scope: 'notifications:write',
    answers: { 204: noContent },
    handler: async ({ caller, params }) => {
      const id = entryId(params.notificationId)
      if (id !== undefined && (await inbox.remove(caller.userId, id))) return null
      throw unknown(params.notificationId)
    },
  })

  add('POST /notifications/in-app/archive', {
    operationId: 'archiveInboxEntries',
    summary: 'Archive entries: they leave the list and the count.',
    description:
      'Those with these ids, or all that are read. Ids that are unknown or archived already are passed over.',
    scope: 'notifications:write',
    body: api.archivalSchema,
    answers: { 200: api.archivedSchema },
    effect: async ({ caller: { userId }, body }) => {
      const ids = body.ids?.flatMap((text) => entryId(text) ?? [])
      const archived = await inbox.archivable(userId, ids)
      const changes = ids ? inbox.archiving(userId, ids) : inbox.archivingRead(userId)
      return { statusCode: 200, body: { archived }, changes }
    },
  })
}

function entryId(text: string): InboxEntryId | undefined {
  return parseId<InboxEntryId>(text)
}

function unknown(text: string): DomainError {
  return notFound('notification', text)
}
