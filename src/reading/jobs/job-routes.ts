import type { FastifyPluginAsync, FastifyRequest, FastifySchema } from 'fastify'
import { grants, type Scope } from '../../access/auth/scopes.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import type { cursorQuery, QueryOf } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { BackgroundJobs } from './background-jobs.ts'
import type { Job } from './job.ts'
import type { JobStore } from './job-store.ts'

export interface JobRoutesNeeds<Stored extends Job> {
  readonly jobs: BackgroundJobs<Stored>
  readonly store: Pick<JobStore<never, Stored>, 'list'>
  /** For example `/exports`. */
  readonly path: string
  /** What stands for the id in paths, such as `exportId`. */
  readonly param: string
  /** What a message calls it. */
  readonly what: string
  /**
   * Who may look, who may change what their own key has asked for, and who may change what other keys of the same
   * user have.
   */
  readonly scopes: { readonly look: Scope; readonly change: Scope; readonly changeAny: Scope }
  readonly schemas: Readonly<Record<'list' | 'get' | 'cancel' | 'resume' | 'remove', FastifySchema>>
  readonly body: (job: Stored) => object
  /** What one that is asked for tells beyond what a list does. */
  readonly details?: (job: Stored) => Promise<object>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface OneJob {
  Params: Readonly<Record<string, string>>
}

interface ListJobs {
  Querystring: QueryOf<{ readonly properties: typeof cursorQuery }>
}

/** What can be done with jobs of any kind. All of it is their owner's alone. */
export function jobRoutes<Stored extends Job>(needs: JobRoutesNeeds<Stored>): FastifyPluginAsync {
  const { jobs, store, path, param, schemas, body, posts, callerOf } = needs
  const look = { scope: needs.scopes.look }
  const change = { scope: needs.scopes.change }
  const onePath = `${path}/:${param}`
  const jobToChange = async (request: FastifyRequest<OneJob>) => {
    const caller = callerOf(request)
    const job = await ownJob(needs, caller.userId, request.params[param])
    assertMayChange(needs, caller, job)
    return job
  }
  return async (app) => {
    app.get<ListJobs>(path, { schema: schemas.list, config: look }, async (request, reply) => {
      const page = cursorRequest(request.query)
      const limits = { after: page.after, limit: page.limit + 1 }
      const found = await store.list(callerOf(request).userId, limits)
      return cursorPage(found, page, { request, reply }).map((job) => body(jobs.asItIs(job)))
    })

    app.get<OneJob>(onePath, { schema: schemas.get, config: look }, async (request) => {
      const job = await ownJob(needs, callerOf(request).userId, request.params[param])
      return { ...body(job), ...(await needs.details?.(job)) }
    })

    app.delete<OneJob>(
      onePath,
      { schema: schemas.remove, config: change },
      async (request, reply) => {
        const { ownerId, id } = await jobToChange(request)
        await jobs.remove(ownerId, id)
        return reply.code(204).send()
      },
    )

    // Whatever has ended already is answered as it is: either can be asked for again.
    for (const name of ['cancel', 'resume'] as const) {
      app.post<OneJob>(
        `${onePath}/${name}`,
        { schema: schemas[name], config: change },
        async (request, reply) => {
          const { userId } = callerOf(request)
          return await posts.answer({ request, reply, userId }, async () => {
            const { id } = await jobToChange(request)
            await jobs[name](userId, id)
            const statusCode = name === 'cancel' ? 200 : 202
            return { statusCode, body: body(await ownJob(needs, userId, id)), changes: [] }
          })
        },
      )
    }
  }
}

/**
 * A key that may only read ends nothing that another key has asked for.
 *
 * @throws DomainError `insufficient_permissions`
 */
function assertMayChange(
  { what, scopes }: Pick<JobRoutesNeeds<never>, 'what' | 'scopes'>,
  { apiKeyId, scope }: ReturnType<CallerOf>,
  { createdBy }: Job,
): void {
  if (createdBy === apiKeyId || grants(scope, scopes.changeAny)) return
  const reason = `the key lacks the permission ${scopes.changeAny}: another key has asked for this ${what}`
  throw new DomainError('insufficient_permissions', reason)
}

/**
 * @throws DomainError `not_found` for what is unknown or somebody else's alike
 *   (decisions.md#what-is-unknown)
 */
export async function ownJob<Stored extends Job>(
  { jobs, what }: Pick<JobRoutesNeeds<Stored>, 'jobs' | 'what'>,
  userId: UserId,
  text = '',
): Promise<Stored> {
  const id = parseId<UserId>(text)
  const job = id && (await jobs.find(userId, id))
  if (job) return job
  throw new DomainError('not_found', `no ${what} ${text}`)
}
