import { callbackify } from 'node:util'
import type { Client, PublishPacket } from 'aedes'
import { DomainError } from '../src/core/errors.ts'
import type { StreamId } from '../src/core/ids.ts'
import type { MqttSessions } from '../src/mqtt-sessions/mqtt-sessions.ts'
import type { Acceptor, Settled } from '../src/pipeline/connector.ts'
import type { CompiledStream } from '../src/pipeline/reading.ts'
import type { MqttConnection } from './mqtt-connection.ts'
import type { TakenPublish } from './mqtt-framing.ts'
import { type PacketIdentity, Retransmissions, usesReceiptTime } from './mqtt-retransmissions.ts'
import { isStreamOf, mayPublishInSpace } from './mqtt-rights.ts'
import type { Session, Sessions } from './mqtt-sessions.ts'
import { readingsTopicOf } from './mqtt-topics.ts'

/** After a retryable failure a message is offered again this much later; its client waits. */
const retryMs = 250

export interface MqttPublisherNeeds {
  readonly intake: Acceptor
  readonly streams: {
    cached(id: StreamId): CompiledStream | undefined
    find(id: StreamId): Promise<CompiledStream | undefined>
  }
  readonly nowUs: () => number
  readonly kept: MqttSessions
  /** Told of what should not have happened. */
  readonly onFailure: (error: unknown) => void
  /** @throws DomainError when nothing can be accepted now, or too much waits for the disk */
  readonly assertReady: () => void
}

type Done = (error?: Error | null) => void

/** What becomes of what clients publish. */
export class Publisher {
  readonly stats = { published: 0, dropped: 0 }
  readonly #needs: MqttPublisherNeeds
  readonly #sessions: Sessions
  readonly #retransmissions = new Retransmissions()

  constructor(needs: MqttPublisherNeeds, sessions: Sessions) {
    this.#needs = needs
    this.#sessions = sessions
  }

  /** From now on the readings of a connected client are taken out before the broker sees them. */
  open(client: Client): void {
    const session = this.#sessions.of(client)
    const connection = client.conn as MqttConnection
    if (!session) return
    // Who has come back has still what it has sent too much.
    this.#spend(session, 0)
    connection.open((publish, settled) => {
      if (session.topic !== publish.topic) {
        session.topic = publish.topic
        session.streamId = readingsTopicOf(publish.topic)
      }
      if (session.streamId === undefined) return false
      this.stats.published++
      this.#find(session, session.streamId, publish, settled)
      return true
    })
  }

  /** The broker's own way: QoS 2, wills, and topics that are none for readings. */
  publish(client: Client | null, packet: PublishPacket, done: Done): void {
    const session = client ? this.#sessions.of(client) : undefined
    if (!client || !session) {
      done(new Error('who publishes this is not known'))
      return
    }
    this.stats.published++
    const isForOthers = mayPublishInSpace(session, packet.topic)
    // What cannot be kept closes the connection: the client sends it again, and all in order.
    const acted = isForOthers
      ? this.#needs.kept.keep(client, packet)
      : this.#publishReading(client, session, packet)
    callbackify(() => acted)(done)
  }

  /**
   * The will of a client that is connected no more.
   *
   * @param passOn publishes what is for the subscribers of the user's space
   */
  async publishWill(
    session: Session,
    packet: PublishPacket,
    passOn: (packet: PublishPacket) => Promise<void>,
  ): Promise<void> {
    this.stats.published++
    if (mayPublishInSpace(session, packet.topic)) {
      await this.#needs.kept.keep(null, packet)
      await passOn(packet)
    } else await this.#offer(session, takenOf(packet), () => true)
  }

  /** With QoS 2, or as a will. */
  async #publishReading(client: Client, session: Session, packet: PublishPacket): Promise<void> {
    const taken = takenOf(packet)
    const isReading = packet.qos === 2 && readingsTopicOf(packet.topic) !== undefined
    const receipt =
      isReading && !client.clean
        ? await this.#needs.kept.firstReceipt(client, taken.packetId, () =>
            this.#needs.intake.reserve(taken.payload),
          )
        : undefined
    if (receipt?.isTaken) return
    if (receipt !== undefined) {
      this.#retransmissions.remember(identityOf(session, taken), receipt.receivedAtUs)
    }
    // With its first time of receipt at hand it is looked at as if it were sent again.
    const isDuplicate = taken.isDuplicate || receipt !== undefined
    await this.#offer(session, { ...taken, isDuplicate }, () => client.closed)
  }

  /** Resolves when it is durable; tries again after a failure that may pass. */
  async #offer(session: Session, taken: TakenPublish, isClosed: () => boolean): Promise<void> {
    const streamId = readingsTopicOf(taken.topic)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const take = () => {
      this.#find(session, streamId, taken, (error) => {
        if (error === undefined) resolve()
        else if (error.retryable && !isClosed()) setTimeout(take, retryMs)
        else reject(error)
      })
    }
    take()
    await promise
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
    const isOwn = stream !== undefined && isStreamOf(session, stream)
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

  /** A device that sends more than it may is read more slowly. */
  #spend({ device, connection }: Session, readings: number): void {
    if (device?.bucket === undefined) return
    const nowUs = this.#needs.nowUs()
    device.bucket.spend(readings, nowUs)
    const waitMs = device.bucket.waitMs(1, nowUs)
    if (waitMs > 0) connection?.holdFor(waitMs)
  }

  #refusalOf(error: unknown): DomainError {
    if (error instanceof DomainError) return error
    // A bug of ours: it costs this connection, and not the service.
    this.#needs.onFailure(error)
    return new DomainError('overloaded', 'the message could not be handled', { cause: error })
  }

  #accept(session: Session, stream: CompiledStream, publish: TakenPublish, settled: Settled): void {
    this.#needs.assertReady()
    const { payload, topic } = publish
    const { source } = session
    const seenAtUs = publish.isDuplicate
      ? this.#retransmissions.find(identityOf(session, publish))
      : undefined
    const outcome = this.#needs.intake.accept(
      seenAtUs === undefined
        ? { stream, payload, source, topic }
        : { stream, payload, source, topic, receivedAtUs: seenAtUs },
      settled,
    )
    if (session.device?.bucket !== undefined) this.#spend(session, outcome.verdicts.length)
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

function takenOf({ topic, payload, qos, dup, messageId = 0 }: PublishPacket): TakenPublish {
  return { topic, payload: payload as Buffer, qos, isDuplicate: dup, packetId: messageId }
}

function lookUpFailed(error: unknown): DomainError {
  return new DomainError('store_unavailable', 'the stream could not be looked up', {
    cause: error,
    retryAfter: 1,
  })
}
