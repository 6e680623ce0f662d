import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { rememberDigest } from '../../requests/http/json-body.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import type { BackgroundJobs } from '../jobs/background-jobs.ts'
import { jobRoutes } from '../jobs/job-routes.ts'
import { keptOfUserMax, openOfUserMax } from '../jobs/job-store.ts'
import { importBody, importReadings, importSchema } from './import-api.ts'
import { formatOfContentType, type ImportFormat, type ImportJob } from './import-job.ts'
import type { ImportStore } from './import-store.ts'
import type { Spool, SpooledFile } from './spool.ts'

export interface ImportRoutesNeeds {
  readonly streams: DataStreamStore
  readonly importJobs: BackgroundJobs<ImportJob>
  readonly importStore: ImportStore
  readonly spool: Spool
  readonly importBytesMax: number
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** Files of one user that are kept for imports which are not completed, if they are of the largest. */
const keptFilesMax = 4

interface OneStream {
  Params: { streamId: string }
}

const config = {
  scope: 'data:write',
  spoolsBody: true,
  errors: ['body_too_large', 'conflict', 'disk_full', 'stream_paused'],
} as const

/** Files into streams, in the background. */
export function importRoutes(needs: ImportRoutesNeeds): FastifyPluginAsync {
  const { importJobs: jobs, importStore: store, posts, callerOf } = needs
  return async (app) => {
    await app.register(uploadRoute(needs))
    await app.register(
      jobRoutes({
        jobs,
        store,
        path: '/imports',
        param: 'importId',
        what: 'import',
        scopes: { look: 'data:read', change: 'data:write', changeAny: 'data:write' },
        texts,
        shape: importSchema,
        body: importBody,
        detailed: { shape: importSchema, body: async (job: ImportJob) => importBody(job) },
        posts,
        callerOf,
      }),
    )
  }
}

const texts = {
  list: { operationId: 'listImports', summary: "List one's own imports." },
  get: {
    operationId: 'getImport',
    summary: 'See how far an import is, and which rows were refused.',
  },
  cancel: {
    operationId: 'cancelImport',
    summary: 'End an import before it has come to the end of its file.',
    description:
      'What is stored stays, and it can be resumed. One that has ended already is answered as it is.',
  },
  resume: {
    operationId: 'resumeImport',
    summary: 'Let an import that has failed or was cancelled go on.',
    description: 'Any other is answered as it is.',
  },
  remove: {
    operationId: 'deleteImport',
    summary: 'Remove an import with its file.',
    description: 'What is stored stays.',
  },
}

/** Its content types are brought to the disk: in a scope of its own, because others parse them. */
function uploadRoute(needs: ImportRoutesNeeds): FastifyPluginAsync {
  const { spool, importBytesMax, callerOf } = needs
  return async (app) => {
    app.removeAllContentTypeParsers()
    for (const type of Object.keys(formatOfContentType)) {
      app.addContentTypeParser(
        type,
        async (request: FastifyRequest, content: AsyncIterable<Buffer>) => {
          const { userId } = callerOf(request)
          // Before anything is kept: a file for a stream that takes none would come in vain.
          await openStream(needs, userId, (request.params as OneStream['Params']).streamId)
          await assertSpace(needs, userId)
          const file = await spool.keep(userId, content)
          rememberDigest(request, file.sha256)
          return file
        },
      )
    }
    const options = { schema: importReadings, config, bodyLimit: importBytesMax }
    app.post<OneStream>('/streams/:streamId/import', options, (request, reply) =>
      create(needs, request, reply),
    )
  }
}

async function create(
  needs: ImportRoutesNeeds,
  request: FastifyRequest<OneStream>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { importJobs, importStore, spool, posts, nowUs } = needs
  const { userId, apiKeyId } = needs.callerOf(request)
  const spooled = request.body as SpooledFile | undefined
  if (spooled === undefined) {
    await openStream(needs, userId, request.params.streamId)
    const types = Object.keys(formatOfContentType).join(', ')
    throw new DomainError('unsupported_media_type', `the body must be one of ${types}`)
  }
  let isTaken = false
  try {
    return await posts.answer({ request, reply, userId }, async () => {
      const { id: streamId } = await openStream(needs, userId, request.params.streamId)
      const file = { ...spooled, format: formatOf(request) }
      const { job, changes } = importStore.plan(
        { ownerId: userId, apiKeyId },
        { streamId, file },
        nowUs(),
      )
      return {
        statusCode: 202,
        body: importBody(job),
        changes,
        refusal: async () => {
          const limits = `${openOfUserMax} imports that wait or run, and ${keptOfUserMax} in all`
          const message = `one user can have ${limits}: delete some`
          return new DomainError('rate_limited', message, { retryAfter: 60 })
        },
        async afterwards() {
          isTaken = true
          importJobs.wake()
        },
      }
    })
  } finally {
    // Refused, or the repetition of a request whose file is here already.
    if (!isTaken) spool.drop(spooled.id)
  }
}

/** @throws DomainError `disk_full` for a user whose files take all the room that they may */
async function assertSpace(
  { importStore, importBytesMax }: ImportRoutesNeeds,
  userId: UserId,
): Promise<void> {
  const kept = await importStore.bytesOf(userId, ['completed'])
  if (kept < keptFilesMax * importBytesMax) return
  throw new DomainError('disk_full', `your imports have ${kept} bytes already: delete some`)
}

function formatOf({ headers }: FastifyRequest): ImportFormat {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const format = formatOfContentType[type]
  if (format === undefined) throw new Error(`a body of ${type} came through`)
  return format
}

/** @throws DomainError `not_found`, `conflict` for a stream of the service's own, `stream_paused` */
async function openStream(
  needs: ImportRoutesNeeds,
  userId: UserId,
  text: string,
): Promise<DataStream> {
  const stream = await ownStream(needs, userId, text)
  if (stream.type === 'service') {
    throw conflict(
      'only the service itself writes into this stream',
      'Name another stream: the type of this one is service, and GET /streams has the type of each.',
    )
  }
  if (stream.isPaused) throw new DomainError('stream_paused', 'the stream is paused')
  return stream
}
