import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { settledRange } from '../../requests/http/asked-range.ts'
import { integerParameter } from '../../requests/http/pagination.ts'
import { cursorLimitDefault, keyHeaders, noContent } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
  postOf,
} from '../../requests/operations/operation.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { draftOf } from '../../streams/data-streams/stream-draft.ts'
import type { Units } from '../../streams/units/units.ts'
import * as api from './quarantine-api.ts'
import { bodyFilter, parseEntryId, queryFilter } from './quarantine-filter.ts'
import { everything, type HeldReading, type QuarantineStore } from './quarantine-store.ts'
import type { Reviews } from './reviews.ts'
import type { Trials } from './trials.ts'

/** Payload of one page. */
export const pageBytesMax = 4 * 1024 * 1024

export interface QuarantineRoutesNeeds {
  readonly streams: DataStreamStore
  readonly quarantine: QuarantineStore
  readonly reviews: Reviews
  readonly trials: Trials
  readonly units: Units
  readonly posts: Posts
  readonly processing: {
    /** Waits, within bounds, until what is acknowledged by now is decided. */
    caughtUp(): Promise<boolean>
  }
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

const reading = { scope: 'data:read' } as const
const reviewing = {
  scope: 'data:write',
  errors: ['conflict', 'journal_full', 'journal_unavailable', 'overloaded'],
} as const

/**
 * Refused readings of a stream: what they are, another judgement, and their end
 * (decisions.md#quarantine).
 */
export function quarantineRoutes(needs: QuarantineRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.addHook('preClose', async () => needs.reviews.stop())
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    addReading(add, needs)
    addReviewing(add, needs)
    addTrial(add, needs)
  }
}

function addReading(add: AddOperation, needs: QuarantineRoutesNeeds): void {
  add('GET /streams/:streamId/quarantine', {
    ...reading,
    operationId: 'listQuarantine',
    summary: 'List the refused readings of a data stream, oldest first.',
    description:
      'A page ends at `limit` entries or 4 MiB of payload, whichever comes first; `nextCursor` leads on.',
    query: api.listQuery,
    answers: { 200: api.listSchema },
    handler: async ({ caller, params, query }) => {
      const stream = await ownStream(needs, caller.userId, params.streamId)
      return await list(needs, stream, query)
    },
  })

  add('GET /streams/:streamId/quarantine/summary', {
    ...reading,
    operationId: 'summarizeQuarantine',
    summary: 'Count the refused readings of a data stream by reason.',
    answers: { 200: api.summarySchema },
    handler: async ({ caller, params }) => {
      const stream = await ownStream(needs, caller.userId, params.streamId)
      await needs.processing.caughtUp()
      const reasons = await needs.quarantine.byReason(stream.id)
      const entries = reasons.reduce((sum, one) => sum + one.entries, 0)
      return { streamId: stream.id, entries, reasons }
    },
  })

  add('GET /streams/:streamId/quarantine/:entryId', {
    ...reading,
    operationId: 'readQuarantineEntry',
    summary: 'Read one refused reading.',
    params: { entryId: api.entryId },
    answers: { 200: api.entrySchema },
    handler: async ({ caller, params }) => {
      const { held } = await knownEntry(needs, caller.userId, params)
      return api.entryBody(held)
    },
  })
}

