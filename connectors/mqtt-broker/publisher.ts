import { callbackify } from 'node:util'
import type { Client, PublishPacket } from 'aedes'
import type { Acceptor, Settled } from '../../src/contracts/connector.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { monotonicMs } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { MqttSessions } from '../../src/ingest/mqtt-sessions/mqtt-sessions.ts'
import type {
  DroppedMessage,
  DropReason,
  UnroutedMessages,
} from '../../src/ingest/unrouted/unrouted-messages.ts'
import { Acceptance, type Pending } from './acceptance.ts'
import type { Distribution } from './distribution.ts'
import type { Drops } from './drops.ts'
import { Exchanges } from './exchanges.ts'
import type { FanOut } from './fan-out.ts'
import type { MqttConnection } from './guard/connection.ts'
import type { TakeFilters, TakenPublish } from './guard/framing.ts'
import { takenOf } from './publish-packet.ts'
import { isTakenBy, mayMakeStreams, mayPublishInSpace } from './rights.ts'
import type { DeviceRefusal, Route, Routes } from './routes.ts'
import type { Session, Sessions } from './sessions.ts'
import { innerStreamTopic, innerTopic, isOfSpaces, mayBeOwnTopic } from './topics.ts'

/** After a retryable failure a message is offered again this much later; its client waits. */
const retryMs = 250

export interface MqttPublisherNeeds {
  readonly intake: Acceptor
  readonly nowUs: () => number
  readonly kept: MqttSessions
  /** What shows people the messages that lead nowhere. */
  readonly unrouted: Pick<UnroutedMessages, 'note' | 'stats'>
  /** Called with a failure that should not have happened. */
  readonly onFailure: (error: unknown) => void
  /** @throws DomainError when nothing can be accepted now, or too much waits for the disk */
  readonly assertReady: () => void
}

interface PublisherParts extends MqttPublisherNeeds {
  readonly sessions: Sessions
  readonly routes: Routes
  readonly drops: Drops
  readonly distribution: Distribution
  readonly fanOut: FanOut
  readonly kept: MqttSessions
}

type Done = (error?: Error | null) => void

/** What becomes of what clients publish. */
export class Publisher {
  readonly stats = { published: 0 }
  readonly #parts: PublisherParts
  readonly #acceptance: Acceptance
  readonly #exchanges = new Exchanges()

  constructor(parts: PublisherParts) {
    this.#parts = parts
    this.#acceptance = new Acceptance(parts)
  }

  /** Takes out the readings of a connected client from now on, before the broker sees them. */
  open(client: Client, takeFilters: TakeFilters): void {
    const session = this.#parts.sessions.of(client)
    const connection = client.conn as MqttConnection
    if (!session) return
    // Who has come back has still what it has sent too much.
    this.#acceptance.spend(session, 0)
    connection.open((publish, settled) => {
      if (isOfSpaces(publish.topic.text)) return false
      if (settled === undefined) return true
      this.stats.published++
      if (!this.#takeReading(session, publish, settled)) this.#find({ session, publish, settled })
      return true
    }, takeFilters)
  }

  /** The broker's own way: QoS 2, wills, and what is no reading. */
  publish(client: Client | null, packet: PublishPacket, done: Done): void {
    const session = client ? this.#parts.sessions.of(client) : undefined
    if (!client || !session) {
      done(new Error('who publishes this is not known'))
      return
    }
    this.stats.published++
    const isForOthers = mayPublishInSpace(session, packet.topic)
    // What cannot be kept closes the connection: the client sends it again, and all in order.
    const act = () =>
      isForOthers
        ? this.#parts.distribution.keep(client, packet)
        : this.#publishReading(client, session, packet)
    const acted = this.#exchanges.once(client, packet, act)
    callbackify(() => acted)((error) => done(error))
  }

  /** The will of a client that is connected no more. */
  async publishWill(session: Session, packet: PublishPacket): Promise<void> {
    this.stats.published++
    const { distribution } = this.#parts
    if (mayPublishInSpace(session, packet.topic)) {
      await distribution.keep(null, packet)
      distribution.passOn(packet)
    } else await this.#offer(session, takenOf(packet), () => true)
  }

  /** Publishes a reading with QoS 2, or a will. */
  async #publishReading(client: Client, session: Session, packet: PublishPacket): Promise<void> {
    const { kept, intake } = this.#parts
    const taken = takenOf(packet)
    const receipt =
      packet.qos === 2 && packet.messageId !== undefined
        ? await kept.firstReceipt(client, taken.packetId, () => intake.reserve(taken.payload))
        : undefined
    if (receipt?.isTaken) return
    const publish = receipt ? { ...taken, receivedAtUs: receipt.receivedAtUs } : taken
    await this.#offer(session, publish, () => client.closed)
  }

