import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { formatOfBody } from '../../processors/media-types.ts'
import type { Acceptor } from '../../src/contracts/connector.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { networkOf } from '../../src/core/network-of.ts'
import { RateLimiter } from '../../src/core/rate-limiter.ts'
import { takeBytes } from '../http/http-readings.ts'
import { requestContext } from '../http/request-context.ts'
import type { InboundHook } from './inbound-hook.ts'
import { RecentMessages, type RecentMessagesNeeds } from './recent-messages.ts'
import { allowWebhook, receiveWebhook } from './webhook-schema.ts'

/** Messages with a bad signature from one network to one address: more are not even read. */
const failures = { burst: 100, perSecond: 10 }

export interface WebhookRouteNeeds {
  readonly intake: Acceptor
  readonly hooks: {
    /** Null: there is none. Undefined: it has to be found. */
    cached(hookId: string): InboundHook | null | undefined
    find(hookId: string): Promise<InboundHook | null>
  }
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  readonly positions: RecentMessagesNeeds['positions']
  readonly figures: {
    kept(id: StreamId, nowUs: number): void
    repeated(id: StreamId): void
    refused(id: StreamId, reason: string, nowUs: number): void
  }
  /** Has the listener told of streams of which nothing is left. */
  readonly onStreamGone: (listener: (id: StreamId) => void) => void
  readonly nowUs: () => number
  /** @throws DomainError when nothing can be accepted now */
  readonly assertReady: () => void
}

interface OneHook {
  Params: { hookId: string }
  Querystring: Readonly<Record<string, string | readonly string[]>>
}

/** Takes messages that others send to the address of a stream. */
export function webhookRoute(needs: WebhookRouteNeeds): FastifyPluginAsync {
  const { intake, positions, nowUs } = needs
  const openStream = (id: StreamId) => openStreamOf(needs, id)
  const recent = new RecentMessages({ intake, openStream, positions })
  needs.onStreamGone((id) => recent.forget(id))
  const limiter = new RateLimiter(failures)
  return async (app) => {
    takeBytes(app)
    app.options<OneHook>('/hooks/:hookId', allowOptions, async (request, reply) => {
      return await allow(needs, request, reply)
    })
    app.post<OneHook>(
      '/hooks/:hookId',
      {
        ...options,
        // The check comes before the body is read: who sends what is not wanted gets us to do next
        // to nothing.
        onRequest: async ({ ip, params: { hookId } }) => {
          const waitS = limiter.waitS(senderOf(ip, hookId))
          if (waitS > 0) throw tooMany(waitS)
          await foundHook(needs, hookId)
        },
      },
      async (request, reply) => {
        const { ip, params, headers, query } = request
        // The body may have taken half a minute to arrive, in which the secret was replaced.
        const hook = await foundHook(needs, params.hookId)
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const verified = hook.verify(headers, body, nowUs(), query)
        if (!verified.ok) {
          needs.figures.refused(hook.streamId, verified.problem, nowUs())
          limiter.count(senderOf(ip, params.hookId))
          throw new DomainError('invalid_signature', verified.problem)
        }
        const challenge = hook.answersChallenges ? challengeIn(body) : undefined
        if (challenge !== undefined) return reply.code(200).send({ challenge })
        const validationResponse = validationCodeIn(headers, body)
        if (validationResponse !== undefined) return reply.code(200).send({ validationResponse })
        return await keep({ needs, recent }, { request, reply, hook, body, ...verified })
      },
    )
  }
}

const options = {
  schema: receiveWebhook,
  bodyLimit: 4 * 1024 * 1024,
  config: {
    takesCompressed: true,
    errors: [
      'disk_low',
      'invalid_signature',
      'journal_full',
      'journal_unavailable',
      'overloaded',
      'rate_limited',
      'stream_paused',
    ],
  },
} as const

const allowOptions = {
  schema: allowWebhook,
  config: { errors: ['method_not_allowed', 'stream_paused'] },
} as const

/**
 * Says to a sender of CloudEvents that it may send (HTTP 1.1 Web Hooks for Event Delivery, section 4). What others
 * send is signed, and nobody asks before.
 */
