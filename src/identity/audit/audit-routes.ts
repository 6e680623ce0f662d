import type { FastifyPluginAsync } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { auditEntrySchema, auditQuery, entryBody } from './audit-api.ts'

export interface AuditRoutesNeeds {
  readonly audit: AuditLog
  readonly callerOf: CallerOf
}

/** `GET /audit`: what was changed that matters to security, newest first. */
export function auditRoutes(needs: AuditRoutesNeeds): FastifyPluginAsync {
  const { audit } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Audit'] })

    add('GET /audit', {
      operationId: 'listAuditLog',
      summary: 'Read what was changed that matters to security, newest first.',
      scope: 'platform:admin',
      query: auditQuery,
      answers: { 200: cursorListOf(auditEntrySchema) },
      handler: async ({ query, request, reply }) => {
        const { userId, action } = query
        const page = cursorRequest(query)
        const found = await audit.list({ userId, action }, page.after, page.limit + 1)
        return cursorPage(found, page, { request, reply }).map(entryBody)
      },
    })
  }
}