function addReviewing(add: AddOperation, needs: QuarantineRoutesNeeds): void {
  const { reviews } = needs

  add('POST /streams/:streamId/quarantine/redrive', {
    ...reviewing,
    operationId: 'redriveQuarantine',
    summary: 'Judge refused readings again, by the newest definition of the stream.',
    description: [
      'What fits now is stored, with the time at which it was received, and leaves the quarantine. What',
      'does not stays, and says why it does not fit the newest definition. Without a body all entries',
      'are judged. Asked for again after a failure it goes on with what is left.',
    ].join(' '),
    headers: keyHeaders,
    body: api.chosenSchema,
    answers: { 200: api.redrivenSchema },
    errors: [...reviewing.errors, 'stream_paused'],
    handler: (exchange) => redrive(needs, exchange),
  })

  add('DELETE /streams/:streamId/quarantine', {
    ...reviewing,
    operationId: 'clearQuarantine',
    summary: 'Delete refused readings of a data stream.',
    description: 'All of them, or those that the parameters choose. They are counted as discarded.',
    query: api.clearQuery,
    answers: { 204: api.clearedAnswer },
    handler: async ({ caller, params, query, reply }) => {
      const stream = await ownStream(needs, caller.userId, params.streamId)
      const deleted = await reviews.remove(stream.id, queryFilter(query, needs.nowUs()))
      void reply.header('x-deleted-count', deleted)
      return null
    },
  })

  add('DELETE /streams/:streamId/quarantine/:entryId', {
    ...reviewing,
    operationId: 'deleteQuarantineEntry',
    summary: 'Delete one refused reading. It is counted as discarded.',
    params: { entryId: api.entryId },
    answers: { 204: noContent },
    handler: async ({ caller, params }) => {
      const { stream, held } = await knownEntry(needs, caller.userId, params)
      const deleted = await reviews.remove(stream.id, { ...everything, ids: [held.id] })
      if (deleted === 0) throw noEntry(params.entryId)
      return null
    },
  })
}

function addTrial(add: AddOperation, needs: QuarantineRoutesNeeds): void {
  add('POST /streams/:streamId/quarantine/trial', {
    ...reading,
    operationId: 'tryQuarantine',
    summary: 'See what a redrive would do, by the definition as it is or by a change of it.',
    description:
      'Nothing is stored, and every entry stays. Choose entries as for a redrive; without a body all are judged.',
    body: api.triedSchema,
    answers: { 200: api.trialSchema },
    errors: ['invalid_request', 'overloaded', 'unsupported_definition'],
    effect: async ({ caller, params, body }) => {
      const stream = await ownStream(needs, caller.userId, params.streamId)
      const draft = await draftOf(needs.units, stream, body?.definition)
      await needs.processing.caughtUp()
      const result = await needs.trials.run(draft, bodyFilter(body, needs.nowUs()))
      return { statusCode: 200, body: { streamId: stream.id, ...result }, changes: [] }
    },
  })
}

async function list(
  { processing, quarantine, nowUs }: QuarantineRoutesNeeds,
  stream: DataStream,
  query: Static<typeof api.listQuery>,
): Promise<Static<typeof api.listSchema>> {
  const range = settledRange(query, nowUs())
  const filter = queryFilter({ ...query, ...range }, nowUs())
  const after = integerParameter({ cursor: range.cursor }, 'cursor', {
    fallback: -1,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  })
  await processing.caughtUp()
  const limits = { entries: query.limit ?? cursorLimitDefault, payloadBytes: pageBytesMax }
  const { entries, hasMore } = await quarantine.page(stream.id, filter, { after, limits })
  const nextCursor = hasMore ? String(entries.at(-1)?.id) : null
  return {
    streamId: stream.id,
    entries: entries.map(api.entryBody),
    nextCursor: range.nextCursor(nextCursor),
  }
}

/** A redrive that was cut off goes on when it is asked for again: only its answer has to be kept. */
async function redrive(
  needs: QuarantineRoutesNeeds,
  exchange: Exchange<'/:streamId', TSchema, typeof api.chosenSchema>,
): Promise<FastifyReply> {
  const { caller, params, body: chosen } = exchange
  const stream = await ownStream(needs, caller.userId, params.streamId)
  return await needs.posts.answer(postOf(exchange), async () => {
    const result = await needs.reviews.redrive(stream.id, bodyFilter(chosen, needs.nowUs()))
    const body: Static<typeof api.redrivenSchema> = { streamId: stream.id, ...result }
    return { statusCode: 200, body, changes: [] }
  })
}

async function knownEntry(
  needs: QuarantineRoutesNeeds,
  userId: UserId,
  { streamId, entryId }: { readonly streamId: string; readonly entryId: string },
): Promise<{ readonly stream: DataStream; readonly held: HeldReading }> {
  const stream = await ownStream(needs, userId, streamId)
  await needs.processing.caughtUp()
  const id = parseEntryId(entryId)
  const held = id === undefined ? undefined : await needs.quarantine.find(stream.id, id)
  if (!held) throw noEntry(entryId)
  return { stream, held }
}

function noEntry(id: string): DomainError {
  return notFound('quarantine entry', id)
}
