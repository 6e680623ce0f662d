import type { UserId } from '../../src/core/ids.ts'
import { AllowedDestinations, allowedDestination } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { GuardedHttp } from '../../src/egress/guarded-http.ts'
import { isCoalesced } from '../../src/outbox/events/event-types.ts'
import type { NewEvent } from '../../src/outbox/events/events.ts'
import { openDeliveryDesk } from '../../src/processes/worker/deliveries.ts'
import { Deliverer } from '../../src/telling/delivery/deliverer.ts'
import type { DeliveryStats } from '../../src/telling/delivery/deliverer-needs.ts'
import { consequenceOf } from '../../src/telling/delivery/delivery.ts'
import { StateDeliveryReader } from '../../src/telling/delivery/delivery-reader.ts'
import type { StateDesk } from '../../src/telling/delivery/state-desk.ts'
import {
  defaultSettings,
  type Webhook,
  type WebhookSettings,
} from '../../src/telling/webhooks/webhook.ts'
import { WebhookAttempts } from '../../src/telling/webhooks/webhook-attempt.ts'
import { WebhookReader } from '../../src/telling/webhooks/webhook-reader.ts'
import { WebhookStore } from '../../src/telling/webhooks/webhook-store.ts'
import { HandClock } from './hand-clock.ts'
import { cameToRest, happened, type LocalParts } from './local-events.ts'
import type { Receiver } from './receiver.ts'
import { TestState } from './test-state.ts'

/** Secrets are readable here: that they are encrypted is tested elsewhere. */
const cipher = {
  encrypt: (text: string) => Buffer.from(text),
  decrypt: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
}

/** All that delivers, in one thread, with a clock that is moved by hand. */
export class LocalDeliveries implements AsyncDisposable {
  readonly tests: TestState
  readonly ownerId: UserId
  readonly clock: HandClock
  readonly webhooks: WebhookStore
  readonly failures: unknown[] = []
  readonly #parts: LocalParts
  readonly #http: GuardedHttp
  readonly #attempts: WebhookAttempts
  readonly #deliverer: Deliverer

  static async open(receiver: Receiver): Promise<LocalDeliveries> {
    const local = await LocalDeliveries.openWithoutEngine(receiver)
    local.#deliverer.start()
    return local
  }

  /** Opens one in which nothing is delivered by itself. */
  static async openWithoutEngine(receiver: Receiver): Promise<LocalDeliveries> {
    const tests = await TestState.open()
    const clock = new HandClock()
    const desk = await openDeliveryDesk({ state: tests.state, clock, onNotified: () => undefined })
    const ownerId = await tests.newUser()
    return new LocalDeliveries({ tests, ownerId, desk, clock }, receiver)
  }

  private constructor(parts: LocalParts, receiver: Receiver) {
    const { tests, ownerId, clock } = parts
    this.tests = tests
    this.ownerId = ownerId
    this.clock = clock
    this.#parts = parts
    const { state } = tests
    const allowed = new AllowedDestinations([allowedDestination(receiver.destination)])
    const guard = new EgressGuard({ allowed, resolve: async () => [] })
    this.#http = new GuardedHttp(guard)
    this.webhooks = new WebhookStore({ state, writer: this.tests, cipher, clock })
    const webhooks = new WebhookReader(state, cipher)
    this.#attempts = new WebhookAttempts({ state, webhooks, http: this.#http, guard, clock })
    this.#deliverer = this.engine()
  }

  /** One more process that delivers: to be started and stopped by whoever asks for it. */
  engine(): Deliverer {
    return new Deliverer({
      clock: this.clock,
      desk: {
        exchange: (request) => this.desk.exchange(request),
        dueReceivers: () => this.desk.dueReceivers('webhook'),
      },
      reader: new StateDeliveryReader(this.tests.state, 'webhook'),
      attempt: this.#attempts.make,
      consequenceOf,
      attemptsMax: 1_024,
      attemptsOfUserMax: 256,
      resendEveryUs: 300_000_000,
      isReplaceable: isCoalesced,
      onFailure: (error) => this.failures.push(error),
    })
  }

  stats(): DeliveryStats {
    return this.#deliverer.stats()
  }

  get desk(): StateDesk {
    return this.#parts.desk.desk
  }

  async webhook(
    settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'url'>,
  ): Promise<Webhook> {
    const { webhook, changes } = this.#planned(this.ownerId, settings)
    await this.tests.commit(...changes)
    return webhook
  }

  /** Makes webhooks of one more user that lead to the same place. */
  async webhooksOfAnother(count: number, url: string): Promise<UserId> {
    const ownerId = await this.tests.newUser()
    const planned = Array.from({ length: count }, () => this.#planned(ownerId, { url }).changes)
    await this.tests.commit(...planned.flat())
    return ownerId
  }

  #planned(ownerId: UserId, settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'url'>) {
    const whole = { ...defaultSettings, eventTypes: ['vault.created'], ...settings }
    return this.webhooks.plan(ownerId, whole, 'header-key')
  }

  async change(webhook: Webhook, settings: Partial<WebhookSettings>): Promise<Webhook> {
    const before = await this.read(webhook)
    await this.tests.attempt(...this.webhooks.change(before, { ...before, ...settings }))
    this.#attempts.forget([webhook.id])
    this.#deliverer.wake([webhook.id])
    return await this.read(webhook)
  }

  async read({ id }: Webhook): Promise<Webhook> {
    const webhook = await this.webhooks.find(this.ownerId, id)
    if (!webhook) throw new Error('no such webhook')
    return webhook
  }

  /** Something has happened: it is told of, and delivered as far as that is possible at once. */
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
    await cameToRest(this.#parts, this.#deliverer)
  }

  async deliveries() {
    return await this.tests.state
      .selectFrom('deliveries')
      .selectAll()
      .orderBy('created_at')
      .execute()
  }

  async attempts() {
    return await this.tests.state
      .selectFrom('delivery_attempts')
      .selectAll()
      .orderBy('attempted_at')
      .execute()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.desk.announce('webhook', ['the end'])
    await this.#deliverer.stop()
    await this.#http.close()
    await this.tests[Symbol.asyncDispose]()
  }
}
