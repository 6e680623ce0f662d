import type { UserId } from '../../src/core/ids.ts'
import type { KeptSession, MqttSessions } from '../../src/ingest/mqtt-sessions/mqtt-sessions.ts'
import type { SessionName, SessionView } from '../../src/ingest/mqtt-sessions/session-view.ts'
import type { Audience } from './audience.ts'
import { innerClientId, namesInside, namesOfClient } from './client-ids.ts'
import type { ConnectedClient, Sessions } from './sessions.ts'
import { outerTopic } from './topics.ts'

interface SessionListNeeds {
  readonly sessions: Pick<Sessions, 'ofUser'>
  readonly audience: Pick<Audience, 'filtersOf'>
  readonly kept: Pick<MqttSessions, 'sessionsOf' | 'end'>
}

/** The sessions of a user: those that are kept, and those that end with their connections. */
export class SessionList {
  readonly #needs: SessionListNeeds
  /** Sessions that are not kept have no number of their own. */
  readonly #passingIds = new WeakMap<object, string>()
  #passing = 0

  constructor(needs: SessionListNeeds) {
    this.#needs = needs
  }

  /** Lists sessions in the order of their beginning. */
  of(userId: UserId): readonly SessionView[] {
    const { kept } = this.#needs
    const connected = this.#connected(userId)
    const lasting = kept.sessionsOf(userId).map((one) => keptView(one, connected.get(one.clientId)))
    const passing = [...connected.values()].filter(({ client }) => client.clean)
    const views = [...lasting, ...passing.map((one) => this.#passingView(one))]
    return views.toSorted(
      (one, other) => one.createdAtUs - other.createdAtUs || (one.id < other.id ? -1 : 1),
    )
  }

  find(userId: UserId, name: SessionName): SessionView | undefined {
    return this.of(userId).find(
      ({ clientId, deviceId }) => clientId === name.clientId && deviceId === name.deviceId,
    )
  }

  /**
   * Ends a session and its connection, as a network that breaks would: a will is published. Resolves
   * with whether there was one.
   *
   * @throws DomainError when it cannot be written down
   */
  async end(userId: UserId, name: SessionName): Promise<boolean> {
    const rest = restOf(userId, name)
    const connected = this.#connected(userId).get(rest)
    // First the session: a client that is back at once begins a new one.
    const ended = this.#needs.kept.end({ userId, clientId: rest })
    connected?.session.connection?.destroy()
    return (await ended) || connected !== undefined
  }

  /** Clients by the rest of their ids within the broker. */
  #connected(userId: UserId): ReadonlyMap<string, ConnectedClient> {
    const connected = new Map<string, ConnectedClient>()
    for (const one of this.#needs.sessions.ofUser(userId)) {
      const names = namesOfClient(one.client.id)
      // It has no name as long as it is being let in.
      if (names) connected.set(names.clientId, one)
    }
    return connected
  }

  #passingView({ client, session }: ConnectedClient): SessionView {
    const id = this.#passingIds.get(client) ?? `c${++this.#passing}`
    this.#passingIds.set(client, id)
    const { connectedAtUs } = session
    return {
      id,
      ...namesInside(namesOfClient(client.id)?.clientId ?? ''),
      isKept: false,
      connection: connectionOf(session),
      createdAtUs: connectedAtUs,
      sinceUs: connectedAtUs,
      expiresAtUs: undefined,
      filters: outerFilters(this.#needs.audience.filtersOf(client)),
      queued: 0,
      queuedBytes: 0,
    }
  }
}

function keptView(kept: KeptSession, connected: ConnectedClient | undefined): SessionView {
  const { number, clientId, createdAtUs, lastUsedAtUs, subscriptions, queued, queuedBytes } = kept
  return {
    id: String(number),
    ...namesInside(clientId),
    isKept: true,
    connection: connected && connectionOf(connected.session),
    createdAtUs,
    sinceUs: connected?.session.connectedAtUs ?? lastUsedAtUs,
    expiresAtUs: connected ? undefined : kept.expiresAtUs,
    filters: outerFilters(subscriptions),
    queued,
    queuedBytes,
  }
}

function connectionOf({ apiKeyId, connection }: ConnectedClient['session']) {
  return { apiKeyId, address: connection?.remoteAddress ?? '' }
}

function outerFilters(filters: ReadonlyMap<string, number>): SessionView['filters'] {
  return {
    count: filters.size,
    *all() {
      for (const [filter, qos] of filters) yield { filter: outerTopic(filter), qos }
    },
  }
}

function restOf(userId: UserId, { clientId, deviceId }: SessionName): string {
  const device = deviceId === undefined ? undefined : { id: deviceId }
  return namesOfClient(innerClientId({ userId, device }, clientId))?.clientId ?? ''
}
