import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { CallerOf } from '../../requests/http/server.ts'
import { assertOrigin, takeUpgrade } from '../../requests/http/upgrades.ts'
import { type Exchange, operationsOf } from '../../requests/operations/operation.ts'
import { beforeAll, type ReadingsCursor } from '../../storage/time-series/readings-query.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { eventStream } from './event-stream.ts'
import type { JournalTails } from './journal-tails.ts'
import type { OpenTail, OpenTails } from './open-tails.ts'
import { encodePosition, type Position } from './position.ts'
import { type FollowRequest, follow, type TailNeeds } from './tail.ts'
import { tailAnswer, tailHeaders, tailQuery } from './tail-api.ts'
import { type TailStart, tailWish } from './tail-request.ts'
import { tailSocket } from './tail-socket.ts'
import { carry, openOn } from './tail-transport.ts'

export interface LiveParts extends TailNeeds {
  readonly journal: JournalTails
  readonly tails: OpenTails
  /** @throws DomainError `store_unavailable` */
  readonly placeBeforeNewest: (streamId: string, count: number) => Promise<ReadingsCursor>
  readonly onFailure: (error: unknown) => void
}

export interface TailRoutesNeeds extends LiveParts {
  readonly streams: DataStreamStore
  /** Origins whose pages may open a WebSocket, beside our own. */
  readonly corsOrigins: readonly string[]
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** `GET /streams/{id}/tail`: readings as they arrive, as Server-Sent Events or over a WebSocket. */
export function tailRoutes(needs: TailRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    add('GET /streams/:streamId/tail', {
      operationId: 'tailStream',
      summary: 'Follow the readings of a data stream as they arrive.',
      description: [
        'Server-Sent Events; with `Upgrade: websocket` the same as messages of a WebSocket. Each reading',
        'carries a position, from which one can go on later, in `from` or in `Last-Event-ID`: nothing is',
        'missing then, and nothing comes twice. See docs/live.md.',
      ].join(' '),
      scope: 'data:read',
      headers: tailHeaders,
      query: tailQuery,
      answers: { 200: tailAnswer },
      errors: ['origin_not_allowed', 'position_expired', 'rate_limited', 'store_unavailable'],
      handler: async (exchange) => await tail(needs, exchange),
    })
    // Before the server waits for its connections to end.
    app.addHook('preClose', async () => needs.tails.close())
    app.addHook('onClose', () => needs.journal.close())
  }
}

async function tail(
  needs: TailRoutesNeeds,
  { caller, params, query, request, reply }: Exchange<'/:streamId', typeof tailQuery>,
): Promise<FastifyReply> {
  const { tails, corsOrigins } = needs
  const { userId, apiKeyId, expiresAtUs, session } = caller
  assertOrigin(request, corsOrigins)
  const wish = tailWish(query, request.headers['last-event-id'], needs.nowUs())
  const { streamId: text } = params
  // Asked for without a body: there is no end to what it would have been, and nothing to open.
  if (request.method === 'HEAD') {
    await ownStream(needs, userId, text)
    return reply.type('text/event-stream').send('')
  }
  // Before anything is waited for: what is revoked or deleted meanwhile finds it here.
  const streamId = text.toLowerCase()
  const open = openOn(reply, tails, { userId, apiKeyId, streamId, expiresAtUs, session })
  try {
    const { id } = await ownStream(needs, userId, text)
    const from = await positionOf(needs, wish.start, id)
    // The client left meanwhile: there is nobody to tell anything, and the place was given back.
    if (reply.raw.destroyed) return reply.hijack()
    await begin(needs, { request, reply, open, wish: { streamId: id, from, ...wish } })
  } catch (error) {
    open.release()
    throw error
  }
  return reply
}

interface Beginning {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly open: OpenTail
  readonly wish: FollowRequest
}

async function begin(
  needs: TailRoutesNeeds,
  { request, reply, open, wish }: Beginning,
): Promise<void> {
  const upgrade = takeUpgrade(request)
  const position = encodePosition(wish.from)
  const transport = upgrade
    ? await tailSocket({ request, reply, upgrade }, open, position)
    : eventStream(reply, open, position)
  if (transport === undefined) return
  void carry(follow(needs, wish), open, transport, needs.onFailure)
}

/** @throws DomainError `position_expired` or `store_unavailable` */
async function positionOf(
  { journal, placeBeforeNewest }: TailRoutesNeeds,
  start: TailStart,
  streamId: string,
): Promise<Position> {
  switch (start.kind) {
    case 'now':
      return { kind: 'live', offset: journal.end }
    case 'position':
      if (start.position.offset !== undefined) await journal.assertCovers(start.position.offset)
      return start.position
    case 'time': {
      // The digest is the largest that there is: everything at the start itself is behind it.
      const after = { timestampUs: start.startUs - 1, digest: 2n ** 64n - 1n }
      return { kind: 'history', offset: undefined, after: start.startUs === 0 ? beforeAll : after }
    }
    case 'newest': {
      const after = await placeBeforeNewest(streamId, start.count)
      return { kind: 'history', offset: undefined, after }
    }
    default:
      return start satisfies never
  }
}
