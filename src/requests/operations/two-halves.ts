import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { AuthenticatedCaller, Interface } from '../../access/auth/authenticate.ts'
import type { ErrorCode } from '../../core/error-catalogue.ts'
import { DomainError } from '../../core/errors.ts'
import { invalidPart, unknownMember } from '../http/error-handler.ts'
import * as s from '../http/schema.ts'
import { undeclaredIn } from '../http/undeclared.ts'
import { partChecks } from '../http/validation.ts'
import type { Effect, Posts } from '../idempotency/posts.ts'
import {
  type Answers,
  type Exchange,
  type Operation,
  type OperationsNeeds,
  operationsOf,
} from './operation.ts'

/** What an operation of both interfaces does in one of them. Ids and permission are those of the other one, too. */
export type Half<
  Path extends string,
  Query extends TSchema,
  Body extends TSchema,
  Answered extends Answers,
> = Pick<
  Operation<Path, Query, Body, Answered>,
  'query' | 'body' | 'answers' | 'errors' | 'handler' | 'effect'
> & { readonly description: string }

/** A half, whatever it takes and answers. */
export interface AnyHalf<Path extends string> {
  readonly description: string
  readonly query?: TSchema
  readonly body?: TSchema
  readonly answers: Answers
  readonly errors?: readonly ErrorCode[]
  handler?(exchange: Exchange<Path>): Promise<unknown>
  effect?(exchange: Exchange<Path>): Promise<Effect>
}

/** An operation that both interfaces have, each with a meaning of its own (decisions.md#two-interfaces-on-one-address). */
export interface TwoHalves<Path extends string>
  extends Pick<
    Operation<Path, TSchema, TSchema, Answers>,
    'operationId' | 'summary' | 'scope' | 'headers'
  > {
  readonly bearer: AnyHalf<Path>
  readonly key: AnyHalf<Path>
}

export type AddTwoHalves = <const Path extends `${'DELETE' | 'GET' | 'POST' | 'PUT'} /${string}`>(
  path: Path,
  operation: TwoHalves<Path>,
) => void

/** A half as a value, for whoever adds the operation. */
export function halfOf<const Path extends string>() {
  return <Query extends TSchema, Body extends TSchema, const Answered extends Answers>(
    half: Half<Path, Query, Body, Answered>,
  ): AnyHalf<Path> => half
}

/** Adds operations of both interfaces: one route each, and one operation in the description. */
export function twoHalvesOf(
  app: FastifyInstance,
  needs: OperationsNeeds & { readonly posts: Posts },
): AddTwoHalves {
  const add = operationsOf(app, needs)
  return (path, { bearer, key, ...shared }) => {
    const halves = { bearer, 'header-key': key } as const
    const checks = {
      bearer: checkOf(bearer, { half: key, remedy: withKey }),
      'header-key': checkOf(key, { half: bearer, remedy: withToken }),
    }
    add(path, {
      ...shared,
      ...described(bearer, key),
      check: (request, caller) => checks[caller.interface](request),
      keyedAs,
      ...(path.startsWith('POST ')
        ? { effect: (exchange) => effectOf(halves[exchange.caller.interface], exchange) }
        : { handler: (exchange) => answerOf(halves[exchange.caller.interface], exchange) }),
    })
  }
}

async function effectOf<Path extends string>(half: AnyHalf<Path>, exchange: Exchange<Path>) {
  if (!half.effect) throw new Error('a POST of two halves has an effect in both')
  return await half.effect(exchange)
}

async function answerOf<Path extends string>(half: AnyHalf<Path>, exchange: Exchange<Path>) {
  if (!half.handler) throw new Error('an operation of two halves has a handler in both')
  return await half.handler(exchange)
}

/** What a bearer token was answered under an Idempotency-Key is none of the answers that a key gets. */
function keyedAs(caller: AuthenticatedCaller): Interface | undefined {
  return caller.interface === 'bearer' ? undefined : caller.interface
}

const checks = partChecks()

/** The half that the credentials of a request are not for, and how to get there. */
interface OtherHalf {
  readonly half: AnyHalf<string>
  readonly remedy: string
}

const withToken =
  'These parameters go with a token: send Authorization: Bearer with one from POST /auth/token, in place of x-api-key and x-api-secret.'

const withKey =
  'These parameters go with a key: send x-api-key with x-api-secret, in place of Authorization: Bearer.'