async function allow(
  needs: WebhookRouteNeeds,
  { params, headers }: FastifyRequest<OneHook>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { streamId } = await foundHook(needs, params.hookId)
  const { format } = await openStreamOf(needs, streamId)
  const origin = headers['webhook-request-origin']
  if (format !== 'cloudevents' || typeof origin !== 'string') {
    void reply.header('allow', 'OPTIONS, POST')
    throw new DomainError('method_not_allowed', 'only a sender of CloudEvents asks before', {
      remedy:
        'Give the source of the stream the format cloudevents, and send webhook-request-origin.',
    })
  }
  return reply
    .code(200)
    .header('allow', 'POST')
    .header('webhook-allowed-origin', origin)
    .header('webhook-allowed-rate', '*')
    .send()
}

interface GoodMessage {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly hook: InboundHook
  readonly body: Buffer
  readonly messageId: string | undefined
  readonly eventType: string | undefined
}

async function keep(
  { needs, recent }: { readonly needs: WebhookRouteNeeds; readonly recent: RecentMessages },
  { request, reply, hook, body, messageId, eventType }: GoodMessage,
): Promise<FastifyReply> {
  const { streamId } = hook
  needs.assertReady()
  const stream = await openStreamOf(needs, streamId)
  requireFormat(request, stream)
  const outcome = await recent.keep({
    streamId,
    messageId,
    payload: body,
    source: `webhook ${request.ip}`,
    ...requestContext(request, stream, hook.proof),
    ...(eventType !== undefined && { eventType }),
  })
  if (outcome === undefined) needs.figures.repeated(streamId)
  else needs.figures.kept(streamId, needs.nowUs())
  const refused = outcome?.verdicts.filter(({ accepted }) => !accepted).length ?? 0
  const readings = (outcome?.verdicts.length ?? 0) - refused
  const status = outcome === undefined ? 'repeated' : 'accepted'
  return reply.code(202).send({ status, readings, refused })
}

/** @throws DomainError `not_found` */
async function foundHook({ hooks }: WebhookRouteNeeds, hookId: string): Promise<InboundHook> {
  const hook = hooks.cached(hookId) ?? (await hooks.find(hookId))
  if (hook === null)
    throw new DomainError('not_found', 'there is no such webhook', {
      remedy:
        'Compare the address with webhookUrl of GET /streams/{streamId}: each stream has its own, and a deleted stream has none.',
    })
  return hook
}

/** @throws DomainError `not_found`, `stream_paused` */
async function openStreamOf(
  { findStream }: WebhookRouteNeeds,
  id: StreamId,
): Promise<CompiledStream> {
  const stream = await findStream(id)
  if (stream === undefined)
    throw new DomainError('not_found', 'there is no such webhook', {
      remedy:
        'Compare the address with webhookUrl of GET /streams/{streamId}: each stream has its own, and a deleted stream has none.',
    })
  if (stream.isPaused) throw new DomainError('stream_paused', 'the stream is paused')
  return stream
}

/** @throws DomainError `unsupported_media_type` for what the stream does not come in */
function requireFormat({ headers }: FastifyRequest, { format = 'json' }: CompiledStream): void {
  // An event in binary mode has the type of its data, which are JSON.
  const wanted = format === 'cloudevents' ? 'json' : format
  if (formatOfBody(headers, wanted) === wanted) return
  throw new DomainError('unsupported_media_type', `the stream takes ${format}`)
}

/** Slack API, event `url_verification`. */
function challengeIn(body: Buffer): string | undefined {
  try {
    const { type, challenge } = JSON.parse(body.toString()) as Record<string, unknown>
    const isAsked = type === 'url_verification' && typeof challenge === 'string'
    return isAsked ? challenge : undefined
  } catch {
    return undefined
  }
}

/** Azure Event Grid, "Validate webhook endpoints with the Event Grid event schema". */
function validationCodeIn(headers: FastifyRequest['headers'], body: Buffer): string | undefined {
  if (headers['aeg-event-type'] !== 'SubscriptionValidation') return undefined
  try {
    const [event] = JSON.parse(body.toString()) as readonly ValidationEvent[]
    const code = event?.eventType === validationType ? event.data?.validationCode : undefined
    return typeof code === 'string' ? code : undefined
  } catch {
    return undefined
  }
}

const validationType = 'Microsoft.EventGrid.SubscriptionValidationEvent'

interface ValidationEvent {
  readonly eventType?: unknown
  readonly data?: { readonly validationCode?: unknown }
}

function senderOf(address: string, hookId: string): string {
  return `${networkOf(address)} ${hookId}`
}

function tooMany(waitS: number): DomainError {
  const message = 'too many messages with a bad signature: try again later'
  return new DomainError('rate_limited', message, { retryAfter: waitS })
}
