import { callbackify } from 'node:util'
import {
  Aedes,
  type AedesOptions,
  type AedesPublishPacket,
  type Client,
  type PublishPacket,
} from 'aedes'
import type { MqttSessions } from '../../src/ingest/mqtt-sessions/mqtt-sessions.ts'
import type { Audience } from './audience.ts'
import { oldClientIdLengthMax } from './client-ids.ts'
import type { Distribution } from './distribution.ts'
import { packetType } from './guard/fixed-header.ts'
import type { Packet } from './guard/framing.ts'
import type { Publisher } from './publisher.ts'
import { type Sessions, tooManySessions } from './sessions.ts'
import type { Subscriptions } from './subscriptions.ts'
import { outerTopic } from './topics.ts'

/** CONNACK with return code 2, table 3.1: the broker itself would only close. */
const connackIdentifierRejected = Buffer.from([0x20, 2, 0, 2])

/** QoS 2 messages of one client that may wait for its PUBREL: the broker keeps them in memory. */
const exchangesMax = 100

/** Who reads nothing for long is closed by `Outgoing`; the broker only waits. */
const drainTimeoutMs = 24 * 60 * 60 * 1_000

interface IngestBrokerParts {
  readonly sessions: Sessions
  readonly subscriptions: Subscriptions
  readonly publisher: Publisher
  readonly audience: Audience
  readonly distribution: Distribution
  readonly kept: MqttSessions
  readonly onClientError: (clientId: string | null, error: Error) => void
}

/**
 * The library's broker, for CONNECT, the exchanges of packets, wills and retained messages. It has
 * no say in who gets what now: that is the business of `Audience`.
 */
export class IngestBroker extends Aedes {
  readonly #parts: IngestBrokerParts

  constructor(parts: IngestBrokerParts) {
    super(optionsOf(parts))
    this.#parts = parts
    const { sessions, subscriptions, publisher } = parts
    this.on('clientReady', (client) => {
      const session = sessions.of(client)
      if (!session) return
      publisher.open(client, async (packet: Packet) => {
        const type = (packet.bytes[packet.start] as number) >> 4
        if (type === packetType.subscribe) {
          return await subscriptions.subscribe({ client, session }, packet)
        }
        await subscriptions.unsubscribe({ client, session }, packet)
        return undefined
      })
    })
    const onError = (client: Client, error: Error) => {
      parts.onClientError(sessions.of(client)?.clientId ?? null, error)
    }
    this.on('clientError', onError)
    this.on('connectionError', onError)
  }

  /** What the broker says to itself, on `$SYS`, is for nobody. */
  override publish(
    packet: PublishPacket,
    client: Client | null | ((error?: Error) => void),
    done?: (error?: Error) => void,
  ): void {
    if (typeof client === 'function') client()
    else {
      this.#parts.distribution.passOn(packet)
      done?.()
    }
  }
}

function optionsOf(parts: IngestBrokerParts): AedesOptions {
  const { sessions, subscriptions, publisher, audience, kept } = parts
  return {
    persistence: kept.persistence,
    mq: nobody,
    maxInflightInbound: exchangesMax,
    drainTimeout: drainTimeoutMs,
    maxClientsIdLength: oldClientIdLengthMax,
    preConnect(client, packet, callback) {
      // [MQTT-3.1.3-8]: an empty client id has no session that could be kept.
      if (packet.clientId === '' && !packet.clean) {
        client.conn.write(connackIdentifierRejected)
        callback(new Error('an empty client id needs a clean session'), false)
        return
      }
      client.conn.once('close', () => audience.leave(client))
      callbackify(() => sessions.admit(client, packet))((error) => callback(error, error === null))
    },
    authenticate(client, _, __, done) {
      const hasRoom = client.clean || kept.hasRoomFor(client.id)
      const refusal = sessions.refusalOf(client) ?? (hasRoom ? null : tooManySessions)
      setImmediate(done, refusal, refusal === null)
    },
    authorizePublish: (client, packet, done) => publisher.publish(client, packet, done),
    /** Called by the broker for what `Subscriptions` has granted, and for the filters of a session from before. */
    authorizeSubscribe(client, subscription, callback) {
      const session = sessions.of(client)
      const allowed = async () =>
        session !== undefined && (await subscriptions.confirm({ client, session }, subscription))
      // QoS 2, so that the library does not lower the QoS of a message by one filter of several.
      const known = { ...subscription, qos: 2 } as const
      callbackify(allowed)((error, isAllowed) => callback(error, isAllowed ? known : null))
    },
    authorizeForward: (client, packet) => forward(parts, client, packet),
  }
}

/** What a client is sent by the library itself: retained messages, and what `Audience` has it send. */
function forward(
  { sessions, audience, kept }: IngestBrokerParts,
  client: Client,
  packet: AedesPublishPacket,
): AedesPublishPacket | null {
  const session = sessions.of(client)
  if (session === undefined || session.hasEnded) return null
  // [MQTT-3.8.4-6]: the library looks only for a filter that is spelled like the topic.
  if (packet.retain && client.clean) {
    const granted = audience.grantedFor(client, packet.topic)
    packet.qos = Math.min(packet.qos, granted) as AedesPublishPacket['qos']
  }
  const forwarded = kept.forward(client, packet)
  if (forwarded !== null) forwarded.topic = outerTopic(forwarded.topic)
  return forwarded
}

/** Substitute for the part of the library that calls its subscribers: there are none. */
const nobody = {
  on(_: string, __: unknown, done?: () => void) {
    if (done) setImmediate(done)
  },
  removeListener(_: string, __: unknown, done?: () => void) {
    if (done) setImmediate(done)
  },
  emit(_: unknown, done: () => void) {
    done()
  },
  close(done: () => void) {
    setImmediate(done)
  },
}