/** Checks a request by the half that its caller speaks, in the words of any other operation. */
function checkOf({ query, body }: AnyHalf<string>, other: OtherHalf) {
  const declared = { hasQuery: query !== undefined, hasBody: body !== undefined }
  const queryCheck = query && checks.queryCheck(query as s.JsonSchema)
  const bodyCheck = body && checks.bodyCheck(body as s.JsonSchema)
  return (request: FastifyRequest): void => {
    const undeclared = undeclaredIn(request, declared)
    if (undeclared) throw undeclared
    if (queryCheck) {
      const result = queryCheck(request.query as Readonly<Record<string, unknown>>)
      if ('error' in result) {
        throw ofOther(invalidPart(result.error, 'querystring'), other.half.query, other.remedy)
      }
      request.query = result.value
    }
    // Where nothing came, the schema says what is missing.
    if (bodyCheck?.(request.body ?? null) === false)
      throw ofOther(invalidPart(bodyCheck.errors ?? [], 'body'), other.half.body, other.remedy)
  }
}

/** Names members that only the other half has: then the credentials are the mistake. */
function ofOther(error: DomainError, shape: TSchema | undefined, remedy: string): DomainError {
  const { properties = {} } = (shape ?? {}) as { readonly properties?: Parameters }
  const { code, message, details = [] } = error
  const unknown = details.filter((detail) => detail.message === unknownMember)
  const isOther = unknown.length > 0 && unknown.every(({ path }) => Object.hasOwn(properties, path))
  return isOther ? new DomainError(code, message, { details, remedy }) : error
}

/** What the description says of both halves together. */
function described(bearer: AnyHalf<string>, key: AnyHalf<string>) {
  const query = mergedQuery(bearer.query, key.query)
  const body = mergedBody(bearer.body, key.body)
  return {
    description: [
      `**${s.bearerTitle}:** ${bearer.description}`,
      `**${s.keyTitle}:** ${key.description}`,
    ].join('\n\n'),
    ...(query && { query }),
    ...(body && { body }),
    answers: mergedAnswers(bearer.answers, key.answers),
    errors: [...(bearer.errors ?? []), ...(key.errors ?? [])],
  }
}

/** All parameters, each with the credentials that it goes with. */
function mergedQuery(bearer: TSchema | undefined, key: TSchema | undefined): TSchema | undefined {
  if (bearer === undefined && key === undefined) return undefined
  const parts = [
    [s.bearerTitle, bearer],
    [s.keyTitle, key],
  ] as const
  const properties = parts.flatMap(([title, query]) => {
    const { properties: own = {} } = (query ?? {}) as { readonly properties?: Parameters }
    return Object.entries(own).map(([name, { description = '', ...rest }]) => [
      name,
      { ...rest, description: `${title}. ${description}`.trim() },
    ])
  })
  return s.describedOnly({
    type: 'object',
    properties: Object.fromEntries(properties) as Parameters,
  })
}

type Parameters = Readonly<Record<string, s.JsonSchema & { readonly description?: string }>>

function mergedBody(bearer: TSchema | undefined, key: TSchema | undefined): TSchema | undefined {
  if (bearer === undefined || key === undefined) {
    const only = bearer ?? key
    return only && s.describedOnly(only)
  }
  // Either, and not exactly one: a change that changes nothing fits both.
  return s.describedOnly({ anyOf: [s.titled(s.bearerTitle, bearer), s.titled(s.keyTitle, key)] })
}

function mergedAnswers(bearer: Answers, key: Answers): Answers {
  const statuses = [...new Set([...Object.keys(bearer), ...Object.keys(key)])].map(Number)
  return Object.fromEntries(
    statuses.map((status) => [status, mergedAnswer(bearer[status], key[status])]),
  )
}

function mergedAnswer(bearer: TSchema | undefined, key: TSchema | undefined): TSchema {
  if (bearer === undefined || key === undefined || bearer === key) return bearer ?? key ?? s.nothing
  const [one, other] = [answerOfHalf(bearer), answerOfHalf(key)]
  return s.answer(
    s.eitherOf(s.titled(s.bearerTitle, one.schema), s.titled(s.keyTitle, other.schema)),
    { description: 'By credential.', headers: { ...one.headers, ...other.headers } },
  )
}

interface ShownAnswer {
  readonly headers?: s.JsonSchema
  readonly content?: { readonly 'application/json': { readonly schema: TSchema } }
}

function answerOfHalf(answer: TSchema) {
  const { headers = {}, content } = answer as ShownAnswer
  return { headers, schema: content?.['application/json'].schema ?? answer }
}