  /** Resolves when it is durable; tries again after a failure that may pass. */
  async #offer(session: Session, publish: TakenPublish, isClosed: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const settled: Settled = (error) => {
      if (error === undefined) resolve()
      else if (error.retryable && !isClosed()) setTimeout(take, retryMs)
      else reject(error)
    }
    const take = () => this.#find({ session, publish, settled })
    take()
    await promise
  }

  /**
   * Nearly all there is: a reading on the topic of one stream, which is at hand, and of which no other client hears.
   * False for what has to be looked at more closely.
   */
  #takeReading(session: Session, publish: TakenPublish, settled: Settled): boolean {
    const { routes, intake } = this.#parts
    if (session.lookingUp !== undefined) return false
    if (!routes.isCurrent(session.route, publish.topic)) {
      session.route = routes.route(publish.topic, session.userId)
    }
    const { route } = session
    const stream = routes.only(route)
    if (stream === undefined || publish.isRetained || !isTakenBy(session, stream)) return false
    if (route.isPrivate && this.#parts.fanOut.isHeardBy(session.userId)) return false
    try {
      this.#parts.assertReady()
      this.#acceptance.accept(session, publish, stream, settled)
    } catch (error) {
      intake.settleInOrder(settled, this.#refusalOf(error))
    }
    return true
  }

  /** Acknowledgements go out in the order of arrival, so a look-up holds back what follows it. */
  #find(pending: Pending): void {
    const { routes, intake } = this.#parts
    const { session, publish, settled } = pending
    const { topic } = publish
    const before = session.lookingUp
    if (!routes.isCurrent(session.route, topic)) {
      session.route = routes.route(topic, session.userId)
    }
    const { route } = session
    const streams = before === undefined && route ? routes.cached(route) : undefined
    if (route && streams) {
      this.#take(pending, route, streams)
      return
    }
    // What only takes a retained message away is no reading, and makes no stream.
    const isReading = !(publish.isRetained && publish.payload.length === 0)
    const user = { userId: session.userId, mayMakeStreams: isReading && mayMakeStreams(session) }
    if (before !== undefined) routes.prepare(topic, user)
    const lookUp = async (): Promise<void> => {
      const failure = await before
      // It will be offered again: what came behind it is to come behind it then.
      if (failure !== undefined) throw failure
      await routes.load(topic, user, (found, refusal) => {
        if (found.length === 0) this.#parts.drops.slowDown(session)
        this.#take({ ...pending, refusal }, routes.route(topic, session.userId), found)
      })
    }
    const over = (): undefined => {
      if (session.lookingUp === lookingUp) session.lookingUp = undefined
    }
    // Until its client knows of a failure others would overtake it.
    const failed: Settled = (outcome) => {
      settled(outcome)
      over()
    }
    const lookingUp = lookUp().then(over, (error: unknown) => {
      const failure = lookUpFailed(error)
      intake.settleInOrder(failed, failure)
      return failure
    })
    session.lookingUp = lookingUp
  }

  #take(pending: Pending, route: Route, found: readonly CompiledStream[]): void {
    const { session, publish } = pending
    const own = found.filter((stream) => isTakenBy(session, stream))
    if (own.length === 0) {
      if (route.refusal && pending.refusal === undefined) this.#parts.routes.refused(route.refusal)
      this.#drop({ refusal: route.refusal, ...pending })
      return
    }
    const settled = route.isPrivate ? this.#passingOn(pending) : pending.settled
    try {
      // An empty retained message takes away the one that is kept ([MQTT-3.3.1-10]): no reading.
      if (publish.isRetained && publish.payload.length === 0) this.#clear(own, settled)
      else {
        this.#parts.assertReady()
        this.#acceptance.acceptAll({ session, publish, settled }, own)
      }
    } catch (error) {
      this.#parts.intake.settleInOrder(settled, this.#refusalOf(error))
    }
  }

  /** Counted once it is acknowledged: while the disk is full it is offered again and again. */
  #drop({ session, publish, settled, refusal }: Pending): void {
    const dropped = droppedOf(session, publish, refusal)
    this.#parts.intake.settleInOrder((error) => {
      settled(error)
      if (error !== undefined) return
      this.#parts.unrouted.note(dropped)
      const reason = this.#parts.drops.count(session, monotonicMs())
      // The acknowledgement goes first.
      if (reason) setImmediate(() => session.connection?.destroy(reason))
    })
  }

  /** Other clients of the user may have subscribed to the topic: they get what is durable. */
  #passingOn({ session, publish, settled }: Pending): Settled {
    const { fanOut } = this.#parts
    if (!publish.isRetained && !fanOut.isHeardBy(session.userId)) return settled
    const { payload, qos, isRetained } = publish
    const topic = innerTopic(publish.topic.text, session.userId)
    return (error) => {
      settled(error)
      if (error === undefined) fanOut.add({ topic, payload, qos, isRetained })
    }
  }

  #clear(streams: readonly CompiledStream[], settled: Settled): void {
    const { fanOut, intake } = this.#parts
    const payload = Buffer.alloc(0)
    for (const { streamId, ownerId } of streams) {
      const topic = innerStreamTopic({ streamId, part: 'data' }, ownerId)
      fanOut.add({ topic, payload, qos: 0, isRetained: true })
    }
    intake.settleInOrder(settled)
  }

  #refusalOf(error: unknown): DomainError {
    if (error instanceof DomainError) return error
    // A bug of ours: it costs this connection, and not the service.
    this.#parts.onFailure(error)
    return new DomainError('overloaded', 'the message could not be handled', { cause: error })
  }
}

function droppedOf(
  session: Session,
  { topic, payload }: TakenPublish,
  refusal: DeviceRefusal | undefined,
): DroppedMessage {
  const { userId, clientId, apiKeyId, device } = session
  const known = session.mayPublish ? refusal : undefined
  const reason = known ?? dropReasonOf(session, topic.text)
  return { userId, topic: topic.text, payload, clientId, apiKeyId, deviceId: device?.id, reason }
}

function dropReasonOf({ mayPublish, route }: Session, topic: string): DropReason {
  if (!mayPublish) return 'no_permission'
  // A stream of the user that is not the device's, or takes no readings of clients.
  const leads = route?.topic === topic && (route.streams?.length ?? 0) > 0
  return mayBeOwnTopic(topic) && !leads ? 'no_stream' : 'not_own'
}

function lookUpFailed(error: unknown): DomainError {
  if (error instanceof DomainError && error.retryable) return error
  return new DomainError('store_unavailable', 'the stream could not be looked up', {
    cause: error,
    retryAfter: 1,
  })
}
