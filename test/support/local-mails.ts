import { parseSmtpUrl } from '../../src/config/mail.ts'
import { parseEmail } from '../../src/core/email-address.ts'
import type { UserId } from '../../src/core/ids.ts'
import { isCoalesced } from '../../src/outbox/events/event-types.ts'
import type { NewEvent } from '../../src/outbox/events/events.ts'
import { openDeliveryDesk } from '../../src/processes/worker/deliveries.ts'
import { Deliverer } from '../../src/telling/delivery/deliverer.ts'
import { StateDeliveryReader } from '../../src/telling/delivery/delivery-reader.ts'
import { purgeDeliveries } from '../../src/telling/delivery/purge-deliveries.ts'
import { MailAttempts } from '../../src/telling/mail/mail-attempt.ts'
import { MailLinks } from '../../src/telling/mail/mail-links.ts'
import { mailConsequenceOf } from '../../src/telling/mail/mail-policy.ts'
import type { Recipient, Severity } from '../../src/telling/mail/recipient.ts'
import { RecipientStore } from '../../src/telling/mail/recipient-store.ts'
import { SmtpTransport } from '../../src/telling/mail/smtp-transport.ts'
import { forgetVerifications } from '../../src/telling/mail/verification.ts'
import { HandClock } from './hand-clock.ts'
import { cameToRest, happened, type LocalParts } from './local-events.ts'
import { newAddress } from './mail-client.ts'
import type { MailServer } from './mail-server.ts'
import { TestState } from './test-state.ts'

/** Signs so that it can be read. */
const signer = {
  digest: (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(-64),
  matches: (text: string, digest: string) => signer.digest(text) === digest,
}

/** All that delivers mail, in one thread, with a clock that is moved by hand. */
export class LocalMails implements AsyncDisposable {
  readonly tests: TestState
  readonly ownerId: UserId
  readonly clock: HandClock
  readonly recipients: RecipientStore
  /** What went wrong with the mail server. */
  readonly troubles: unknown[] = []
  readonly failures: unknown[] = []
  /** For one mail, by the real clock: no test is so slow. One with a server that hangs makes it short. */
  attemptMs = 60_000
  readonly #parts: LocalParts
  readonly #smtp: SmtpTransport | undefined
  readonly #deliverer: Deliverer

  /** Without a server nothing can be sent. */
  static async open(server?: MailServer): Promise<LocalMails> {
    const tests = await TestState.open()
    const clock = new HandClock()
    const desk = await openDeliveryDesk({ state: tests.state, clock, onNotified: () => undefined })
    const ownerId = await tests.newUser()
    const local = new LocalMails({ tests, ownerId, desk, clock }, server)
    local.#deliverer.start()
    return local
  }

  private constructor(parts: LocalParts, server: MailServer | undefined) {
    const { tests, ownerId, desk, clock } = parts
    this.tests = tests
    this.ownerId = ownerId
    this.clock = clock
    this.#parts = parts
    const { state } = tests
    this.recipients = new RecipientStore({ state, writer: tests, clock })
    const smtp = server && parseSmtpUrl(server.url)
    this.#smtp = smtp && new SmtpTransport(smtp, 'iot@plant.example')
    const attemptMs = () => this.attemptMs
    const attempts = new MailAttempts({
      state,
      links: new MailLinks(signer, 'https://vault.example'),
      smtp: this.#smtp,
      get timeoutMs() {
        return attemptMs()
      },
      onTrouble: (error) => this.troubles.push(error),
    })
    this.#deliverer = new Deliverer({
      clock,
      desk: {
        exchange: (request) => desk.desk.exchange(request),
        dueReceivers: () => desk.desk.dueReceivers('mail'),
      },
      reader: new StateDeliveryReader(state, 'mail'),
      attempt: attempts.make,
      consequenceOf: mailConsequenceOf,
      attemptsMax: 8,
      attemptsOfUserMax: 4,
      resendEveryUs: 300_000_000,
      isReplaceable: isCoalesced,
      onFailure: (error) => this.failures.push(error),
    })
  }

  /** Mails that were not written, as there were too many. */
  get withheld(): number {
    return this.#parts.desk.status().mailsWithheld
  }

  /** One that was added and asked; nothing else has happened. */
  async added(email = newAddress(), severities: readonly Severity[] = []): Promise<Recipient> {
    const address = parseEmail(email)
    if (!address) throw new Error(`${email} is no address`)
    const wanted = { email, address, severities }
    const { recipient, changes } = this.recipients.plan(this.ownerId, wanted)
    await this.tests.commit(...changes)
    return recipient
  }

  /** One that is told of events. It was asked, whatever the server has said to that. */
  async confirmed(email = newAddress(), severities: readonly Severity[] = []): Promise<Recipient> {
    const recipient = await this.added(email, severities)
    await this.settled()
    await this.tests.commit(this.recipients.verify(recipient))
    return await this.read(recipient)
  }

  async read({ id }: Pick<Recipient, 'id'>): Promise<Recipient> {
    const recipient = await this.recipients.findAny(id)
    if (!recipient) throw new Error('no such recipient')
    return recipient
  }

  /** Something has happened; it is told, and not more. */
  async happens(event: Partial<NewEvent> = {}): Promise<void> {
    await happened(this.#parts, event)
  }

  /** The clock goes on, and what is due then is done. */
  async pass(us: number): Promise<void> {
    this.clock.atUs += us
    await this.settled()
  }

  /** Resolves when nothing is due, and nothing is under way. */
  async settled(): Promise<void> {
    await cameToRest(this.#parts, this.#deliverer, async () => {
      const waiting = await this.tests.state.selectFrom('email_recipients').select('id').execute()
      this.#deliverer.wake(waiting.map(({ id }) => id))
    })
  }

  /** Removes records that are as old, and what limits nothing any more. */
  async purge(beforeUs: number): Promise<void> {
    const needs = { state: this.tests.state, writer: this.tests }
    while (await purgeDeliveries(needs, beforeUs));
    await forgetVerifications(needs, this.clock.atUs)
  }

  /** Attempts at an event, not at the question for consent, in their order. */
  async attempts() {
    return await this.tests.state
      .selectFrom('delivery_attempts')
      .selectAll()
      .where('event_type', '!=', 'email.verification')
      .orderBy('attempted_at')
      .orderBy('attempt')
      .execute()
  }

  async deliveries() {
    return await this.tests.state
      .selectFrom('deliveries')
      .selectAll()
      .where('event_type', '!=', 'email.verification')
      .orderBy('created_at')
      .execute()
  }

  /** Types of what the inbox was told, in order. */
  async inbox(): Promise<readonly string[]> {
    const rows = await this.tests.state
      .selectFrom('inbox_entries')
      .select('event_type')
      .where('owner_id', '=', this.ownerId)
      .orderBy('position')
      .execute()
    return rows.map(({ event_type: type }) => type)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.desk.desk.announce('mail', ['the end'])
    await this.#deliverer.stop()
    this.#smtp?.close()
    await this.tests[Symbol.asyncDispose]()
  }
}
