import type { FastifyPluginAsync } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { grants, type Scope } from '../../access/auth/scopes.ts'
import { lackingPermission } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, cursorQuery, noContent, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { BackgroundJobs } from './background-jobs.ts'
import type { Job } from './job.ts'
import type { JobStore } from './job-store.ts'

export interface JobRoutesNeeds<
  Stored extends Job,
  Shape extends TSchema,
  Detailed extends TSchema,
> {
  readonly jobs: BackgroundJobs<Stored>
  readonly store: Pick<JobStore<never, Stored>, 'list'>
  readonly path: '/exports' | '/imports'
  /** What stands for the id in paths. */
  readonly param: 'exportId' | 'importId'
  /** What a message calls it. */
  readonly what: 'export' | 'import'
  /**
   * Who may look, who may change what their own key has asked for, and who may change what other keys of the same
   * user have.
   */
  readonly scopes: { readonly look: Scope; readonly change: Scope; readonly changeAny: Scope }
  readonly texts: Readonly<Record<'list' | 'get' | 'cancel' | 'resume' | 'remove', JobTexts>>
  readonly shape: Shape
  readonly body: (job: Stored) => Static<Shape> & object
  /** What one that is asked for is shown as: a list tells no more than its body. */
  readonly detailed: {
    readonly shape: Detailed
    readonly body: (job: Stored) => Promise<Static<Detailed>>
  }
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** How an operation is described. */
interface JobTexts {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
}

type AnyJobRoutesNeeds<Stored extends Job> = JobRoutesNeeds<Stored, TSchema, TSchema>

/** What can be done with jobs of any kind. All of it is their owner's alone. */
export function jobRoutes<Stored extends Job, Shape extends TSchema, Detailed extends TSchema>(
  needs: JobRoutesNeeds<Stored, Shape, Detailed>,
): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Exports and imports'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

function addReading<Stored extends Job, Shape extends TSchema, Detailed extends TSchema>(
  add: AddOperation,
  needs: JobRoutesNeeds<Stored, Shape, Detailed>,
): void {
  const { jobs, store, path, param, texts, shape, body, detailed } = needs
  const scope = needs.scopes.look

  add(`GET ${path}`, {
    ...texts.list,
    scope,
    query: query(cursorQuery),
    answers: { 200: cursorListOf(shape) },
    handler: async (exchange) => {
      const page = cursorRequest(exchange.query)
      const limits = { after: page.after, limit: page.limit + 1 }
      const found = await store.list(exchange.caller.userId, limits)
      return cursorPage(found, page, exchange).map((job) => body(jobs.asItIs(job)))
    },
  })

  add(`GET ${path}/:${param}`, {
    ...texts.get,
    scope,
    answers: { 200: detailed.shape },
    handler: async ({ caller, params }) =>
      await detailed.body(await ownJob(needs, caller.userId, params[param])),
  })
}

function addChanging<Stored extends Job, Shape extends TSchema, Detailed extends TSchema>(
  add: AddOperation,
  needs: JobRoutesNeeds<Stored, Shape, Detailed>,
): void {
  const { jobs, path, param, texts, shape, body } = needs
  const scope = needs.scopes.change
  const jobToChange = async (caller: ReturnType<CallerOf>, id: string) => {
    const job = await ownJob(needs, caller.userId, id)
    assertMayChange(needs, caller, job)
    return job
  }

  add(`DELETE ${path}/:${param}`, {
    ...texts.remove,
    scope,
    answers: { 204: noContent },
    handler: async ({ caller, params }) => {
      const { ownerId, id } = await jobToChange(caller, params[param])
      await jobs.remove(ownerId, id)
      return null
    },
  })

  // Jobs that have ended already are answered as they are: either can be asked for again.
  for (const [name, statusCode] of [
    ['cancel', 200],
    ['resume', 202],
  ] as const) {
    add(`POST ${path}/:${param}/${name}`, {
      ...texts[name],
      scope,
      answers: { [statusCode]: shape },
      effect: async ({ caller, params }) => {
        const { userId } = caller
        const { id } = await jobToChange(caller, params[param])
        await jobs[name](userId, id)
        return { statusCode, body: body(await ownJob(needs, userId, id)), changes: [] }
      },
    })
  }
}

/**
 * A key that may only read ends nothing that another key has asked for.
 *
 * @throws DomainError `insufficient_permissions`
 */
function assertMayChange(
  { what, scopes }: Pick<AnyJobRoutesNeeds<never>, 'what' | 'scopes'>,
  { apiKeyId, scope }: ReturnType<CallerOf>,
  { createdBy }: Job,
): void {
  if (createdBy === apiKeyId || grants(scope, scopes.changeAny)) return
  throw lackingPermission(scopes.changeAny, `: another key has asked for this ${what}`)
}

/**
 * @throws DomainError `not_found` for what is unknown or somebody else's alike
 *   (decisions.md#what-is-unknown)
 */
export async function ownJob<Stored extends Job>(
  { jobs, what }: Pick<AnyJobRoutesNeeds<Stored>, 'jobs' | 'what'>,
  userId: UserId,
  text = '',
): Promise<Stored> {
  const id = parseId<UserId>(text)
  const job = id && (await jobs.find(userId, id))
  if (job) return job
  throw notFound(what, text)
}
