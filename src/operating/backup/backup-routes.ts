import type { FastifyPluginAsync } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { DomainError } from '../../core/errors.ts'
import { type BackupId, parseId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Backup } from './backup.ts'
import { cancelBackup, createBackup, getBackup, listBackups } from './backup-schemas.ts'
import type { Backups } from './backups.ts'

export interface BackupRoutesNeeds {
  readonly backups: Backups
  readonly audit: AuditLog
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface CreateBackup {
  Body: { to: string; withMasterKey?: boolean }
}

interface ListBackups {
  Querystring: QueryOf<typeof listBackups.querystring>
}

interface OneBackup {
  Params: { backupId: string }
}

/** Backups of the whole service, for who runs it. */
export function backupRoutes(needs: BackupRoutesNeeds): FastifyPluginAsync {
  const { backups, audit, posts, callerOf } = needs
  const config = { scope: 'platform:admin' } as const
  return async (app) => {
    app.post<CreateBackup>(
      '/backups',
      { schema: createBackup, config: { ...config, errors: ['conflict'] } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const { to, withMasterKey = false } = request.body
          const { backup, change, refusal, start } = backups.plan(to, withMasterKey)
          const entry = audit.entry({
            action: 'backup.started',
            actor: actorOf(request, callerOf),
            subjectId: backup.id,
            details: { to, withMasterKey },
          })
          const afterwards = async () => start()
          const body = backupBody(backup)
          return { statusCode: 202, body, changes: [change, entry], refusal, afterwards }
        })
      },
    )

    app.get<ListBackups>('/backups', { schema: listBackups, config }, async (request, reply) => {
      const page = cursorRequest(request.query)
      const found = await backups.list(page.after, page.limit + 1)
      return cursorPage(found, page, { request, reply }).map(backupBody)
    })

    app.get<OneBackup>('/backups/:backupId', { schema: getBackup, config }, async (request) =>
      backupBody(await oneBackup(backups, request.params.backupId)),
    )

    app.post<OneBackup>(
      '/backups/:backupId/cancel',
      { schema: cancelBackup, config },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const { id } = await oneBackup(backups, request.params.backupId)
          await backups.cancel(id)
          const body = backupBody(await oneBackup(backups, id))
          return { statusCode: 200, body, changes: [] }
        })
      },
    )
  }
}

async function oneBackup(backups: Backups, text: string): Promise<Backup> {
  const id = parseId<BackupId>(text)
  const backup = id && (await backups.find(id))
  if (!backup) throw new DomainError('not_found', `no backup ${text}`)
  return backup
}

function backupBody(backup: Backup): object {
  const { id, state, to, withMasterKey, createdAtUs, finishedAtUs, manifest } = backup
  const { progress = null, error = null } = backup
  const files = manifest?.files ?? null
  return {
    backupId: id,
    status: state,
    to,
    withMasterKey,
    createdAt: formatUs(createdAtUs),
    finishedAt: finishedAtUs === undefined ? null : formatUs(finishedAtUs),
    progress,
    error,
    bytes: files === null ? null : files.reduce((sum, { bytes }) => sum + bytes, 0),
    received: manifest?.counts.received ?? null,
    positions: manifest?.positions ?? null,
    files,
  }
}
