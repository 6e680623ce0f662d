import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from './api-client.ts'
import type { MailServer, ReceivedMail } from './mail-server.ts'
import { metricOf } from './metrics.ts'
import type { Person } from './people.ts'

/** Where addresses are added. */
export const recipientsAt = '/notifications/email-configs'

export interface RecipientBody {
  readonly id: string
  readonly email: string
  readonly status: string
  readonly verified_at: string | null
  readonly consecutive_failures: number
  readonly last_delivery_at: string | null
  readonly filters: { readonly severities: readonly string[] }
}

export interface MailAttemptBody {
  readonly id: string
  readonly delivery_id: string
  readonly event_type: string
  readonly attempt: number
  readonly status_code: number | null
  readonly message: string
  readonly delivered: boolean
  readonly next_attempt_at: string | null
}

export interface MailPage<Item> {
  readonly total_records: number
  readonly content: readonly Item[]
}

let addresses = 0

/** An address that no other test has. */
export function newAddress(): string {
  return `ada-${process.pid}-${++addresses}@plant.example`
}

/** The link that a mail wants to be followed. */
/** What pressing the button of a page does. */
export async function pressed(link: string): Promise<Response> {
  return await fetch(link, { method: 'POST' })
}

export function linkIn({ parsed }: ReceivedMail): string {
  const [, link] = /:\n(http\S+)/.exec(parsed.text ?? '') ?? []
  if (link === undefined) throw new Error(`no link in ${parsed.text}`)
  return link
}

/** Where a mail program unsubscribes (RFC 8058). */
export function oneClickOf({ parsed }: ReceivedMail): string {
  const header = parsed.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? ''
  return header.slice(1, -1)
}

/** What a mail program does when somebody clicks there. */
export async function oneClick(url: string): Promise<number> {
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  return (await fetch(url, { method: 'POST', body })).status
}

/** Resolves when nothing waits any more that was written down before, at the service of this address. */
export async function everythingHasCome(service: string): Promise<void> {
  for (;;) {
    if ((await metricOf({ http: service }, 'deliveries_pending')) === 0) return
    await sleep(20)
  }
}

/** The addresses of one person. */
export class MailClient {
  readonly #owner: Pick<Person, 'withKey'>
  readonly #server: MailServer

  constructor(owner: Pick<Person, 'withKey'>, server: MailServer) {
    this.#owner = owner
    this.#server = server
  }

  /** One that was added, and not confirmed yet. */
  async added(email = newAddress(), body: object = {}): Promise<RecipientBody> {
    const whole = { email, ...body }
    const answer = await this.#owner.withKey<RecipientBody>('POST', recipientsAt, whole)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }

  /** One that is told of events. */
  async confirmed(email = newAddress(), body: object = {}): Promise<RecipientBody> {
    const { id } = await this.added(email, body)
    const { status } = await pressed(linkIn(await this.question(email)))
    if (status !== 200) throw new Error(`the link answers ${status}`)
    return await this.read(id)
  }

  /** The mail that has asked an address for its consent. */
  async question(email: string): Promise<ReceivedMail> {
    const [mail] = await this.#server.mailsTo(email, 1)
    if (!mail) throw new Error('nobody was asked')
    return mail
  }

  async change(id: string, body: object): Promise<Answer<RecipientBody & ErrorBody>> {
    return await this.#owner.withKey('PUT', `${recipientsAt}/${id}`, body)
  }

  async listed(): Promise<MailPage<RecipientBody>> {
    return (await this.#owner.withKey<MailPage<RecipientBody>>('GET', recipientsAt)).body
  }

  async read(id: string): Promise<RecipientBody> {
    return (await this.#owner.withKey<RecipientBody>('GET', `${recipientsAt}/${id}`)).body
  }

  /** What it is when that is so. */
  async until(id: string, holds: (recipient: RecipientBody) => boolean): Promise<RecipientBody> {
    for (;;) {
      const recipient = await this.read(id)
      if (holds(recipient)) return recipient
      await sleep(20)
    }
  }

  /** The attempts to send to it, once there are so many. */
  async attemptsOf(id: string, count: number): Promise<readonly MailAttemptBody[]> {
    for (;;) {
      const path = `${recipientsAt}/${id}/deliveries?page_size=100`
      const { body } = await this.#owner.withKey<MailPage<MailAttemptBody>>('GET', path)
      if (body.total_records >= count) return body.content
      await sleep(20)
    }
  }
}
