import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type { FetchedMessage, FetchRun } from '../../src/contracts/fetch-connector.ts'
import { monotonicMs } from '../../src/core/clock.ts'
import { LruMap } from '../../src/core/lru-map.ts'
import { type Place, placeOf, type StreamMessage } from './arrivals.ts'
import type { Consumption } from './consumer.ts'
import { ServerFault } from './frames.ts'
import { writePosition } from './position.ts'
import { Requests, unsettledMax } from './requests.ts'

/** Messages, and bytes of them, that are handed over together; one more may go beyond. */
const pageMessagesMax = 500
const pageBytesMax = 1024 * 1024

/** Messages that are sent again, one after the other, without a new one among them: no consumer has as many under way. */
const repeatsMax = 4 * unsettledMax

/** A server that was asked gives a sign of life every five seconds. */
const silenceMs = 30_000

const acknowledged = Buffer.from('+ACK')
const notTaken = Buffer.from('-NAK')

interface FollowerNeeds {
  readonly connection: NatsConnection
  /** What subjects of the API of JetStream begin with. */
  readonly prefix: string
  readonly consumption: Consumption
  readonly messageOf: (message: StreamMessage) => FetchedMessage
  readonly run: Pick<FetchRun, 'accept'>
  readonly onFailure: (error: Error) => void
}

/** An arrival that is not durable yet. */
interface Unsettled extends StreamMessage {
  readonly msg: Msg
  readonly settled: () => void
}

/** Hands over what a consumer has, and acknowledges it when it is durable. */
export class Follower {
  readonly #needs: FollowerNeeds
  readonly #requests: Requests
  /** Sequence of the newest message which was handed over, or will be next. */
  #sequence: number
  /** Messages that the consumer has sent. */
  #delivered: number
  /** Where only acknowledgements count: what is under way, which the server may send again meanwhile. */
  readonly #underWay = new Set<number>()
  /**
   * Sequences of what is durable, which it may have sent again before it heard so: no more than it
   * was asked for.
   */
  readonly #durable = new LruMap<number, true>(2 * unsettledMax)
  /** Messages in a row that were known. */
  #repeats = 0
  #page: Unsettled[] = []
  #pageBytes = 0
  #unsettledPages = 0
  #isTurnAwaited = false
  #isClosing = false
  #heardAtMs = monotonicMs()
  readonly #closed = Promise.withResolvers<void>()
  readonly #timer: NodeJS.Timeout

  constructor(needs: FollowerNeeds) {
    this.#needs = needs
    const { connection, consumption, prefix, onFailure } = needs
    this.#sequence = consumption.sequence ?? 0
    this.#delivered = consumption.delivered
    this.#requests = new Requests({
      ...consumption,
      connection,
      prefix,
      listener: {
        arrive: (msg, settled) => this.#arrive(msg, settled),
        heard: () => {
          this.#heardAtMs = monotonicMs()
        },
        fail: onFailure,
      },
    })
    this.#timer = setInterval(() => this.#assertLife(), silenceMs / 6)
  }

  /** @param inboxOf a name of its own for the answers to each request */
  start(inboxOf: () => string): void {
    this.#requests.start(inboxOf)
  }

  /** Takes no more; resolves when what was handed over is durable and acknowledged, or has failed. */
  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true
      clearInterval(this.#timer)
      this.#requests.end()
      // The server is to send it again at once, not after a while.
      for (const { sequence, msg } of this.#page.splice(0)) this.#giveBack(sequence, msg)
      if (this.#unsettledPages === 0) this.#closed.resolve()
    }
    await this.#closed.promise
  }

  #arrive(msg: Msg, settled: () => void): void {
    const place = placeOf(msg.reply ?? '')
    if (place === undefined) throw new ServerFault('the server has sent what is not of a stream')
    const { sequence, storedAtUs } = place
    if (this.#isRepeated(place, msg)) {
      if (++this.#repeats > repeatsMax) {
        throw new ServerFault('the server sends the same messages again and again')
      }
      settled()
      return
    }
    this.#repeats = 0
    this.#page.push({ msg, sequence, storedAtUs, settled })
    this.#pageBytes += msg.data.length
    if (this.#page.length >= pageMessagesMax || this.#pageBytes >= pageBytesMax) this.#handOver()
    else this.#handOverLater()
  }

  /** What is durable, or on its way, and was sent again. */
  #isRepeated({ sequence, delivery }: Place, msg: Msg): boolean {
    const { sequence: durable } = this.#needs.consumption
    if (durable === undefined) {
      const isDurable = this.#durable.get(sequence) === true
      if (isDurable) msg.respond(acknowledged)
      const isKnown = isDurable || this.#underWay.has(sequence)
      if (!isKnown) this.#underWay.add(sequence)
      return isKnown
    }
    // What a server of a cluster has sent to nobody, before another took its place, would come after others.
    if (delivery !== ++this.#delivered) throw new Error('the server has passed over messages')
    if (sequence > this.#sequence) {
      this.#sequence = sequence
      return false
    }
    // What is still on its way is acknowledged in its turn.
    if (sequence <= durable) msg.respond(acknowledged)
    return true
  }

  /** All that has arrived together is one page. */
  #handOverLater(): void {
    if (this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    setImmediate(() => {
      this.#isTurnAwaited = false
      this.#handOver()
    })
  }

  #handOver(): void {
    if (this.#isClosing || this.#page.length === 0) return
    const { run, consumption, messageOf, onFailure } = this.#needs
    const page = this.#page
    this.#page = []
    this.#pageBytes = 0
    this.#unsettledPages++
    const { created, sequence: durable } = consumption
    const sequence = page.at(-1)?.sequence ?? 0
    const position = durable === undefined ? undefined : writePosition({ created, sequence })
    const accepted = async () => {
      try {
        await run.accept(page.map(messageOf), position)
        this.#acknowledge(page)
        this.#finish()
      } catch (error) {
        for (const { sequence: failed, msg } of page) this.#giveBack(failed, msg)
        this.#finish()
        onFailure(error as Error)
      }
    }
    void accepted()
  }

  #acknowledge(page: readonly Unsettled[]): void {
    const { acknowledgesEach } = this.#needs.consumption
    for (const { msg, sequence } of acknowledgesEach ? page : page.slice(-1)) {
      msg.respond(acknowledged)
      if (this.#underWay.delete(sequence)) this.#durable.set(sequence, true)
    }
    for (const { settled } of page) settled()
  }

  /**
   * Refuses a message that was not taken; a consumer of our own sends it again when the next run
   * begins.
   */
  #giveBack(sequence: number, msg: Msg): void {
    this.#underWay.delete(sequence)
    const { connection, consumption } = this.#needs
    if (consumption.sequence === undefined && !connection.isClosed()) msg.respond(notTaken)
  }

  #finish(): void {
    this.#unsettledPages--
    if (this.#unsettledPages > 0) return
    // Nothing was read meanwhile, perhaps.
    this.#heardAtMs = monotonicMs()
    if (this.#isClosing) this.#closed.resolve()
  }

  #assertLife(): void {
    const isWaiting = this.#requests.isAsking && this.#unsettledPages === 0
    if (!isWaiting || monotonicMs() - this.#heardAtMs < silenceMs) return
    this.#needs.onFailure(new Error('the server does not answer requests for messages'))
  }
}
