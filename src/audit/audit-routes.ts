import type { FastifyPluginAsync } from 'fastify'
import { parseId } from '../core/ids.ts'
import { formatUs } from '../core/time.ts'
import { integerParameter, invalidParameter, refuseUnknownParameters } from '../http/pagination.ts'
import {
  component,
  cursorQuery,
  dateTime,
  listOf,
  nullable,
  query as queryOf,
  record,
  text,
  uuid,
} from '../http/schema.ts'
import type { AuditCursor, AuditEntry, AuditLog } from './audit-log.ts'

/** `GET /audit`: what was changed that matters to security, newest first. */
export function auditRoutes({ audit }: { readonly audit: AuditLog }): FastifyPluginAsync {
  return async (app) => {
    app.get<{ Querystring: Record<string, unknown> }>(
      '/audit',
      { schema: listAudit, config: { scope: 'platform:admin' } },
      async ({ query }, reply) => {
        refuseUnknownParameters(query, ['limit', 'cursor', 'userId', 'action'])
        const limit = integerParameter(query, 'limit', { fallback: 100, min: 1, max: 1_000 })
        const filter = {
          userId: query['userId'] as string | undefined,
          action: query['action'] as string | undefined,
        }
        const found = await audit.list(filter, parseCursor(query['cursor']), limit + 1)
        const page = found.slice(0, limit)
        const last = page.at(-1)
        if (last && found.length > limit) {
          const next = new URLSearchParams({ ...(query as Record<string, string>) })
          next.set('cursor', Buffer.from(`${last.atUs} ${last.id}`).toString('base64url'))
          void reply.header('link', `</audit?${next.toString()}>; rel="next"`)
        }
        return page.map(entryBody)
      },
    )
  }
}

function parseCursor(cursor: unknown): AuditCursor | undefined {
  if (typeof cursor !== 'string') return undefined
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!/^\d{1,16}$/.test(time) || parseId(id) === undefined) {
    throw invalidParameter('cursor', 'must be a cursor from an answer of this operation')
  }
  return { atUs: Number(time), id }
}

function entryBody(entry: AuditEntry): object {
  return {
    id: entry.id,
    timestamp: formatUs(entry.atUs),
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

const listAudit = {
  operationId: 'listAuditLog',
  summary: 'Read what was changed that matters to security, newest first.',
  tags: ['Audit'],
  querystring: queryOf({ ...cursorQuery, userId: text, action: text }),
  response: {
    200: listOf(
      component(
        'AuditEntry',
        record({
          id: uuid,
          timestamp: dateTime,
          action: { ...text, examples: ['key.created'] },
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
