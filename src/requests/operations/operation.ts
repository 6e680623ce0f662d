import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { AuthenticatedCaller, Interface } from '../../access/auth/authenticate.ts'
import type { CallerKind } from '../../access/auth/limited-key.ts'
import type { NeededScope } from '../../access/auth/scopes.ts'
import type { ErrorCode } from '../../core/error-catalogue.ts'
import type { Tag } from '../http/openapi/tags.ts'
import { keyHeaders, record, uuid } from '../http/schema.ts'
import type { Effect, Post, Posts } from '../idempotency/posts.ts'

/** One operation of the interface: what stands here is checked, answered and documented. */
export interface Operation<
  Path extends string,
  Query extends TSchema,
  Body extends TSchema,
  Answered extends Answers,
> {
  /** Unique; generated clients name their functions after it. */
  readonly operationId: string
  /** One line, in the imperative. */
  readonly summary: string
  readonly description?: string
  /** The permission, or permissions, that the caller's key must grant; `any`: good credentials are enough. */
  readonly scope: NeededScope
  /** Whom it is for: users, unless it says otherwise. */
  readonly callers?: readonly CallerKind[]
  /** The one interface that has it (decisions.md#two-interfaces-on-one-address). */
  readonly interface?: Interface
  /** Parameters of the path that are no ids. An id that is no uuid is unknown (404), not malformed. */
  readonly params?: Readonly<Partial<Record<ParamName<Path>, TSchema>>>
  readonly query?: Query
  readonly headers?: TSchema
  readonly body?: Body
  /** Answers by status; errors are named by their codes instead. */
  readonly answers: Answered
  /** Failures beyond those that follow from its shape (see `errorsOf`). */
  readonly errors?: readonly ErrorCode[]
  /** Largest body in bytes, where it is not that of the server. */
  readonly bodyLimit?: number
  /** Answers with 200, or 204 for null; with another status through the reply. */
  readonly handler?: (
    exchange: Exchange<Path, Query, Body>,
  ) => Promise<AnswerOf<Answered> | FastifyReply>
  /** Whether a key and its secret may also come as Basic authentication. */
  readonly takesBasic?: boolean
  /** Whether a GET of it may come with the cookie of the console alone: its answer is a file. */
  readonly takesCookieAlone?: boolean
  /** Whether it is about the session of the console that it comes with. */
  readonly needsSession?: boolean
  /** Whether its body may be compressed. */
  readonly takesCompressed?: boolean
  /** Instead of a handler: what a POST does, once for each Idempotency-Key. */
  readonly effect?: (exchange: Exchange<Path, Query, Body>) => Promise<EffectOf<Answered>>
  /** Whether the answer has a secret, which another key of the same user is not shown again. */
  readonly answersSecret?: boolean
  /** Checks what the schemas leave to it, before anything is done. */
  readonly check?: (request: FastifyRequest, caller: AuthenticatedCaller) => void
  /** Where the two interfaces mean different things: what an Idempotency-Key of the caller counts for. */
  readonly keyedAs?: (caller: AuthenticatedCaller) => string | undefined
}

export type Answers = Readonly<Record<number, TSchema>>

type AnswerOf<Answered extends Answers> = {
  [Status in keyof Answered & number]: Static<Answered[Status]>
}[keyof Answered & number]

interface EffectOf<Answered extends Answers> extends Effect {
  readonly body: AnswerOf<Answered> & object
}

