import type { Acceptor, PublishRequest, Settled } from '../../src/contracts/connector.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { FanOut } from './fan-out.ts'
import type { TakenPublish } from './guard/framing.ts'
import { type PacketIdentity, Retransmissions, usesReceiptTime } from './retransmissions.ts'
import type { DeviceRefusal } from './routes.ts'
import type { Session } from './sessions.ts'
import { innerTopic } from './topics.ts'

/** A timer that is set for longer than about 25 days fires at once: a debt can be larger. */
const holdMsMax = 24 * 86_400_000

/** A client publishes to thousands of topics in turn: each is added to its source where a text is needed. */
const showsTopic = true

/** A message of a client that waits to be settled. */
export interface Pending {
  readonly session: Session
  readonly publish: TakenPublish
  readonly settled: Settled
  /** Why a fleet does not take it, where that was found out for it alone. */
  readonly refusal?: DeviceRefusal | undefined
}

interface AcceptanceNeeds {
  readonly intake: Acceptor
  readonly fanOut: FanOut
}

/** Hands readings of clients to the pipeline, those that are sent again as what they are. */
export class Acceptance {
  readonly #needs: AcceptanceNeeds
  readonly #retransmissions = new Retransmissions()

  constructor(needs: AcceptanceNeeds) {
    this.#needs = needs
  }

  accept(session: Session, publish: TakenPublish, stream: CompiledStream, settled: Settled): void {
    const { payload, qos, isRetained } = publish
    const topic = publish.topic.text
    const { source } = session
    const seenAtUs = this.#seenAtUs(session, publish)
    const outcome = this.#needs.intake.accept(
      seenAtUs === undefined
        ? { stream, payload, source, showsTopic, topic, qos, isRetained }
        : { stream, payload, source, showsTopic, topic, qos, isRetained, receivedAtUs: seenAtUs },
      settled,
    )
    if (session.device?.bucket !== undefined) this.spend(session, outcome.verdicts.length)
    if (outcome.request) this.#request(session, outcome.request)
    if (publish.qos > 0 && usesReceiptTime(outcome)) {
      this.#retransmissions.remember(identityOf(session, publish), outcome.receivedAtUs)
    }
  }

  /**
   * A message for several streams has one time of receipt in all of them, so that each knows it when
   * it is sent again. It is settled with the last of its entries.
   */
  acceptAll({ session, publish, settled }: Pending, streams: readonly CompiledStream[]): void {
    const [only] = streams
    if (only && streams.length === 1) {
      this.accept(session, publish, only, settled)
      return
    }
    const receivedAtUs =
      this.#seenAtUs(session, publish) ?? this.#needs.intake.reserve(publish.payload)
    let left = streams.length
    let failure: Parameters<Settled>[0]
    const settledOne: Settled = (error) => {
      failure ??= error
      if (--left === 0) settled(failure)
    }
    for (const stream of streams) {
      this.accept(session, { ...publish, receivedAtUs }, stream, settledOne)
    }
  }

  /** A device that sends more than it may is read more slowly. */
  spend({ device, connection }: Session, readings: number): void {
    if (device?.bucket === undefined) return
    device.bucket.spend(readings)
    const waitMs = device.bucket.waitMs(1)
    if (waitMs > 0) connection?.holdFor(Math.min(waitMs, holdMsMax))
  }

  /** Says something to where the message came from, by the names of its user. */
  #request({ userId }: Session, { topic, payload }: PublishRequest): void {
    const inner = innerTopic(topic, userId)
    this.#needs.fanOut.add({ topic: inner, payload, qos: 0, isRetained: false })
  }

  /** When a message came first, as far as that is known. */
  #seenAtUs(session: Session, publish: TakenPublish): number | undefined {
    if (publish.receivedAtUs !== undefined) return publish.receivedAtUs
    if (!publish.isDuplicate) return undefined
    return this.#retransmissions.find(identityOf(session, publish))
  }
}

function identityOf(
  { userId, device, clientId }: Session,
  { packetId, payload }: TakenPublish,
): PacketIdentity {
  return { userId, deviceId: device?.id, clientId, packetId, payload }
}
