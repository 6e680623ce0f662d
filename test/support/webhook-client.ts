import { setTimeout as sleep } from 'node:timers/promises'
import { verifySignature } from '../../receivers/verify-signature.js'
import type { Person } from './people.ts'
import type { Received, Receiver } from './receiver.ts'

/** Where webhooks are registered. */
export const webhooksAt = '/notifications/webhooks'

export interface Page<Item> {
  readonly total_records: number
  readonly content: readonly Item[]
}

export interface WebhookBody {
  readonly id: string
  readonly url: string
  readonly secret: string | null
  readonly status: string
  readonly event_types: readonly string[]
  readonly warnings: readonly string[]
}

interface AttemptBody {
  readonly id: string
  readonly event_id: string
  readonly attempt: number
  readonly delivered: boolean
  readonly request_headers: Readonly<Record<string, string>>
}

interface ErrorBody {
  readonly error: string
  readonly details?: readonly { readonly path: string }[]
}

/** Registers webhooks of one person that lead to one receiver. */
export class WebhookClient {
  readonly #owner: () => Person
  readonly #receiver: Receiver

  constructor(owner: () => Person, receiver: Receiver) {
    this.#owner = owner
    this.#receiver = receiver
  }

  async registered(body: object = {}): Promise<WebhookBody> {
    const answer = await this.#owner().withKey<WebhookBody>('POST', webhooksAt, this.#whole(body))
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }

  /** Status, code, and the places that are wrong. */
  async refusal(body: object): Promise<readonly [number, string, readonly string[]]> {
    const answer = await this.#owner().withKey<ErrorBody>('POST', webhooksAt, this.#whole(body))
    const paths = (answer.body.details ?? []).map(({ path }) => path)
    return [answer.status, answer.body.error, paths]
  }

  /** The attempts of a webhook, once there are so many. */
  async attemptsOf(id: string, count: number): Promise<readonly AttemptBody[]> {
    for (;;) {
      const path = `${webhooksAt}/${id}/deliveries`
      const { body } = await this.#owner().withKey<Page<AttemptBody>>('GET', path)
      if (body.total_records >= count) return body.content
      await sleep(10)
    }
  }

  async firstReceived(): Promise<Received> {
    const [received] = await this.#receiver.requests(1)
    if (!received) throw new Error('nothing came')
    return received
  }

  async removeAll(): Promise<void> {
    const path = `${webhooksAt}?page_size=100`
    const { content } = (await this.#owner().withKey<Page<WebhookBody>>('GET', path)).body
    for (const { id } of content) await this.#owner().withKey('DELETE', `${webhooksAt}/${id}`)
  }

  #whole(body: object): object {
    return { url: this.#receiver.url, event_types: ['vault.created'], ...body }
  }
}

export function isSigned({ body, headers }: Received, ...secrets: readonly string[]): boolean {
  return verifySignature({ body, headers }, ...secrets)
}
