import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { decoderOf } from '../../../processors/decode.ts'
import { withEventType } from '../../../processors/event-type.ts'
import { membersOf } from '../../../processors/mapped-reading.ts'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { type Json, Problems } from '../../contracts/definitions/problems.ts'
import type { Judge, RefusedReading, Verdict } from '../../contracts/reading.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { conflict } from '../../core/conflict.ts'
import { cutText } from '../../core/cut-text.ts'
import { DomainError, type ErrorDetail, messageOf } from '../../core/errors.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import { spellingHint } from '../../core/suggestions.ts'
import { record, uuid } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { ownStream } from './data-stream-routes.ts'
import type { DataStreamStore } from './data-stream-store.ts'
import { formatOf, parseSchema, schemaOf } from './definition.ts'
import { formatOptionsOf } from './payload-format.ts'
import { parseSource, unsupportedSource } from './source.ts'
import * as api from './source-api.ts'
import { isInbound } from './source-kinds.ts'
import { withoutSecrets } from './source-secrets.ts'
import { proposeStream } from './stream-proposal.ts'
import { Samples } from './stream-samples.ts'
import { isFetched, type SourceTrial, type StreamSources } from './stream-sources.ts'
import { type StreamType, streamTypes } from './stream-type.ts'
import { currentRules } from './time-rules.ts'

/** Characters of a message that are shown. */
const shownLength = 1_000

/** Readings that are judged one by one, and shown. */
const readingsShown = 20

/** How far ahead of the server a reading's clock may be (decisions.md#times-of-readings). */
const futureToleranceUs = 5 * 60 * 1_000_000

export interface SourceRoutesNeeds {
  readonly streams: DataStreamStore
  readonly sources: StreamSources
  readonly posts: Posts
  readonly judgeOf: (schema: StreamSchema) => Judge
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** Tries a source before there is a stream, and has one read from at once. */
export function sourceRoutes(needs: SourceRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })

    add('POST /sources/check', {
      operationId: 'checkSource',
      summary: 'Try a source before a stream is made of it.',
      description: [
        'Connects to where the source leads, fetches a sample and lets go again: nothing is kept, and the other side',
        'learns that nothing was. With a `schema` the readings of the sample are judged by it, without one a',
        'definition is proposed. That the other side cannot be reached, or refuses, is an answer too: see `reached`',
        'and `problem`.',
      ].join(' '),
      scope: 'streams:write',
      body: api.triedSourceSchema,
      answers: { 200: api.trialSchema },
      errors: ['destination_not_allowed', 'unsupported_definition'],
      effect: async ({ caller, body }) => ({
        statusCode: 200,
        body: await checked(needs, caller.userId, body),
        changes: [],
      }),
    })

    add('POST /streams/:streamId/source/run', {
      operationId: 'runSource',
      summary: 'Read from the source of a stream now.',
      description:
        'Begins the next round of a source with a schedule at once, and the next try of one that fails. Its state is in `GET /streams/{streamId}/status`.',
      scope: 'streams:write',
      answers: { 202: record({ streamId: uuid }) },
      errors: ['conflict'],
      effect: async ({ caller, params }) => {
        const streamId = await runNow(needs, caller.userId, params.streamId)
        return { statusCode: 202, body: { streamId }, changes: [] }
      },
    })
  }
}

/** @throws DomainError `not_found`, `conflict` */
async function runNow(
  { streams, sources }: SourceRoutesNeeds,
  userId: UserId,
  text: string,
): Promise<StreamId> {
  const { id, source, isPaused } = await ownStream({ streams }, userId, text)
  if (!isFetched(source))
    throw conflict(
      'the stream fetches no readings',
      'Name a stream whose source has an endpoint; docs/connectors.md lists what the service fetches from.',
    )
  if (isPaused)
    throw conflict(
      'the stream is paused',
      'Resume the stream first with POST /streams/{streamId}/resume.',
    )
  if (!sources.hurry(id))
    throw conflict(
      'the source is not running yet',
      'Wait until source of GET /streams/{streamId}/status has a state, then try again.',
    )
  return id
}

type TrialBody = Static<typeof api.trialSchema>

interface Tried {
  readonly type: StreamType
  readonly source: Json
  /** Undefined: it is to be proposed. */
  readonly schema: StreamSchema | undefined
}

async function checked(
  needs: SourceRoutesNeeds,
  userId: UserId,
  body: unknown,
): Promise<TrialBody> {
  const tried = parseTried(body)
  const { sources } = needs
  await sources.assertAllowed(tried.source)
  const trial = await sources.tried(tried.source, userId)
  return {
    reached: trial.isReached,
    ...(trial.problem !== undefined && { problem: trial.problem }),
    ...(trial.remedy !== undefined && { remedy: trial.remedy }),
    messages: trial.count,
    ...sampleBody(needs, tried, trial),
  }
}

