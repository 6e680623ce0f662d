import type { FastifyPluginAsync } from 'fastify'
import { type AuditEntry, type AuditLog, auditActions } from '../../access/audit/audit-log.ts'
import { formatUs } from '../../core/time.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import {
  component,
  cursorListOf,
  cursorQuery,
  dateTime,
  nullable,
  type QueryOf,
  query as queryOf,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

/** `GET /audit`: what was changed that matters to security, newest first. */
export function auditRoutes({ audit }: { readonly audit: AuditLog }): FastifyPluginAsync {
  return async (app) => {
    app.get<ListAudit>(
      '/audit',
      { schema: listAudit, config: { scope: 'platform:admin' } },
      async (request, reply) => {
        const { userId, action } = request.query
        const page = cursorRequest(request.query)
        const found = await audit.list({ userId, action }, page.after, page.limit + 1)
        return cursorPage(found, page, { request, reply }).map(entryBody)
      },
    )
  }
}

function entryBody(entry: AuditEntry): object {
  return {
    id: entry.id,
    timestamp: formatUs(entry.createdAtUs),
    action: entry.action,
    actorUserId: entry.actor?.userId ?? null,
    actorKeyId: entry.actor?.apiKeyId ?? null,
    subjectId: entry.subjectId ?? null,
    userId: entry.userId ?? null,
    address: entry.address ?? null,
    details: entry.details,
  }
}

const textOrNull = nullable(text)
const action = { ...text, enum: auditActions } as const

const listAudit = {
  operationId: 'listAuditLog',
  summary: 'Read what was changed that matters to security, newest first.',
  tags: ['Audit'],
  querystring: queryOf({ ...cursorQuery, userId: text, action }),
  response: {
    200: cursorListOf(
      component(
        'AuditEntry',
        record({
          id: uuid,
          timestamp: dateTime,
          action,
          actorUserId: textOrNull,
          actorKeyId: textOrNull,
          subjectId: textOrNull,
          userId: { ...textOrNull, description: 'The user that it is about.' },
          address: textOrNull,
          details: { type: 'object', additionalProperties: true, examples: [{}] },
        }),
      ),
    ),
  },
} as const

interface ListAudit {
  Querystring: QueryOf<typeof listAudit.querystring>
}
