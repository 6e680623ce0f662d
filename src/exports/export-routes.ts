import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../core/errors.ts'
import { type ExportId, parseId, type UserId } from '../core/ids.ts'
import { cursorPage, cursorRequest } from '../http/pagination.ts'
import type { QueryOf } from '../http/schema.ts'
import type { CallerOf } from '../http/server.ts'
import type { Posts } from '../idempotency/posts.ts'
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
import { type ExportStore, keptOfUserMax, openOfUserMax } from './export-store.ts'
import type { Exports } from './exports.ts'

export interface ExportRoutesNeeds extends SelectionNeeds {
  readonly exportJobs: Exports
  readonly exportStore: ExportStore
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

interface OneExport {
  Params: { exportId: string }
}

interface OneFile {
  Params: { exportId: string; name: string }
}

interface ListExports {
  Querystring: QueryOf<typeof listExports.querystring>
}

interface CreateExport {
  Body: ExportBody
}

const scope = 'data:read'

const createOptions = {
  schema: createExport,
  config: {
    scope,
    errors: ['disk_full', 'not_found', 'rate_limited', 'too_many_points', 'unsupported_query'],
  },
} as const

/** Readings into files, in the background. All of it is the owner's alone. */
export function exportRoutes(needs: ExportRoutesNeeds): FastifyPluginAsync {
  const { exportJobs, exportStore, callerOf } = needs
  return async (app) => {
    app.post<CreateExport>('/exports', createOptions, (request, reply) =>
      create(needs, request, reply),
    )

    app.get<ListExports>(
      '/exports',
      { schema: listExports, config: { scope } },
      async (request, reply) => {
        const page = cursorRequest(request.query)
        const limits = { after: page.after, limit: page.limit + 1 }
        const found = await exportStore.list(callerOf(request).userId, limits)
        const jobs = cursorPage(found, page, { request, reply })
        return jobs.map((job) => exportBody(exportJobs.asItIs(job)))
      },
    )

    app.get<OneExport>(
      '/exports/:exportId',
      { schema: getExport, config: { scope } },
      async (request) => {
        const job = await ownExport(needs, callerOf(request).userId, request.params.exportId)
        const files = await exportStore.files(job.id)
        return { ...exportBody(job), files: files.map(fileBody) }
      },
    )

    app.delete<OneExport>(
      '/exports/:exportId',
      { schema: deleteExport, config: { scope } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        const { exportId } = request.params
        const id = parseId<ExportId>(exportId)
        const isRemoved = id !== undefined && (await exportJobs.remove(userId, id))
        if (!isRemoved) throw unknownExport(exportId)
        return reply.code(204).send()
      },
    )

    await app.register(changeRoutes(needs))
  }
}

/** What becomes of a job, and what it has written. */
function changeRoutes(needs: ExportRoutesNeeds): FastifyPluginAsync {
  const { exportJobs, exportStore, posts, callerOf } = needs
  return async (app) => {
    // Whatever has ended already is answered as it is: either can be asked for again.
    app.post<OneExport>(
      '/exports/:exportId/cancel',
      { schema: cancelExport, config: { scope } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const { id } = await ownExport(needs, userId, request.params.exportId)
          await exportJobs.cancel(userId, id)
          const body = exportBody(await ownExport(needs, userId, id))
          return { statusCode: 200, body, changes: [] }
        })
      },
    )

    app.post<OneExport>(
      '/exports/:exportId/resume',
      { schema: resumeExport, config: { scope } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const { id } = await ownExport(needs, userId, request.params.exportId)
          await exportJobs.resume(userId, id)
          const body = exportBody(await ownExport(needs, userId, id))
          return { statusCode: 202, body, changes: [] }
        })
      },
    )

    app.get<OneFile>(
      '/exports/:exportId/files/:name',
      { schema: downloadFile, config: { scope, errors: ['range_not_satisfiable'] } },
      async (request, reply) => {
        const { exportId, name } = request.params
        const job = await ownExport(needs, callerOf(request).userId, exportId)
        const file = (await exportStore.files(job.id)).find((one) => one.name === name)
        const path = file && exportJobs.pathOf(job.id, file.name)
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
  const { userId } = needs.callerOf(request)
  return await posts.answer({ request, reply, userId }, async () => {
    const asked = { userId, nowUs: nowUs() }
    await exportJobs.assertSpace(userId)
    const wanted = await exportRequest(needs, asked, request.body)
    const { job, changes } = exportStore.plan(userId, wanted, asked.nowUs)
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

/** @throws DomainError `not_found` for what is unknown or somebody else's alike (D5) */
async function ownExport(
  { exportJobs }: ExportRoutesNeeds,
  userId: UserId,
  text: string,
): Promise<ExportJob> {
  const id = parseId<ExportId>(text)
  const job = id && (await exportJobs.find(userId, id))
  if (job) return job
  throw unknownExport(text)
}

function unknownExport(text: string): DomainError {
  return new DomainError('not_found', `no export ${text}`)
}
