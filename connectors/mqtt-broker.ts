import { Aedes, type AedesOptions, type Client, type PublishPacket } from 'aedes'
import { type ClientSocket, MqttConnection } from './mqtt-connection.ts'
import { type MqttCertificate, type MqttEndpoints, MqttListeners } from './mqtt-listeners.ts'
import { type MqttPublisherNeeds, Publisher } from './mqtt-publisher.ts'

/** CONNACK with return code 2, table 3.1: the broker itself would only close. */
const connackIdentifierRejected = Buffer.from([0x20, 2, 0, 2])

/** QoS 2 messages of one client that may wait for its PUBREL: the broker keeps them in memory. */
const exchangesMax = 100

/** How late a session ends whose key or token has expired, at most. */
const expiryCheckMs = 1_000

export interface MqttBrokerNeeds extends MqttPublisherNeeds {
  readonly nowUs: () => number
  readonly onClientError: (clientId: string | null, error: Error) => void
}

export interface MqttBrokerStats {
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
  /** Ends at once every session that was opened with this key, or with a token of it. */
  endSessionsOfKey(apiKeyId: string): void
  close(): Promise<void>
}

/**
 * An MQTT 3.1.1 broker that devices publish their readings to, on `streams/{streamId}/data`.
 *
 * Readings with QoS 0 and 1 take the short way through `MqttConnection`. What comes with QoS 2, or
 * as a will, is handed to the pipeline in `authorizePublish`, the only place of the broker that is
 * asked before it acknowledges. Nobody can subscribe yet, therefore nothing is passed on.
 */
export async function startMqttBroker(
  endpoints: MqttEndpoints,
  needs: MqttBrokerNeeds,
): Promise<MqttBroker> {
  const publisher = new Publisher(needs)
  const aedes = new IngestBroker(brokerOptions(publisher))
  await aedes.listen()
  aedes.on('clientReady', (client) => publisher.open(client))
  aedes.on('clientError', (client, error) => needs.onClientError(client.id, error))
  aedes.on('connectionError', (client, error) => needs.onClientError(client.id, error))
  const connections = new Set<MqttConnection>()
  const accept = (socket: ClientSocket) => {
    const connection = new MqttConnection(socket)
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    aedes.handle(connection)
  }
  const listeners = await MqttListeners.open(endpoints, accept)
  const expiry = setInterval(() => publisher.endExpired(needs.nowUs()), expiryCheckMs)
  return {
    port: listeners.port,
    securePort: listeners.securePort,
    setCertificate: (certificate) => listeners.setCertificate(certificate),
    accept,
    stats: () => ({ ...publisher.stats, connections: aedes.connectedClients }),
    endSessionsOfKey: (apiKeyId) => publisher.endKey(apiKeyId),
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

function brokerOptions(publisher: Publisher): AedesOptions {
  return {
    maxInflightInbound: exchangesMax,
    // [MQTT-3.1.3-8]: an empty client id has no session that could be kept.
    preConnect(client, packet, callback) {
      const isNameless = packet.clientId === '' && !packet.clean
      const error = isNameless ? new Error('an empty client id needs a clean session') : null
      if (isNameless) client.conn.write(connackIdentifierRejected)
      callback(error, !isNameless)
    },
    authenticate(client, username, password, done) {
      const error = publisher.authenticate(client, { username, password })
      setImmediate(done, error, error === null)
    },
    authorizePublish: (client, packet, done) => publisher.publish(client, packet, done),
    authorizeSubscribe: (_, __, callback) => callback(null, null),
  }
}

/** Messages of clients end at the pipeline: there is no subscriber to carry them to. */
class IngestBroker extends Aedes {
  override publish(
    packet: PublishPacket,
    client: Client | ((error?: Error) => void),
    done?: (error?: Error) => void,
  ): void {
    if (typeof client === 'function') super.publish(packet, client)
    else done?.()
  }
}