/** @throws DomainError `invalid_request`, `unsupported_definition` */
function parseTried(body: unknown): Tried {
  const problems: ErrorDetail[] = []
  const value = isObject(body) ? body : {}
  new Problems('', problems).refuseUnknown(value, ['type', 'source', 'schema'])
  const type = streamTypes.find((known) => known === value['type'])
  if (type === undefined) {
    const message = `must be one of ${streamTypes.join(', ')}`
    problems.push({ path: 'type', message, hint: spellingHint(value['type'], streamTypes) })
  }
  const source = parseSource(value['source'], type, problems)
  if (!isFetched(source) && !isInbound(source)) {
    problems.push({
      path: 'source.endpoint',
      message: 'is required: without it nothing is fetched',
    })
  }
  const isKnown = value['schema'] !== undefined || source['eventTypes'] !== undefined
  const fields = isKnown ? parseSchema(value, { type, source }, problems) : undefined
  if (problems.length > 0 || type === undefined) {
    throw new DomainError('invalid_request', 'the source is not valid', { details: problems })
  }
  const details = isInbound(source) ? [nothingToTry] : unsupportedSource(type, source)
  if (details.length > 0) {
    throw new DomainError(
      'unsupported_definition',
      'this version cannot fetch from such a source',
      {
        details,
      },
    )
  }
  return { type, source, schema: fields && schemaOf({ ...bare, source, schema: fields }) }
}

/** All of a definition that a source is tried without. */
const bare = { schema: {}, processing: {}, rules: currentRules }

const nothingToTry: ErrorDetail = {
  path: 'source.protocol',
  message: 'nothing can be tried: the sender of a webhook begins',
}

/** The messages as they came, what the stream would say of them, and what it could be defined as. */
function sampleBody(
  { judgeOf, nowUs }: SourceRoutesNeeds,
  { type, source, schema }: Tried,
  trial: SourceTrial,
): Omit<TrialBody, 'messages' | 'problem' | 'reached' | 'remedy'> {
  const taken = readingsOf(source, schema, trial)
  const samples = trial.messages.map(({ payload, source: origin }) => ({
    source: origin,
    payload: cutText(Buffer.from(payload).toString('utf8', 0, shownLength * 4), shownLength),
    bytes: payload.byteLength,
  }))
  const nowAt = nowUs()
  const { unreadable, refused } = taken
  const unread = [...refused].map(([index, { message }]) => [index, message] as const)
  const all = new Samples(taken.readings.map(membersOf), {
    unreadable: new Map([...unreadable, ...unread]),
  })
  if (schema) {
    const judge = judgeOf(schema)
    const verdicts = taken.readings.slice(0, readingsShown).map((reading, index) => {
      const problem = taken.unreadable.get(index)
      if (problem !== undefined) return refusedBody('malformed', problem)
      const refusal = taken.refused.get(index)
      if (refusal !== undefined) return verdictBody(refusal)
      return verdictBody(judge(reading, { receivedAtUs: nowAt, futureToleranceUs }))
    })
    return { samples, problems: taken.problems, readings: verdicts }
  }
  return {
    samples,
    problems: taken.problems,
    ...proposalOf(all, { type, source }, { judgeOf, nowAt }),
  }
}

function proposalOf(
  samples: Samples,
  { type, source }: Pick<Tried, 'type' | 'source'>,
  { judgeOf, nowAt }: { readonly judgeOf: SourceRoutesNeeds['judgeOf']; readonly nowAt: number },
): Pick<TrialBody, 'misfits' | 'notes' | 'proposal'> {
  if (samples.count === 0) return {}
  try {
    const { proposal, notes, misfits } = proposeStream(samples, {
      judgeOf,
      nowUs: nowAt,
      given: { type, source },
    })
    const shown = { ...proposal.source, ...withoutSecrets(source) }
    return { proposal: { type, source: shown, schema: proposal.schema }, notes, misfits }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { notes: [{ path: '', message: messageOf(error) }, ...(error.details ?? [])] }
  }
}

interface TakenApart {
  readonly readings: unknown[]
  readonly unreadable: Map<number, string>
  /** What the mapping of the source has found to be no reading. */
  readonly refused: Map<number, RefusedReading>
  /** What is wrong with messages that could not be taken apart, by their place. */
  readonly problems: { readonly index: number; readonly message: string }[]
}

function readingsOf(
  source: Json,
  schema: StreamSchema | undefined,
  { messages }: SourceTrial,
): TakenApart {
  const taken: TakenApart = {
    readings: [],
    unreadable: new Map(),
    refused: new Map(),
    problems: [],
  }
  const known = schema ?? schemaOf({ ...bare, source })
  const format = formatOf({ ...bare, source })
  const decode = decoderOf(format, { schema: known, formatOptions: formatOptionsOf(source) })
  const map = mapperOf(known)
  for (const [index, fetched] of messages.entries()) {
    const { payload, eventType, problem } = fetched
    const decoded = decode(withEventType(payload, eventType, { schema: known, format, decode }))
    if (problem !== undefined) taken.problems.push({ index, message: problem })
    else if (!decoded.ok) taken.problems.push({ index, message: decoded.problem })
    else {
      const first = taken.readings.length
      const found = map?.(decoded, fetched) ?? decoded
      for (const [at, message] of found.unreadable ?? []) taken.unreadable.set(first + at, message)
      for (const [at, refusal] of found.refused ?? []) taken.refused.set(first + at, refusal)
      for (const reading of found.readings) taken.readings.push(reading)
    }
  }
  return taken
}

type VerdictBody = NonNullable<TrialBody['readings']>[number]

function verdictBody(verdict: Verdict): VerdictBody {
  if (verdict.accepted) return { status: 'accepted' }
  const { reason, message, details } = verdict
  return { ...refusedBody(reason, message), details }
}

function refusedBody(reason: string, message: string) {
  return { status: 'refused', reason, message, remedy: refusalRemedy(reason) } as const
}
