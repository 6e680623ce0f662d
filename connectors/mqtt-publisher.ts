import type { AuthenticateError, Client, PublishPacket } from 'aedes'
import { DomainError } from '../src/core/errors.ts'
import { parseId, type StreamId, type UserId } from '../src/core/ids.ts'
import type { Acceptor, MessageOutcome, Settled } from '../src/pipeline/connector.ts'
import type { CompiledStream } from '../src/pipeline/reading.ts'
import type { MqttConnection } from './mqtt-connection.ts'
import type { TakenPublish } from './mqtt-framing.ts'
import { type PacketIdentity, Retransmissions } from './mqtt-retransmissions.ts'

/** After a retryable failure a message is offered again this much later; its client waits. */
const retryMs = 250

/** CONNACK return codes of MQTT 3.1.1, table 3.1. */
const connackCode = { serverUnavailable: 3, badCredentials: 4 } as const

export interface MqttPublisherNeeds {
  readonly intake: Acceptor
  readonly streams: {
    cached(id: StreamId): CompiledStream | undefined
    find(id: StreamId): Promise<CompiledStream | undefined>
  }
  /** Who is behind a user name and a password: a key and its secret, or `bearer` and a token. */
  readonly authenticate: (
    username: string,
    password: string,
    address: string,
  ) => MqttCaller | undefined
  /** Told of what should not have happened. */
  readonly onFailure: (error: unknown) => void
  /** @throws DomainError when nothing can be accepted now, or too much waits for the disk */
  readonly assertReady: () => void
  /** False when nothing can be accepted now: clients are told so when they connect. */
  readonly isReady: () => boolean
}

/** Who connects, and what for. */
export interface MqttCaller {
  readonly userId: UserId
  readonly apiKeyId: string
  /** Without it the client may connect, but what it publishes is dropped. */
  readonly mayPublish: boolean
  /** When the session has to end. Undefined: not by itself. */
  readonly expiresAtUs: number | undefined
}

/** Who is connected. */
interface Session extends MqttCaller {
  readonly clientId: string
  readonly source: string
  /** The topic that the client published to last, and the stream that it means. */
  topic: string
  streamId: StreamId | undefined
  /** Pending while a stream is being looked up: what comes after it has to wait its turn. */
  lookingUp: Promise<void> | undefined
  /** Its credentials have ended: nothing is taken from it any more, not even its will. */
  hasEnded: boolean
}

type Done = (error?: Error | null) => void

interface ClientCredentials {
  readonly username: string | undefined
  readonly password: Buffer | undefined
}

/** What becomes of what clients publish. */
export class Publisher {
  readonly stats = { published: 0, dropped: 0 }
  readonly #needs: MqttPublisherNeeds
  readonly #sessions = new WeakMap<Client, Session>()
  /** Sessions whose connection is open: those that can be ended. */
  readonly #open = new Map<MqttConnection, Session>()
  readonly #retransmissions = new Retransmissions()

  constructor(needs: MqttPublisherNeeds) {
    this.#needs = needs
  }

  authenticate(
    client: Client,
    { username, password }: ClientCredentials,
  ): AuthenticateError | null {
    if (!this.#needs.isReady()) return unable
    const connection = client.conn as MqttConnection
    const { remoteAddress = '' } = connection
    const caller = this.#needs.authenticate(
      username ?? '',
      password?.toString() ?? '',
      remoteAddress,
    )
    if (caller === undefined) {
      return refusal('the key or its secret is not valid', connackCode.badCredentials)
    }
    // In the same turn as the check: a key that is revoked right after finds its session here.
    const session: Session = {
      ...caller,
      clientId: client.id,
      source: `mqtt client '${client.id}' at ${remoteAddress}`,
      topic: '',
      streamId: undefined,
      lookingUp: undefined,
      hasEnded: false,
    }
    this.#sessions.set(client, session)
    this.#open.set(connection, session)
    connection.once('close', () => this.#open.delete(connection))
    return null
  }

  /** From now on the readings of a connected client are taken out before the broker sees them. */
  open(client: Client): void {
    const session = this.#sessions.get(client)
    const connection = client.conn as MqttConnection
    if (!session) return
    connection.open((publish, settled) => {
      if (session.topic !== publish.topic) {
        session.topic = publish.topic
        session.streamId = streamIdOf(publish.topic)
      }
      if (session.streamId === undefined) return false
      this.stats.published++
      this.#find(session, session.streamId, publish, settled)
      return true
    })
  }

  /** Ends every session that was opened with this key, or with a token of it. */
  endKey(apiKeyId: string): void {
    this.#end((session) => session.apiKeyId === apiKeyId)
  }

  /** Ends every session whose key or token has expired. */
  endExpired(nowUs: number): void {
    this.#end(({ expiresAtUs }) => expiresAtUs !== undefined && expiresAtUs <= nowUs)
  }

  #end(shouldEnd: (session: Session) => boolean): void {
    for (const [connection, session] of this.#open) {
      if (!shouldEnd(session)) continue
      session.hasEnded = true
      connection.destroy()
    }
  }

