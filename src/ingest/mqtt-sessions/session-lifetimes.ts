import type { Subscription } from 'aedes'
import { conflict } from '../../core/conflict.ts'
import { Session } from './session.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionChange } from './sessions-file.ts'

/** Beginning and end of sessions, and of their subscriptions. */
export class SessionLifetimes {
  readonly #parts: Omit<SessionParts, 'recipients'>
  /** Filters that were granted to a client, with their QoS: only these are stored. */
  readonly #granted = new WeakMap<object, Map<string, number>>()
  #lastNumber: number

  constructor(parts: Omit<SessionParts, 'recipients'>, lastNumber: number) {
    this.#parts = parts
    this.#lastNumber = lastNumber
  }

  /**
   * A new session, which is on disk when this resolves.
   *
   * @throws DomainError `conflict` when the user has too many
   */
  async open(brokerClientId: string): Promise<void> {
    const { rules, registry, clock, log } = this.#parts
    const identity = rules.identify(brokerClientId)
    if (!identity) return
    const { userId, clientId } = identity
    if (!registry.hasRoomFor(userId)) {
      throw conflict(
        'this user has as many MQTT sessions as are kept',
        'Connect with a clean session, or end sessions that are not needed: GET /mqtt/sessions lists them, DELETE /mqtt/sessions/{clientId} ends one.',
      )
    }
    const createdAtUs = clock.nowUs()
    const usedAtUs = clock.steadyUs()
    const number = ++this.#lastNumber
    const session = new Session({ ...identity, number, createdAtUs, usedAtUs })
    registry.add(session)
    try {
      await log.write(['putSession', session.number, userId, clientId, createdAtUs, usedAtUs])
    } catch (error) {
      registry.remove(session)
      throw error
    }
  }

  /** Ends a session: what that does to the disk. */
  drop(session: Session): readonly SessionChange[] {
    const { registry, queues } = this.#parts
    registry.remove(session)
    session.received.clear()
    const { number } = session
    return [
      ['dropSession', number],
      ['dropSubscriptions', number],
      ['dropAllReceived', number],
      ...queues.clear(session),
    ]
  }

  /** Writes down that a session is in use now. */
  use(session: Session): void {
    const { clock, log } = this.#parts
    session.lastUsedAtUs = clock.steadyUs()
    log.writeLater(['useSession', session.lastUsedAtUs, session.number])
  }

  grant(client: object, filter: string, qos: number): void {
    let granted = this.#granted.get(client)
    if (!granted) {
      granted = new Map()
      this.#granted.set(client, granted)
    }
    granted.set(filter, qos)
  }

  /** Stores those of the filters that were granted, and resolves when all of them are on disk. */
  async subscribe(
    session: Session,
    client: object,
    wanted: readonly Pick<Subscription, 'topic'>[],
  ): Promise<void> {
    const { log, registry } = this.#parts
    const granted = this.#granted.get(client)
    const changes: SessionChange[] = []
    const undo: (() => void)[] = []
    for (const { topic } of wanted) {
      const qos = granted?.get(topic)
      const before = session.subscriptions.get(topic)
      if (qos === undefined || qos === before || !registry.grant(session, topic)) continue
      registry.subscribe(session, topic, qos)
      changes.push(['putSubscription', session.number, topic, qos])
      undo.push(() => {
        if (before === undefined) registry.unsubscribe(session, topic)
        else registry.subscribe(session, topic, before)
      })
    }
    try {
      await log.write(...changes)
    } catch (error) {
      for (const step of undo) step()
      throw error
    }
  }

  async unsubscribe(session: Session, filters: readonly string[]): Promise<void> {
    const { log, registry } = this.#parts
    const stored = filters.filter((filter) => session.subscriptions.has(filter))
    await log.write(
      ...stored.map((filter): SessionChange => ['dropSubscription', session.number, filter]),
    )
    for (const filter of stored) registry.unsubscribe(session, filter)
  }
}
