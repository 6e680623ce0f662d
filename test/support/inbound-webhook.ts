import type { ApiClient } from './api-client.ts'
import type { Sender } from './webhook-senders.ts'

export interface HookAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface HookMessage {
  readonly body?: unknown
  readonly secret?: string
  readonly id?: string
  /** Seconds since the Unix epoch. */
  readonly timestamp?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly bytes?: Uint8Array<ArrayBuffer>
}

interface Defined {
  readonly schema?: object | undefined
  readonly source?: object
}

/** A stream that is sent to, and who sends to it. */
export class InboundWebhook {
  readonly streamId: string
  readonly path: string
  readonly #sender: Sender
  #api: ApiClient
  #count = 0

  private constructor(api: ApiClient, sender: Sender, made: Made) {
    this.#api = api
    this.#sender = sender
    this.streamId = made.streamId
    this.path = new URL(made.webhookUrl).pathname
  }

  static async open(
    api: ApiClient,
    sender: Sender,
    { schema = { level: { type: 'number' } }, source = {} }: Defined = {},
  ): Promise<InboundWebhook> {
    const { signature, secret } = sender
    const { status, body } = await api.withToken<Made>('POST', '/streams', {
      name: 'events',
      vaultId: await api.createVault(),
      type: 'event_stream',
      source: { protocol: 'webhook', signature, credentials: { secret }, ...source },
      ...(!('eventTypes' in source) && { schema }),
    })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return new InboundWebhook(api, sender, body)
  }

  /** After a start of the service. */
  reachedBy(api: ApiClient): void {
    this.#api = api
  }

  async send(message: HookMessage = {}): Promise<HookAnswer> {
    const { body = { level: 1 }, secret = this.#sender.secret, id } = message
    const { timestamp = Math.floor(Date.now() / 1_000), headers } = message
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const ownId = id ?? `message-${this.#count++}`
    const sent = {
      'content-type': 'application/json',
      ...this.#sender.headers({ body: text, secret, id: ownId, timestamp }),
      ...headers,
    }
    if (message.bytes === undefined) {
      return await this.#api.request('POST', this.path, { headers: sent, body: text })
    }
    const url = this.#api.base + this.path
    const answer = await fetch(url, { method: 'POST', headers: sent, body: message.bytes })
    return { status: answer.status, body: (await answer.json()) as HookAnswer['body'] }
  }

  async status(): Promise<unknown> {
    return (await this.#api.status(this.streamId))['webhook']
  }
}

interface Made {
  readonly streamId: string
  readonly webhookUrl: string
}
