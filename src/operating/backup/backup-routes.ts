import type { FastifyPluginAsync } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { type BackupId, parseId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, cursorQuery, query } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { Backup } from './backup.ts'
import * as api from './backup-api.ts'
import type { Backups } from './backups.ts'

export interface BackupRoutesNeeds {
  readonly backups: Backups
  readonly audit: AuditLog
  readonly posts: Posts
  readonly callerOf: CallerOf
}

const scope = 'platform:admin'

/** Backups of the whole service, for who runs it. */
export function backupRoutes(needs: BackupRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Backups'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

function addReading(add: AddOperation, { backups }: BackupRoutesNeeds): void {
  add('GET /backups', {
    operationId: 'listBackups',
    summary: 'List backups, newest first.',
    scope,
    query: query(cursorQuery),
    answers: { 200: cursorListOf(api.backupSchema) },
    handler: async (exchange) => {
      const page = cursorRequest(exchange.query)
      const found = await backups.list(page.after, page.limit + 1)
      return cursorPage(found, page, exchange).map(api.backupBody)
    },
  })

  add('GET /backups/:backupId', {
    operationId: 'getBackup',
    summary: 'Read how far a backup has come, or what it holds.',
    scope,
    answers: { 200: api.backupSchema },
    handler: async ({ params }) => api.backupBody(await oneBackup(backups, params.backupId)),
  })
}

function addChanging(add: AddOperation, { backups, audit, callerOf }: BackupRoutesNeeds): void {
  add('POST /backups', {
    operationId: 'createBackup',
    summary: 'Begin a backup of the complete service, while it runs.',
    description:
      'One at a time. The master key is only in it when `withMasterKey` asks for it: without that key no secret can be checked after a restore.',
    scope,
    body: api.newBackupSchema,
    answers: { 202: api.backupSchema },
    errors: ['conflict'],
    effect: async ({ body: { to, withMasterKey = false }, request }) => {
      const { backup, change, refusal, start } = backups.plan(to, withMasterKey)
      const entry = audit.entry({
        action: 'backup.started',
        actor: actorOf(request, callerOf),
        subjectId: backup.id,
        details: { to, withMasterKey },
      })
      const afterwards = async () => start()
      const body = api.backupBody(backup)
      return { statusCode: 202, body, changes: [change, entry], refusal, afterwards }
    },
  })

  add('POST /backups/:backupId/cancel', {
    operationId: 'cancelBackup',
    summary: 'Cancel a backup that is running; what there is of it is removed.',
    description: 'A backup that has ended stays as it is. Repeating it changes nothing.',
    scope,
    answers: { 200: api.backupSchema },
    effect: async ({ params }) => {
      const { id } = await oneBackup(backups, params.backupId)
      await backups.cancel(id)
      const body = api.backupBody(await oneBackup(backups, id))
      return { statusCode: 200, body, changes: [] }
    },
  })
}

/** @throws DomainError `not_found` */
async function oneBackup(backups: Backups, text: string): Promise<Backup> {
  const id = parseId<BackupId>(text)
  const backup = id && (await backups.find(id))
  if (!backup) throw notFound('backup', text)
  return backup
}