/** A request, with what its caller has sent, and its reply. */
export interface Exchange<
  Path extends string = string,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> {
  readonly caller: AuthenticatedCaller
  readonly params: Readonly<Record<ParamName<Path>, string>>
  /** Values instead of texts; nothing is filled in for a parameter that did not come. */
  readonly query: CheckedRequest<Query, Body>['query']
  readonly body: CheckedRequest<Query, Body>['body']
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

type CheckedRequest<Query extends TSchema, Body extends TSchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  { querystring: Query; body: Body },
  TypeBoxTypeProvider
>

type ParamName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamName<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** What the operations of a domain share. */
export interface OperationsNeeds {
  readonly tags: readonly Tag[]
  readonly callerOf: (request: FastifyRequest) => AuthenticatedCaller
}

/** What operations with an effect need beside that. */
interface EffectsNeeds extends OperationsNeeds {
  readonly posts: Posts
}

/** Adds an operation of a domain by its method and path: `GET /vaults/:vaultId`. */
type Add<Limits> = <
  const Path extends `${'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT'} /${string}`,
  Query extends TSchema,
  Body extends TSchema,
  const Answered extends Answers,
>(
  path: Path,
  operation: Operation<Path, Query, Body, Answered> & Limits,
) => void

/** Adds operations of a domain, with effects or without. */
export type AddOperation = Add<unknown>

/** Adds operations of a domain that has nothing to commit an effect with. */
export type AddHandled = Add<{ readonly effect?: never }>

/** Adds operations to the service and to its description. */
export function operationsOf(app: FastifyInstance, needs: EffectsNeeds): AddOperation
export function operationsOf(app: FastifyInstance, needs: OperationsNeeds): AddHandled
export function operationsOf(
  app: FastifyInstance,
  { tags, callerOf, posts }: OperationsNeeds & Partial<EffectsNeeds>,
): AddOperation {
  return <
    Path extends string,
    Query extends TSchema,
    Body extends TSchema,
    Answered extends Answers,
  >(
    path: Path,
    operation: Operation<Path, Query, Body, Answered>,
  ) => {
    const { handler, effect, answersSecret, bodyLimit, check, keyedAs } = operation
    const [method = '', url = ''] = path.split(' ')
    const exchangeOf = (request: FastifyRequest, reply: FastifyReply) => {
      const { params, query, body } = request
      const caller = callerOf(request)
      return { caller, params, query, body, request, reply } as Exchange<Path, Query, Body>
    }
    app.route({
      method,
      url,
      schema: schemaOf(url, tags, operation),
      config: configOf(operation),
      ...(bodyLimit !== undefined && { bodyLimit }),
      ...(check && { preHandler: async (request) => check(request, callerOf(request)) }),
      handler: async (request, reply) => {
        const exchange = exchangeOf(request, reply)
        if (effect && posts) {
          const post = answersSecret === true ? secretPostOf(exchange) : postOf(exchange)
          const keyed = { ...post, keyedAs: keyedAs?.(exchange.caller) }
          return await posts.answer(keyed, () => effect(exchange))
        }
        const answer = await handler?.(exchange)
        return answer === null ? reply.code(204).send() : answer
      },
    })
  }
}

/** A POST that is done once under its Idempotency-Key, for a handler that has to look at something before. */
export function postOf({
  caller,
  request,
  reply,
}: Pick<Exchange, 'caller' | 'request' | 'reply'>): Post {
  return { request, reply, userId: caller.userId }
}

/**
 * A POST of that kind that shows a secret: to the key that asks only, and in no cache between us.
 */
export function secretPostOf(exchange: Pick<Exchange, 'caller' | 'request' | 'reply'>): Post {
  const { caller, reply } = exchange
  return {
    ...postOf(exchange),
    reply: reply.header('cache-control', 'no-store'),
    apiKeyId: caller.apiKeyId,
  }
}

type AnyOperation = Omit<Operation<string, TSchema, TSchema, Answers>, 'params'> & {
  readonly params?: Readonly<Partial<Record<string, TSchema>>>
}

function schemaOf(
  url: string,
  tags: readonly Tag[],
  { operationId, summary, description, query, body, answers, ...rest }: AnyOperation,
) {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const params = record(
    Object.fromEntries(names.map((name) => [name, rest.params?.[name] ?? uuid])),
  )
  const headers = rest.effect ? keyHeaders : rest.headers
  return {
    operationId,
    summary,
    tags,
    response: answers,
    ...(description !== undefined && { description }),
    ...(names.length > 0 && { params }),
    ...(query && { querystring: query }),
    ...(headers && { headers }),
    ...(body && { body }),
  }
}

function configOf(operation: AnyOperation) {
  const { scope, callers, interface: only, errors, takesBasic, takesCompressed } = operation
  const { takesCookieAlone, needsSession } = operation
  return {
    scope,
    ...(takesBasic === true && { takesBasic }),
    ...(takesCompressed === true && { takesCompressed }),
    ...(takesCookieAlone === true && { takesCookieAlone }),
    ...(needsSession === true && { needsSession }),
    ...(callers && { callers }),
    ...(only && { interface: only }),
    ...(errors && { errors }),
  }
}
