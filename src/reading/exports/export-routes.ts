import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { jobRoutes, ownJob } from '../jobs/job-routes.ts'
import { keptOfUserMax, openOfUserMax } from '../jobs/job-store.ts'
import type { SelectionNeeds } from '../queries/selected-streams.ts'
import { sendFile } from './download.ts'
import { type ExportJob, exportBody, fileBody } from './export-job.ts'
import { type ExportBody, exportRequest } from './export-request.ts'
import {
  cancelExport,
  createExport,
  deleteExport,
  downloadFile,
  getExport,
  listExports,
  resumeExport,
} from './export-schemas.ts'
import type { ExportStore } from './export-store.ts'
import type { Exports } from './exports.ts'

export interface ExportRoutesNeeds extends SelectionNeeds {
  readonly exportJobs: Exports
  readonly exportStore: ExportStore
  /** @throws DomainError `disk_full` when a new export of a user would have no space */
  readonly assertSpace: (userId: UserId) => Promise<void>
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

interface OneFile {
  Params: { exportId: string; name: string }
}

interface CreateExport {
  Body: ExportBody
}

const scope = 'data:read'

const what = 'export'

const createOptions = {
  schema: createExport,
  config: {
    scope,
    errors: ['disk_full', 'not_found', 'rate_limited', 'too_many_points', 'unsupported_query'],
  },
} as const

/** Readings into files, in the background. All of it is the owner's alone. */
export function exportRoutes(needs: ExportRoutesNeeds): FastifyPluginAsync {
  const { exportJobs: jobs, exportStore: store, posts, callerOf } = needs
  return async (app) => {
    app.post<CreateExport>('/exports', createOptions, (request, reply) =>
      create(needs, request, reply),
    )

    await app.register(
      jobRoutes<ExportJob>({
        jobs,
        store,
        path: '/exports',
        param: 'exportId',
        what,
        scopes: { look: scope, change: scope, changeAny: 'data:write' },
        schemas: {
          list: listExports,
          get: getExport,
          cancel: cancelExport,
          resume: resumeExport,
          remove: deleteExport,
        },
        body: exportBody,
        details: async ({ id }) => ({ files: (await store.files(id)).map(fileBody) }),
        posts,
        callerOf,
      }),
    )

    app.get<OneFile>(
      '/exports/:exportId/files/:name',
      { schema: downloadFile, config: { scope, errors: ['range_not_satisfiable'] } },
      async (request, reply) => {
        const { exportId, name } = request.params
        const job = await ownJob({ jobs, what }, callerOf(request).userId, exportId)
        const file = (await store.files(job.id)).find((one) => one.name === name)
        const path = file && jobs.pathOf(job.id, file.name)
        if (file === undefined || path === undefined) {
          throw new DomainError('not_found', `no file ${name}`)
        }
        return sendFile({ path, file, format: job.request.format }, { request, reply })
      },
    )
  }
}

async function create(
  needs: ExportRoutesNeeds,
  request: FastifyRequest<CreateExport>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { exportJobs, exportStore, posts, nowUs } = needs
  const { userId, apiKeyId } = needs.callerOf(request)
  return await posts.answer({ request, reply, userId }, async () => {
    const asked = { userId, nowUs: nowUs() }
    await needs.assertSpace(userId)
    const wanted = await exportRequest(needs, asked, request.body)
    const { job, changes } = exportStore.plan({ ownerId: userId, apiKeyId }, wanted, asked.nowUs)
    return {
      statusCode: 202,
      body: exportBody(job),
      changes,
      refusal: async () => {
        const limits = `${openOfUserMax} exports that wait or run, and ${keptOfUserMax} in all`
        const message = `one user can have ${limits}: delete some`
        return new DomainError('rate_limited', message, { retryAfter: 60 })
      },
      afterwards: async () => exportJobs.wake(),
    }
  })
}
