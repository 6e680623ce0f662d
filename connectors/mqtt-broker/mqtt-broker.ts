import type { Aedes } from 'aedes'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { UnroutedMessages } from '../../src/ingest/unrouted/unrouted-messages.ts'
import { Audience } from './audience.ts'
import { Distribution } from './distribution.ts'
import { type DropCounter, Drops } from './drops.ts'
import { FanOut, type FanOutNeeds } from './fan-out.ts'
import type { ConnectionLimits } from './guard/admission.ts'
import { clientCertificateOf } from './guard/client-certificates.ts'
import type { ClientSocket } from './guard/client-socket.ts'
import { MqttConnection } from './guard/connection.ts'
import { type GuardStats, MqttGuards } from './guard/guards.ts'
import { type MqttCertificate, type MqttEndpoints, MqttListeners } from './guard/listeners.ts'
import { IngestBroker } from './ingest-broker.ts'
import { type MqttKeepingNeeds, publishLeftWills, sessionRules } from './keeping.ts'
import { type MqttPublisherNeeds, Publisher } from './publisher.ts'
import { Rights } from './rights.ts'
import { type RouteNeeds, Routes } from './routes.ts'
import { SessionList } from './session-list.ts'
import { type ActiveDevice, type MqttSessionNeeds, Sessions } from './sessions.ts'
import { Subscriptions } from './subscriptions.ts'
import { innerTopic, topicsOfStream } from './topics.ts'

/** How late a session ends whose key or token has expired, at most. */
const expiryCheckMs = 1_000

export interface MqttBrokerNeeds
  extends MqttPublisherNeeds,
    RouteNeeds,
    MqttKeepingNeeds,
    Pick<FanOutNeeds, 'listeners'>,
    Omit<MqttSessionNeeds, 'mayPublishTo'> {
  readonly connectionLimits: ConnectionLimits
  readonly droppedPublishes: DropCounter
  readonly onClientError: (clientId: string | null, error: Error) => void
}

export interface MqttBrokerStats extends GuardStats {
  readonly connections: number
  readonly published: number
  /** Messages to topics that are not the client's: acknowledged, not kept. */
  readonly dropped: number
  /** Messages that were sent to subscribers. */
  readonly delivered: number
  /** Durable messages that wait to be passed on to subscribers. */
  readonly fanOutWaiting: number
  /** Durable messages that found no room there, and were not passed on. */
  readonly fanOutDropped: number
  /** Filters of subscriptions beyond a limit. */
  readonly filtersRefused: number
  /** What is shown of messages that lead nowhere. */
  readonly unrouted: UnroutedMessages['stats']
}

export interface MqttBroker {
  /** Undefined when there is none. */
  readonly port: number | undefined
  /** Port for MQTT over TLS; undefined when there is none. */
  readonly securePort: number | undefined
  /** New connections over TLS get this certificate. */
  setCertificate(certificate: MqttCertificate): void
  /** Takes a connection that has come in elsewhere, as one of its own ports. */
  readonly accept: (socket: ClientSocket) => void
  stats(): MqttBrokerStats
  /**
   * A message of the service's own, on a topic as the user's clients know it: resolves when it is kept
   * for those who are to get it later, and on its way to the others.
   *
   * @throws DomainError when it cannot be kept
   */
  publishToUser(
    userId: UserId,
    message: { readonly topic: string; readonly payload: Uint8Array; readonly qos: 0 | 1 | 2 },
  ): Promise<void>
  /** The sessions of users, for those who ask for them elsewhere. */
  readonly sessions: SessionList
  /** The devices that have sent something since this was asked the last time. */
  activeDevices(): readonly ActiveDevice[]
  /** To be told of a stream of which nothing is left. */
  forgetStream(id: StreamId): void
  /** Ends at once every session that was opened with this key, or with a token of it. */
  endSessionsOfKey(apiKeyId: string): void
  /** Ends at once every session of this user. */
  endSessionsOfUser(userId: UserId): void
  close(): Promise<void>
}

