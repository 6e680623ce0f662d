import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../core/errors.ts'
import { eventStream } from '../../../reading/live/event-stream.ts'
import type { OpenTails } from '../../../reading/live/open-tails.ts'
import { carry, openOn } from '../../../reading/live/tail-transport.ts'
import type { CallerOf } from '../../../requests/http/server.ts'
import { followInboxSchema } from './inbox-api.ts'
import type { InboxStore } from './inbox-store.ts'
import { followInbox, type InboxTailNeeds } from './inbox-tail.ts'

export interface InboxTailRouteNeeds extends InboxTailNeeds {
  readonly inbox: InboxStore
  /** Connections that follow streams: there is one limit for both. */
  readonly tails: OpenTails
  readonly onFailure: (error: unknown) => void
  readonly callerOf: CallerOf
}

const options = {
  schema: followInboxSchema,
  config: { scope: 'notifications:read', errors: ['rate_limited'] },
} as const

/** `GET /notifications/in-app/stream`: entries as they are written, as Server-Sent Events. */
export function inboxTailRoute(needs: InboxTailRouteNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get('/notifications/in-app/stream', options, (request, reply) =>
      tail(needs, request, reply),
    )
  }
}

async function tail(
  needs: InboxTailRouteNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { inbox, tails, onFailure, callerOf } = needs
  const { userId, apiKeyId, expiresAtUs, session } = callerOf(request)
  const wanted = positionIn(request)
  // HEAD asks for no body: there is no end to what it would have been.
  if (request.method === 'HEAD') return reply.type('text/event-stream').send('')
  const open = openOn(reply, tails, { userId, apiKeyId, streamId: '', expiresAtUs, session })
  try {
    const newest = await inbox.newest(userId)
    // The client left meanwhile: there is nobody to tell anything, and the place was given back.
    if (reply.raw.destroyed) return reply.hijack()
    // A position of another data folder may lie ahead: then it begins with what comes.
    const from = Math.min(wanted ?? newest, newest)
    const transport = eventStream(reply, open, String(from))
    void carry(followInbox(needs, userId, from), open, transport, onFailure)
  } catch (error) {
    open.release()
    throw error
  }
  return reply
}

/** @throws DomainError `invalid_request` for a Last-Event-ID that is none of ours */
function positionIn({ headers }: FastifyRequest): number | undefined {
  const text = headers['last-event-id']
  if (text === undefined || text === '') return undefined
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw new DomainError(
    'invalid_request',
    'the header Last-Event-ID is not a position of this service',
  )
}
