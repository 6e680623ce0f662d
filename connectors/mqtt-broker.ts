import { callbackify } from 'node:util'
import { Aedes, type AedesOptions, type Client, type PublishPacket } from 'aedes'
import type { UserId } from '../src/core/ids.ts'
import type { MqttSessions } from '../src/mqtt-sessions/mqtt-sessions.ts'
import { oldClientIdLengthMax } from './mqtt-client-ids.ts'
import { type ClientSocket, MqttConnection } from './mqtt-connection.ts'
import { type GuardStats, MqttGuards } from './mqtt-guards.ts'
import { type MqttKeepingNeeds, publishLeftWills, sessionRules } from './mqtt-keeping.ts'
import { type MqttCertificate, type MqttEndpoints, MqttListeners } from './mqtt-listeners.ts'
import { type MqttPublisherNeeds, Publisher } from './mqtt-publisher.ts'
import { mayPublishInSpace, Rights } from './mqtt-rights.ts'
import {
  type ActiveDevice,
  type MqttSessionNeeds,
  Sessions,
  tooManySessions,
} from './mqtt-sessions.ts'

/** CONNACK with return code 2, table 3.1: the broker itself would only close. */
const connackIdentifierRejected = Buffer.from([0x20, 2, 0, 2])

/** QoS 2 messages of one client that may wait for its PUBREL: the broker keeps them in memory. */
const exchangesMax = 100

/** How late a session ends whose key or token has expired, at most. */
const expiryCheckMs = 1_000

export interface MqttBrokerNeeds
  extends MqttPublisherNeeds,
    MqttKeepingNeeds,
    Omit<MqttSessionNeeds, 'mayPublishTo'> {
  readonly onClientError: (clientId: string | null, error: Error) => void
}

export interface MqttBrokerStats extends GuardStats {
  readonly connections: number
  readonly published: number
  /** Messages to a topic that is no stream of the client's user: acknowledged, not kept. */
  readonly dropped: number
}

export interface MqttBroker {
  /** Undefined when there is none. */
  readonly port: number | undefined
  /** Of MQTT over TLS; undefined when there is none. */
  readonly securePort: number | undefined
  /** New connections over TLS get this certificate. */
  setCertificate(certificate: MqttCertificate): void
  /** Takes a connection that has come in elsewhere, as one of its own ports. */
  readonly accept: (socket: ClientSocket) => void
  stats(): MqttBrokerStats
  /** The devices that have sent something since this was asked the last time. */
  activeDevices(): readonly ActiveDevice[]
  /** Ends at once every session that was opened with this key, or with a token of it. */
  endSessionsOfKey(apiKeyId: string): void
  /** Ends at once every session of this user. */
  endSessionsOfUser(userId: UserId): void
  close(): Promise<void>
}

/**
 * An MQTT 3.1.1 broker that devices publish their readings to, on `streams/{streamId}/data`.
 *
 * Readings with QoS 0 and 1 take the short way through `MqttConnection`. What comes with QoS 2, or
 * as a will, is handed to the pipeline in `authorizePublish`, the only place of the broker that is
 * asked before it acknowledges. What is no reading, but a message in the space of a user, is passed on
 * to subscribers by the broker.
 */
