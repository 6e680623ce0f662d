import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { text } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import { jobRoutes, ownJob } from '../jobs/job-routes.ts'
import { keptOfUserMax, openOfUserMax } from '../jobs/job-store.ts'
import type { SelectionNeeds } from '../queries/selected-streams.ts'
import { sendFile } from './download.ts'
import * as api from './export-api.ts'
import type { ExportJob } from './export-job.ts'
import { exportRequest } from './export-request.ts'
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

const scope = 'data:read'

const what = 'export'

/** Readings into files, in the background. All of it is the owner's alone. */
export function exportRoutes(needs: ExportRoutesNeeds): FastifyPluginAsync {
  const { exportJobs: jobs, exportStore: store, posts, callerOf } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Exports and imports'] })

    add('POST /exports', {
      operationId: 'createExport',
      summary: 'Write the readings of data streams into files, in the background.',
      description:
        'Of all your streams, or of those that meet all of `streamIds`, `vaultId`, `fleetId`, `name` and `tags`. Each stream gets one file or more.',
      scope,
      body: api.newExportSchema,
      answers: { 202: api.exportSchema },
      errors: ['disk_full', 'not_found', 'rate_limited', 'too_many_points', 'unsupported_query'],
      effect: ({ caller, body }) => creation(needs, caller, body),
    })

    await app.register(
      jobRoutes({
        jobs,
        store,
        path: '/exports',
        param: 'exportId',
        what,
        scopes: { look: scope, change: scope, changeAny: 'data:write' },
        texts,
        shape: api.exportSchema,
        body: api.exportBody,
        detailed: {
          shape: api.exportWithFilesSchema,
          body: async (job: ExportJob) => {
            const files = await store.files(job.id)
            return { ...api.exportBody(job), files: files.map(api.fileBody) }
          },
        },
        posts,
        callerOf,
      }),
    )

    addDownload(add, needs)
  }
}

const texts = {
  list: { operationId: 'listExports', summary: "List one's own exports." },
  get: {
    operationId: 'getExport',
    summary: 'See how far an export is, and what it has written.',
  },
  cancel: {
    operationId: 'cancelExport',
    summary: 'End an export before it has written all.',
    description:
      'Its finished files stay, and it can be resumed. One that has ended already is answered as it is.',
  },
  resume: {
    operationId: 'resumeExport',
    summary: 'Let an export that has failed or was cancelled go on after its last file.',
    description: 'Any other is answered as it is.',
  },
  remove: { operationId: 'deleteExport', summary: 'Remove an export with its files.' },
}

function addDownload(
  add: AddOperation,
  { exportJobs: jobs, exportStore: store }: ExportRoutesNeeds,
): void {
  add('GET /exports/:exportId/files/:name', {
    operationId: 'downloadExportFile',
    summary: 'Download a file that an export has written.',
    description:
      'With `Range: bytes=...` (one range) a part of it; `ETag` is its SHA-256, and counts for `If-Range`.',
    scope,
    params: { name: text },
    takesCookieAlone: true,
    answers: api.fileAnswers,
    errors: ['range_not_satisfiable'],
    handler: async ({ caller, params: { exportId, name }, request, reply }) => {
      const job = await ownJob({ jobs, what }, caller.userId, exportId)
      const file = (await store.files(job.id)).find((one) => one.name === name)
      const path = file && jobs.pathOf(job.id, file.name)
      if (file === undefined || path === undefined) {
        throw notFound('file of the export', name)
      }
      return sendFile({ path, file, format: job.request.format }, { request, reply })
    },
  })
}

async function creation(
  needs: ExportRoutesNeeds,
  { userId, apiKeyId }: ReturnType<CallerOf>,
  body: Static<typeof api.newExportSchema>,
) {
  const { exportJobs, exportStore } = needs
  const asked = { userId, nowUs: needs.nowUs() }
  await needs.assertSpace(userId)
  const wanted = await exportRequest(needs, asked, body)
  const { job, changes } = exportStore.plan({ ownerId: userId, apiKeyId }, wanted, asked.nowUs)
  return {
    statusCode: 202,
    body: api.exportBody(job),
    changes,
    refusal: async () => {
      const limits = `${openOfUserMax} exports that wait or run, and ${keptOfUserMax} in all`
      const message = `one user can have ${limits}: delete some`
      return new DomainError('rate_limited', message, { retryAfter: 60 })
    },
    afterwards: async () => exportJobs.wake(),
  } as const
}
