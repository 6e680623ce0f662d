import type { Clocks } from '../../core/clock.ts'
import { cutText } from '../../core/cut-text.ts'
import { DomainError, messageOf } from '../../core/errors.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { SpanStart, Tracing } from '../../core/tracing.ts'
import type { EgressGuard } from '../../egress/egress-guard.ts'
import type { GuardedHttp, HttpAnswer } from '../../egress/guarded-http.ts'
import { bodyOf } from '../../outbox/events/event-body.ts'
import { type EventType, formatOf } from '../../outbox/events/event-types.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { attemptMsMax, type MadeAttempt, type MakeAttempt } from '../delivery/attempt.ts'
import type { AttemptResult, DueDelivery, Outcome } from '../delivery/delivery.ts'
import { attributesOf, endOf } from '../delivery/traced-attempts.ts'
import { deliveryHeaders } from './delivery-headers.ts'
import type { Webhook } from './webhook.ts'
import { destinationOf, parseWebhookUrl } from './webhook-destination.ts'
import type { WebhookReader } from './webhook-reader.ts'

/** Webhooks at hand, and for how long one is taken to be as it was. */
const webhooksAtHandMax = 2_000
const webhookFreshUs = 250_000

/** Bodies at hand: one event may go to a thousand webhooks. */
const bodiesAtHandMax = 1_000
const bodyLengthsMax = 8 * 1_024 * 1_024

/** The message of a destination that may not be reached (decisions.md#records-of-attempts). */
const blocked = 'blocked: destination not allowed'

export interface WebhookAttemptsNeeds {
  readonly state: StateDatabase
  readonly webhooks: Pick<WebhookReader, 'find'>
  readonly http: Pick<GuardedHttp, 'post'>
  readonly guard: EgressGuard
  readonly clock: Clocks
  /** Undefined: no traces. */
  readonly tracing?: Tracing | undefined
}

/** How a delivery to a webhook is attempted. */
export class WebhookAttempts {
  readonly #needs: WebhookAttemptsNeeds
  readonly #webhooks = new LruMap<string, { readonly webhook: Webhook; readonly readAtUs: number }>(
    webhooksAtHandMax,
  )
  readonly #bodies = new LruMap<string, string>(bodiesAtHandMax, {
    of: (body) => body.length,
    max: bodyLengthsMax,
  })

  constructor(needs: WebhookAttemptsNeeds) {
    this.#needs = needs
  }

  /** To be called when webhooks were changed: the next attempt looks at them anew. */
  forget(webhookIds: readonly string[]): void {
    for (const id of webhookIds) this.#webhooks.delete(id)
  }

  readonly make: MakeAttempt = async (delivery, ending) => {
    const webhook = await this.#webhookOf(delivery.receiverId)
    if (webhook?.status !== 'ACTIVE') return undefined
    const body = await this.#bodyOf(delivery)
    if (body === undefined) return undefined
    return await this.#send(webhook, { ...delivery, body }, ending)
  }

  async #send(
    webhook: Webhook,
    delivery: DueDelivery & { readonly body: string },
    ending: AbortController,
  ): Promise<MadeAttempt> {
    const { clock, http, guard, tracing } = this.#needs
    const { id, eventId, eventType, body } = delivery
    const format = formatOf(eventType as EventType) === 'forthcoming' ? 'forthcoming' : 'emitted'
    const span = tracing?.start(webhookSpan(webhook, delivery))
    const sent = { deliveryId: id, eventId, eventType, format, body, nowUs: clock.nowUs() } as const
    const { sent: headers, recorded } = deliveryHeaders(webhook, { ...sent, trace: span?.headers })
    const timeoutMs = Math.min(webhook.timeoutMs, attemptMsMax)
    const timer = setTimeout(() => {
      ending.abort(new Error(`no complete answer within ${timeoutMs / 1_000} s`))
    }, timeoutMs)
    const result = async (): Promise<Ended> => {
      try {
        const url = parseWebhookUrl(webhook.url)
        destinationOf(url, guard)
        return answered(await http.post({ url, headers, body, signal: ending.signal }))
      } catch (error) {
        return failed(error)
      } finally {
        clearTimeout(timer)
      }
    }
    const ended = await result()
    span?.end(endOf(ended, 'http.response.status_code'))
    return {
      result: { ...ended, requestHeaders: recorded },
      retryCount: webhook.retryCount,
      retryDelayUs: webhook.retryDelayMs * 1_000,
    }
  }

  async #webhookOf(id: string): Promise<Webhook | undefined> {
    const nowUs = this.#needs.clock.steadyUs()
    const known = this.#webhooks.get(id)
    if (known && nowUs - known.readAtUs < webhookFreshUs) return known.webhook
    const webhook = await this.#needs.webhooks.find(id)
    if (webhook) this.#webhooks.set(id, { webhook, readAtUs: nowUs })
    return webhook
  }

  /**
   * The bytes that every attempt sends (decisions.md#events-and-their-changes); nothing for an
   * event that is too old to be kept.
   */
  async #bodyOf({ id, eventId, hasOwnBody }: DueDelivery): Promise<string | undefined> {
    const { state } = this.#needs
    if (hasOwnBody) {
      const own = await state
        .selectFrom('deliveries')
        .select('body')
        .where('id', '=', id)
        .executeTakeFirst()
      return own?.body ?? undefined
    }
    const known = this.#bodies.get(eventId)
    if (known !== undefined) return known
    const event = await state
      .selectFrom('events')
      .select(['type', 'at', 'data'])
      .where('id', '=', eventId)
      .executeTakeFirst()
    if (event === undefined) return undefined
    const { type, at: atUs, data } = event
    const body = bodyOf({ id: eventId, type: type as EventType, atUs, data })
    this.#bodies.set(eventId, body)
    return body
  }
}

/** The address is sent without its login, path and query: receivers have tokens in all of them. */
function webhookSpan({ url }: Webhook, delivery: DueDelivery): SpanStart {
  const { protocol, hostname, port, host } = parseWebhookUrl(url)
  const attributes = {
    ...attributesOf(delivery),
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    'url.full': `${protocol}//${host}/REDACTED`,
  }
  return { name: 'POST', kind: 'client', attributes }
}

type Ended = Omit<AttemptResult, 'requestHeaders'>

function answered({ statusCode, excerpt }: HttpAnswer): Ended {
  return {
    outcome: outcomeOf(statusCode),
    statusCode,
    message: `answered ${statusCode}`,
    responseExcerpt: excerpt.toString('utf8').replaceAll('\0', '\uFFFD'),
  }
}

/**
 * What 429 and 5xx say may be over soon; nothing else that is no 2xx changes by itself
 * (decisions.md#attempts-and-passes).
 */
function outcomeOf(statusCode: number): Outcome {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode === 429 || statusCode >= 500 ? 'retry' : 'stop'
}

function failed(error: unknown): Ended {
  const isBlocked = error instanceof DomainError && error.code === 'destination_not_allowed'
  return {
    outcome: isBlocked ? 'stop' : 'retry',
    statusCode: undefined,
    message: isBlocked ? blocked : cutText(messageOf(error), messageLengthMax),
    responseExcerpt: '',
  }
}

const messageLengthMax = 500
