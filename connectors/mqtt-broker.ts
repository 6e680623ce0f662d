import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Aedes, type AuthenticateError, type Client, type PublishPacket } from 'aedes'
import type { DomainError } from '../src/core/errors.ts'
import { parseId, type StreamId, type UserId } from '../src/core/ids.ts'
import type { Acceptor, MessageOutcome } from '../src/pipeline/connector.ts'
import type { CompiledStream } from '../src/pipeline/reading.ts'
import { Retransmissions } from './mqtt-retransmissions.ts'

/** After a retryable failure a message is offered again this much later; its client waits. */
const retryMs = 250

/** Packets that a client may send before its CONNACK. */
const earlyPacketsMax = 1_000

/** Connections beyond this are closed at once. */
const connectionsMax = 10_000

/** CONNACK return codes of MQTT 3.1.1, table 3.1. */
const serverUnavailable = 3
const badCredentials = 4

export interface MqttBrokerOptions {
  readonly host: string
  readonly port: number
}

export interface MqttBrokerNeeds {
  readonly intake: Acceptor
  readonly streams: {
    cached(id: StreamId): CompiledStream | undefined
    find(id: StreamId): Promise<CompiledStream | undefined>
  }
  /** The user behind an api key and its secret. */
  readonly authenticate: (key: string, secret: string) => Promise<UserId | undefined>
  /** False when nothing can be accepted now: clients are told so when they connect. */
  readonly isReady: () => boolean
  readonly onClientError: (clientId: string | null, error: Error) => void
}

export interface MqttBrokerStats {
  readonly connections: number
  readonly published: number
  /** Messages to a topic that is no stream of the client's user: acknowledged, not kept. */
  readonly dropped: number
}

export interface MqttBroker {
  readonly port: number
  stats(): MqttBrokerStats
  close(): Promise<void>
}

interface Session {
  readonly userId: UserId
  readonly source: string
  /** Pending while a stream is being looked up: what comes after it has to wait its turn. */
  lookingUp: Promise<void> | undefined
}

type Done = (error?: Error | null) => void

/**
 * An MQTT 3.1.1 broker that devices publish their readings to, on `streams/{streamId}/data`.
 *
 * The acknowledgement is written after `authorizePublish` has called back, so the message is handed
 * to the pipeline there, and the callback waits for the disk. Nobody can subscribe yet, therefore
 * nothing is passed on.
 */