export async function startMqttBroker(
  endpoints: MqttEndpoints,
  needs: MqttBrokerNeeds,
): Promise<MqttBroker> {
  const rights = new Rights((id) => needs.streams.find(id))
  const sessions = new Sessions({
    ...needs,
    mayPublishTo: (session, topic) => rights.mayPublishTo(session, topic),
  })
  const publisher = new Publisher(needs, sessions)
  const { kept } = needs
  kept.begin(sessionRules(sessions, needs.streams))
  const aedes = new IngestBroker(brokerOptions({ publisher, sessions, rights, kept }), sessions)
  await aedes.listen()
  await publishLeftWills(needs, publisher, (packet) => passOn(aedes, packet))
  aedes.on('clientReady', (client) => publisher.open(client))
  const onClientError = (client: Client, error: Error) => {
    needs.onClientError(sessions.of(client)?.clientId ?? null, error)
  }
  aedes.on('clientError', onClientError)
  aedes.on('connectionError', onClientError)
  const guards = new MqttGuards()
  const connections = new Set<MqttConnection>()
  const accept = (socket: ClientSocket) => {
    const connection = new MqttConnection(socket, guards)
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    aedes.handle(connection)
  }
  const listeners = await MqttListeners.open(endpoints, accept)
  const expiry = setInterval(() => sessions.endExpired(needs.nowUs()), expiryCheckMs)
  return {
    port: listeners.port,
    securePort: listeners.securePort,
    setCertificate: (certificate) => listeners.setCertificate(certificate),
    accept,
    stats: () => ({ ...publisher.stats, ...guards.stats, connections: aedes.connectedClients }),
    activeDevices: () => sessions.activeDevices(),
    endSessionsOfKey: (apiKeyId) => sessions.endKey(apiKeyId),
    endSessionsOfUser: (userId) => sessions.endUser(userId),
    async close() {
      clearInterval(expiry)
      const closed = listeners.close()
      await new Promise<void>((resolve) => {
        aedes.close(resolve)
      })
      // The broker closes its clients; who has not sent a CONNECT yet is none.
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}

interface Parts {
  readonly publisher: Publisher
  readonly sessions: Sessions
  readonly rights: Rights
  readonly kept: MqttSessions
}

function brokerOptions({ publisher, sessions, rights, kept }: Parts): AedesOptions {
  return {
    persistence: kept.persistence,
    maxInflightInbound: exchangesMax,
    maxClientsIdLength: oldClientIdLengthMax,
    preConnect(client, packet, callback) {
      // [MQTT-3.1.3-8]: an empty client id has no session that could be kept.
      if (packet.clientId === '' && !packet.clean) {
        client.conn.write(connackIdentifierRejected)
        callback(new Error('an empty client id needs a clean session'), false)
        return
      }
      callbackify(() => sessions.admit(client, packet))((error) => callback(error, error === null))
    },
    authenticate(client, _, __, done) {
      const hasRoom = client.clean || kept.hasRoomFor(client.id)
      const refusal = sessions.refusalOf(client) ?? (hasRoom ? null : tooManySessions)
      setImmediate(done, refusal, refusal === null)
    },
    authorizePublish: (client, packet, done) => publisher.publish(client, packet, done),
    authorizeForward: (client, packet) => kept.forward(client, packet),
    authorizeSubscribe(client, subscription, callback) {
      const allowed = async () => {
        const session = sessions.of(client)
        const { topic } = subscription
        const isAllowed = session !== undefined && (await rights.maySubscribeTo(session, topic))
        return isAllowed && kept.grant(client, subscription)
      }
      callbackify(allowed)((error, isAllowed) => callback(error, isAllowed ? subscription : null))
    },
  }
}

async function passOn(aedes: Aedes, packet: PublishPacket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  aedes.publish(packet, (error) => (error ? reject(error) : resolve()))
  await promise
}

/** Readings of clients end at the pipeline; what they send in their user's space is passed on. */
class IngestBroker extends Aedes {
  readonly #sessions: Sessions

  constructor(options: AedesOptions, sessions: Sessions) {
    super(options)
    this.#sessions = sessions
  }

  override publish(
    packet: PublishPacket,
    client: Client | null | ((error?: Error) => void),
    done?: (error?: Error) => void,
  ): void {
    if (typeof client === 'function') {
      super.publish(packet, client)
      return
    }
    const session = client ? this.#sessions.of(client) : undefined
    const isForOthers = session !== undefined && mayPublishInSpace(session, packet.topic)
    if (isForOthers) super.publish(packet, done ?? (() => undefined))
    else done?.()
  }
}
