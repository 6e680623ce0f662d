import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import { integerParameter } from '../../requests/http/pagination.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { bodyFilter, type FilterBody, parseEntryId, queryFilter } from './quarantine-requests.ts'
import {
  clearQuarantine,
  deleteQuarantineEntry,
  listQuarantine,
  readQuarantineEntry,
  redriveQuarantine,
  summarizeQuarantine,
} from './quarantine-schemas.ts'
import {
  everything,
  type HeldReading,
  payloadText,
  type QuarantineStore,
} from './quarantine-store.ts'
import type { Reviews } from './reviews.ts'

/** Payload of one page. */
const pageBytesMax = 4 * 1024 * 1024

export interface QuarantineRoutesNeeds {
  readonly streams: DataStreamStore
  readonly quarantine: QuarantineStore
  readonly reviews: Reviews
  readonly posts: Posts
  readonly processing: {
    /** Waits, within bounds, until what is acknowledged by now is decided. */
    caughtUp(): Promise<boolean>
  }
  readonly callerOf: CallerOf
}

interface OfStream {
  Params: { streamId: string }
  Querystring: Readonly<Record<string, unknown>>
  Body: FilterBody | null | undefined
}

interface OfEntry {
  Params: { streamId: string; entryId: string }
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
  const { reviews } = needs
  return async (app) => {
    app.addHook('preClose', async () => reviews.stop())

    app.get<OfStream>(
      '/streams/:streamId/quarantine',
      { schema: listQuarantine, config: reading },
      (request) => list(needs, request),
    )
    app.get<OfStream>(
      '/streams/:streamId/quarantine/summary',
      { schema: summarizeQuarantine, config: reading },
      (request) => summary(needs, request),
    )
    app.get<OfEntry>(
      '/streams/:streamId/quarantine/:entryId',
      { schema: readQuarantineEntry, config: reading },
      async (request) => {
        const { held } = await knownEntry(needs, request)
        return entryBody(held)
      },
    )
    app.post<OfStream>(
      '/streams/:streamId/quarantine/redrive',
      {
        schema: redriveQuarantine,
        config: { ...reviewing, errors: [...reviewing.errors, 'stream_paused'] },
      },
      (request, reply) => redrive(needs, request, reply),
    )
    app.delete<OfStream>(
      '/streams/:streamId/quarantine',
      { schema: clearQuarantine, config: reviewing },
      async (request, reply) => {
        const stream = await streamOf(needs, request)
        const deleted = await reviews.remove(stream.id, queryFilter(request.query, ['ids']))
        return reply.code(204).header('x-deleted-count', deleted).send()
      },
    )
    app.delete<OfEntry>(
      '/streams/:streamId/quarantine/:entryId',
      { schema: deleteQuarantineEntry, config: reviewing },
      async (request, reply) => {
        const { stream, held } = await knownEntry(needs, request)
        const deleted = await reviews.remove(stream.id, { ...everything, ids: [held.id] })
        if (deleted === 0) throw noEntry(request.params.entryId)
        return reply.code(204).send()
      },
    )
  }
}

async function list(
  needs: QuarantineRoutesNeeds,
  request: FastifyRequest<OfStream>,
): Promise<object> {
  const stream = await streamOf(needs, request)
  const filter = queryFilter(request.query, ['limit', 'cursor'])
  const entriesMax = integerParameter(request.query, 'limit', { fallback: 100, min: 1, max: 1_000 })
  const after = integerParameter(request.query, 'cursor', {
    fallback: -1,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  })
  await needs.processing.caughtUp()
  const limits = { entries: entriesMax, payloadBytes: pageBytesMax }
  const { entries, hasMore } = await needs.quarantine.page(stream.id, filter, { after, limits })
  const nextCursor = hasMore ? String(entries.at(-1)?.id) : null
  return { streamId: stream.id, entries: entries.map(entryBody), nextCursor }
}

async function summary(
  needs: QuarantineRoutesNeeds,
  request: FastifyRequest<OfStream>,
): Promise<object> {
  const stream = await streamOf(needs, request)
  await needs.processing.caughtUp()
  const reasons = await needs.quarantine.byReason(stream.id)
  const entries = reasons.reduce((sum, one) => sum + one.entries, 0)
  return { streamId: stream.id, entries, reasons }
}

/** A redrive that was cut off goes on when it is asked for again: only its answer has to be kept. */
async function redrive(
  needs: QuarantineRoutesNeeds,
  request: FastifyRequest<OfStream>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { userId } = needs.callerOf(request)
  const stream = await streamOf(needs, request)
  return await needs.posts.answer({ request, reply, userId }, async () => {
    const result = await needs.reviews.redrive(stream.id, bodyFilter(request.body))
    return { statusCode: 200, body: { streamId: stream.id, ...result }, changes: [] }
  })
}

async function streamOf(
  needs: QuarantineRoutesNeeds,
  request: FastifyRequest<{ Params: { streamId: string } }>,
): Promise<DataStream> {
  return await ownStream(needs, needs.callerOf(request).userId, request.params.streamId)
}

async function knownEntry(
  needs: QuarantineRoutesNeeds,
  request: FastifyRequest<OfEntry>,
): Promise<{ readonly stream: DataStream; readonly held: HeldReading }> {
  const stream = await streamOf(needs, request)
  await needs.processing.caughtUp()
  const id = parseEntryId(request.params.entryId)
  const held = id === undefined ? undefined : await needs.quarantine.find(stream.id, id)
  if (!held) throw noEntry(request.params.entryId)
  return { stream, held }
}

function noEntry(id: string): DomainError {
  return new DomainError('not_found', `no entry ${id} in the quarantine`)
}

function entryBody(held: HeldReading): object {
  const { id, reason, message, details, timestampUs, receivedAtUs, source } = held
  return {
    id,
    reason,
    message,
    details,
    ...payloadText(held),
    timestamp: timestampUs === undefined ? null : formatUs(timestampUs),
    receivedAt: formatUs(receivedAtUs),
    source,
  }
}