export async function startMqttBroker(
  options: MqttBrokerOptions,
  needs: MqttBrokerNeeds,
): Promise<MqttBroker> {
  const publisher = new Publisher(needs)
  const aedes = new IngestBroker({
    queueLimit: earlyPacketsMax,
    preConnect(_, packet, callback) {
      // [MQTT-3.1.3-8]: an empty client id has no session that could be kept.
      const isNameless = packet.clientId === '' && !packet.clean
      callback(
        isNameless ? new Error('an empty client id needs a clean session') : null,
        !isNameless,
      )
    },
    authenticate(client, username, password, done) {
      void publisher.authenticate(client, { username, password }).then(
        (error) => done(error, error === null),
        () => done(refusal('the service is not available', serverUnavailable), null),
      )
    },
    authorizePublish: (client, packet, done) => publisher.publish(client, packet, done),
    authorizeSubscribe: (_, __, callback) => callback(null, null),
  })
  await aedes.listen()
  aedes.on('clientError', (client, error) => needs.onClientError(client.id, error))
  aedes.on('connectionError', (client, error) => needs.onClientError(client.id, error))
  const server = await listen(options, (socket) => aedes.handle(socket))
  return {
    port: (server.address() as AddressInfo).port,
    stats: () => ({ ...publisher.stats(), connections: aedes.connectedClients }),
    async close() {
      const serverClosed = once(server, 'close')
      server.close()
      await new Promise<void>((resolve) => aedes.close(resolve))
      await serverClosed
    },
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

async function listen(
  { host, port }: MqttBrokerOptions,
  handle: (socket: Socket) => void,
): Promise<Server> {
  const server = createServer({ noDelay: true }, handle)
  server.maxConnections = connectionsMax
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

interface ClientCredentials {
  readonly username: string | undefined
  readonly password: Buffer | undefined
}

/** Who is connected, and what becomes of what they publish. */
class Publisher {
  readonly #needs: MqttBrokerNeeds
  readonly #sessions = new WeakMap<Client, Session>()
  readonly #retransmissions = new Retransmissions()
  #published = 0
  #dropped = 0

  constructor(needs: MqttBrokerNeeds) {
    this.#needs = needs
  }

  stats(): Omit<MqttBrokerStats, 'connections'> {
    return { published: this.#published, dropped: this.#dropped }
  }

  async authenticate(
    client: Client,
    { username, password }: ClientCredentials,
  ): Promise<AuthenticateError | null> {
    if (!this.#needs.isReady()) {
      return refusal('nothing can be accepted now', serverUnavailable)
    }
    const userId = await this.#needs.authenticate(username ?? '', password?.toString() ?? '')
    if (userId === undefined) return refusal('the key or its secret is not valid', badCredentials)
    const { remoteAddress } = client.conn as Socket
    const source = `mqtt client '${client.id}' at ${remoteAddress}`
    this.#sessions.set(client, { userId, source, lookingUp: undefined })
    return null
  }

  publish(client: Client | null, packet: PublishPacket, done: Done): void {
    this.#published++
    const session = client ? this.#sessions.get(client) : undefined
    if (!client || !session) return done(new Error('who publishes this is not known'))
    const id = streamIdOf(packet.topic)
    if (session.lookingUp === undefined) {
      const stream = id === undefined ? undefined : this.#needs.streams.cached(id)
      if (stream || id === undefined) {
        this.#take({ client, session, packet, stream }, done)
        return
      }
    }
    const before = session.lookingUp
    const lookingUp = this.#takeLater({ client, session, packet, id }, before, done).finally(() => {
      if (session.lookingUp === lookingUp) session.lookingUp = undefined
    })
    session.lookingUp = lookingUp
  }

  /** Acknowledgements go out in the order of arrival, so a look-up holds back what follows it. */
  async #takeLater(
    { id, ...publication }: Omit<Publication, 'stream'> & { readonly id: StreamId | undefined },
    before: Promise<void> | undefined,
    done: Done,
  ): Promise<void> {
    await before
    try {
      const stream = id === undefined ? undefined : await this.#needs.streams.find(id)
      this.#take({ ...publication, stream }, done)
    } catch (error) {
      done(error as Error)
    }
  }

  #take(publication: Publication, done: Done): void {
    const { client, session, packet, stream } = publication
    if (!stream || stream.ownerId !== session.userId) {
      this.#dropped++
      this.#needs.intake.settleInOrder((error) => done(error ?? null))
      return
    }
    const payload = packet.payload as Buffer
    const identity = {
      userId: session.userId,
      clientId: client.id,
      packetId: packet.messageId ?? 0,
      payload,
    }
    const seenAtUs = packet.dup ? this.#retransmissions.find(identity) : undefined
    const outcome = this.#needs.intake.accept(
      {
        stream,
        payload,
        source: session.source,
        ...(seenAtUs !== undefined && { receivedAtUs: seenAtUs }),
      },
      (error) => this.#settle(publication, error, done),
    )
    if (packet.qos > 0 && usesReceiptTime(outcome)) {
      this.#retransmissions.remember(identity, outcome.receivedAtUs)
    }
  }

  /**
   * A failure that may pass makes the client wait: it reads no further and so sends no more. Any
   * other closes the connection without an acknowledgement, so the client sends again elsewhere or
   * later.
   */
  #settle(publication: Publication, error: DomainError | undefined, done: Done): void {
    if (error === undefined) done(null)
    else if (error.retryable && !publication.client.closed) {
      setTimeout(() => this.#take(publication, done), retryMs)
    } else done(error)
  }
}

interface Publication {
  readonly client: Client
  readonly session: Session
  readonly packet: PublishPacket
  readonly stream: CompiledStream | undefined
}

function usesReceiptTime({ receivedAtUs, verdicts }: MessageOutcome): boolean {
  return verdicts.some(
    (verdict, index) => verdict.accepted && verdict.timestampUs === receivedAtUs + index,
  )
}

const topicPrefix = 'streams/'
const topicSuffix = '/data'
const topicLength = topicPrefix.length + 36 + topicSuffix.length

/** The stream that a topic means, or nothing. */
function streamIdOf(topic: string): StreamId | undefined {
  const fits =
    topic.length === topicLength && topic.startsWith(topicPrefix) && topic.endsWith(topicSuffix)
  return fits ? parseId<StreamId>(topic.slice(topicPrefix.length, -topicSuffix.length)) : undefined
}

function refusal(message: string, returnCode: number): AuthenticateError {
  return Object.assign(new Error(message), { returnCode })
}