/**
 * An MQTT 3.1.1 broker that devices publish their readings to, on `streams/{streamId}/data` or a topic
 * that was given to a stream, and whose users have a space of topics for messages of their own.
 *
 * Readings with QoS 0 and 1 take the short way through `MqttConnection`. What comes with QoS 2, as a
 * will, or is no reading, is taken in `authorizePublish`, the only place of the broker that is asked
 * before it acknowledges. Subscribers get what was kept, from `Audience` and out of their sessions.
 */
export async function startMqttBroker(
  endpoints: MqttEndpoints,
  needs: MqttBrokerNeeds,
): Promise<MqttBroker> {
  const parts = partsOf(needs)
  const { sessions, publisher, distribution } = parts
  const aedes = new IngestBroker(parts)
  await aedes.listen()
  await publishLeftWills(needs, publisher)
  const guards = new MqttGuards(needs.connectionLimits)
  const connections = new Set<MqttConnection>()
  const accept = (socket: ClientSocket) => {
    const place = guards.admission.enter(socket.remoteAddress ?? '')
    if (place === undefined) {
      socket.destroy()
      return
    }
    const connection = new MqttConnection({ socket, guards, place })
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    const certificate = clientCertificateOf(socket)
    if (certificate) sessions.present(connection, certificate)
    aedes.handle(connection)
  }
  const listeners = await MqttListeners.open(endpoints, {
    // Connections in the middle of a handshake may be as many again.
    connectionsMax: 2 * needs.connectionLimits.ofAll,
    mayEnter: (socket) => guards.admission.hasPlace(socket.remoteAddress ?? ''),
    handle: accept,
    onFailure: needs.onFailure,
  })
  const expiry = setInterval(() => sessions.endExpired(needs.nowUs()), expiryCheckMs)
  return {
    port: listeners.port,
    securePort: listeners.securePort,
    setCertificate: (certificate) => listeners.setCertificate(certificate),
    accept,
    stats: () => ({ ...statsOf(parts), ...guards.stats, connections: aedes.connectedClients }),
    sessions: parts.sessionList,
    activeDevices: () => sessions.activeDevices(),
    async publishToUser(userId, { topic, payload, qos }) {
      const inner = innerTopic(topic, userId)
      await distribution.publish({ topic: inner, payload: Buffer.from(payload), qos })
    },
    forgetStream(id) {
      for (const topic of topicsOfStream(id)) guards.topicNames.forget(topic)
    },
    endSessionsOfKey: (apiKeyId) => sessions.endKey(apiKeyId),
    endSessionsOfUser: (userId) => sessions.endUser(userId),
    async close() {
      clearInterval(expiry)
      const closed = listeners.close()
      await closeBroker(aedes)
      // The broker closes its clients; who has not sent a CONNECT yet is none.
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}

function partsOf(needs: MqttBrokerNeeds) {
  const { kept } = needs
  const routes = new Routes(needs)
  const rights = new Rights(needs)
  const sessions = new Sessions({
    ...needs,
    mayPublishTo: (session, topic) => rights.mayPublishTo(session, topic),
  })
  const audience = new Audience()
  const distribution = new Distribution(audience, kept)
  const fanOut = new FanOut({ ...needs, distribution })
  for (const filter of kept.filters()) fanOut.listen(filter)
  const drops = new Drops(needs.droppedPublishes)
  const publisher = new Publisher({ ...needs, sessions, routes, drops, distribution, fanOut })
  kept.begin(sessionRules(sessions, rights))
  const subscriptions = new Subscriptions({
    rights,
    audience,
    store: kept,
    onFilter: (filter) => fanOut.listen(filter),
  })
  return {
    ...needs,
    kept,
    sessions,
    audience,
    distribution,
    fanOut,
    drops,
    publisher,
    subscriptions,
    sessionList: new SessionList({ sessions, audience, kept }),
  }
}

function statsOf({
  publisher,
  audience,
  subscriptions,
  drops,
  fanOut,
  unrouted,
}: ReturnType<typeof partsOf>) {
  return {
    ...publisher.stats,
    ...audience.stats,
    ...subscriptions.stats,
    dropped: drops.total,
    fanOutWaiting: fanOut.waiting,
    fanOutDropped: fanOut.stats.dropped,
    unrouted: unrouted.stats,
  }
}

async function closeBroker(aedes: Aedes): Promise<void> {
  await new Promise<void>((resolve) => {
    aedes.close(resolve)
  })
}