  /** The broker's own way: QoS 2, wills, and topics that are none for readings. */
  publish(client: Client | null, packet: PublishPacket, done: Done): void {
    const session = client ? this.#sessions.get(client) : undefined
    if (!client || !session) {
      done(new Error('who publishes this is not known'))
      return
    }
    this.stats.published++
    const taken: TakenPublish = {
      topic: packet.topic,
      payload: packet.payload as Buffer,
      qos: packet.qos,
      isDuplicate: packet.dup,
      packetId: packet.messageId ?? 0,
    }
    const streamId = streamIdOf(packet.topic)
    const take = () => {
      this.#find(session, streamId, taken, (error) => {
        if (error?.retryable && !client.closed) setTimeout(take, retryMs)
        else done(error ?? null)
      })
    }
    take()
  }

  /** Acknowledgements go out in the order of arrival, so a look-up holds back what follows it. */
  #find(
    session: Session,
    streamId: StreamId | undefined,
    publish: TakenPublish,
    settled: Settled,
  ): void {
    const before = session.lookingUp
    const stream = streamId && this.#needs.streams.cached(streamId)
    if (before === undefined && (stream !== undefined || streamId === undefined)) {
      this.#take(session, stream, publish, settled)
      return
    }
    const lookUp = async () => {
      await before
      const found = streamId && (await this.#needs.streams.find(streamId))
      this.#take(session, found, publish, settled)
    }
    const lookingUp = lookUp()
      .catch((error: unknown) => this.#needs.intake.settleInOrder(settled, lookUpFailed(error)))
      .finally(() => {
        if (session.lookingUp === lookingUp) session.lookingUp = undefined
      })
    session.lookingUp = lookingUp
  }

  #take(
    session: Session,
    stream: CompiledStream | undefined,
    publish: TakenPublish,
    settled: Settled,
  ): void {
    const isOwn = stream !== undefined && stream.ownerId === session.userId
    if (!isOwn || stream.isInternal || !session.mayPublish || session.hasEnded) {
      this.stats.dropped++
      this.#needs.intake.settleInOrder(settled)
      return
    }
    try {
      this.#accept(session, stream, publish, settled)
    } catch (error) {
      this.#needs.intake.settleInOrder(settled, this.#refusalOf(error))
    }
  }

  #refusalOf(error: unknown): DomainError {
    if (error instanceof DomainError) return error
    // A bug of ours: it costs this connection, and not the service.
    this.#needs.onFailure(error)
    return new DomainError('overloaded', 'the message could not be handled', { cause: error })
  }

  #accept(session: Session, stream: CompiledStream, publish: TakenPublish, settled: Settled): void {
    this.#needs.assertReady()
    const { payload } = publish
    const { source } = session
    const seenAtUs = publish.isDuplicate
      ? this.#retransmissions.find(identityOf(session, publish))
      : undefined
    const outcome = this.#needs.intake.accept(
      seenAtUs === undefined
        ? { stream, payload, source }
        : { stream, payload, source, receivedAtUs: seenAtUs },
      settled,
    )
    if (publish.qos > 0 && usesReceiptTime(outcome)) {
      this.#retransmissions.remember(identityOf(session, publish), outcome.receivedAtUs)
    }
  }
}

function identityOf(
  { userId, clientId }: Session,
  { packetId, payload }: TakenPublish,
): PacketIdentity {
  return { userId, clientId, packetId, payload }
}

function lookUpFailed(error: unknown): DomainError {
  return new DomainError('store_unavailable', 'the stream could not be looked up', {
    cause: error,
    retryAfter: 1,
  })
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
  // The library's type is a `const enum`, of which nothing is left to name at run time.
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
  return Object.assign(new Error(message), { returnCode })
}

const unable = refusal('nothing can be accepted now', connackCode.serverUnavailable)
