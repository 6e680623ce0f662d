import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { EmptyAnswers } from '../empty-answers.ts'
import type { Consumption } from './consumer.ts'
import { messageBytesMax, ServerFault } from './frames.ts'

/** Messages and bytes of one request, and requests at a time: together all that may be under way. */
const batchMax = 500
const bytesMax = 1024 * 1024
const requestsMax = 8

/** Messages that may wait for the disk. */
export const unsettledMax = batchMax * requestsMax

/** Nanoseconds after which a request ends by itself, and between signs of life while nothing comes. */
const expiresNs = 30e9
const heartbeatNs = 5e9

/** Status codes of what is no message (ADR-13). */
const status = { heartbeat: 100, notFound: 404, timeout: 408, conflict: 409 } as const

/** Reasons for which a request ends, of those with the status 409, that are none for a run to end. */
const harmless = /message size exceeds maxbytes|batch completed/i
const tooLarge = /message size exceeds maxbytes/i

/** One request for messages, and what became of it. */
interface Slot {
  readonly subscription: Subscription
  readonly inbox: string
  /** Messages that the server may still send; 0: it has ended. */
  open: number
  /** Messages that it has sent and that are not durable yet. */
  unsettled: number
}

export interface RequestListener {
  /** @param settled to be called when it is durable, or of no interest */
  arrive(msg: Msg, settled: () => void): void
  heard(): void
  fail(error: Error): void
}

export interface RequestsNeeds extends Pick<Consumption, 'stream' | 'consumer' | 'limits'> {
  readonly connection: NatsConnection
  readonly prefix: string
  readonly listener: RequestListener
}

/**
 * Asks for messages (pull consumer, ADR-13), for as many as there is room for: what was asked for and what is not
 * durable yet are bounded together.
 */
export class Requests {
  readonly #needs: RequestsNeeds
  readonly #subject: string
  readonly #expiresNs: number
  /** Requests that have ended with nothing. */
  readonly #empty: EmptyAnswers
  readonly #slots: Slot[] = []
  /** The next message is larger than a request allows: it is asked for alone. */
  #isLargeNext = false
  #isAlone = false
  #isOver = false

  constructor(needs: RequestsNeeds) {
    this.#needs = needs
    const { prefix, stream, consumer, limits } = needs
    this.#subject = `${prefix}.CONSUMER.MSG.NEXT.${stream}.${consumer}`
    this.#expiresNs = Math.min(expiresNs, limits.max_expires || expiresNs)
    this.#empty = new EmptyAnswers(this.#expiresNs / 1e6 / requestsMax)
  }

  /** @param inboxOf a name of its own for the answers to each request */
  start(inboxOf: () => string): void {
    const { connection, listener } = this.#needs
    for (let count = 0; count < requestsMax; count++) {
      const inbox = inboxOf()
      const subscription = connection.subscribe(inbox, {
        callback: (error, msg) => {
          if (error) listener.fail(error)
          else this.#hear(slot, msg)
        },
      })
      const slot: Slot = { subscription, inbox, open: 0, unsettled: 0 }
      this.#slots.push(slot)
    }
    this.#refill()
  }

  /** Asks for nothing more, and takes nothing more. */
  end(): void {
    this.#isOver = true
    for (const { subscription } of this.#slots) subscription.unsubscribe()
  }

  get isAsking(): boolean {
    return this.#slots.some(({ open }) => open > 0)
  }

  /** What is thrown while bytes are read would be nobody's. */
  #hear(slot: Slot, msg: Msg): void {
    const { listener } = this.#needs
    if (this.#isOver) return
    try {
      listener.heard()
      if (msg.subject === slot.inbox) this.#end(slot, msg)
      else this.#take(slot, msg)
    } catch (error) {
      listener.fail(error as Error)
    }
  }

  #take(slot: Slot, msg: Msg): void {
    if (slot.open === 0) throw new ServerFault('the server has sent more than was asked for')
    slot.open--
    slot.unsettled++
    this.#isAlone = false
    this.#empty.reset()
    this.#needs.listener.arrive(msg, () => {
      slot.unsettled--
      this.#refill()
    })
  }

  /** A word of the server about a request. */
  #end(slot: Slot, msg: Msg): void {
    const { code = 0, description = '' } = msg.headers ?? {}
    if (code === status.heartbeat) return
    const isUsual = code === status.notFound || code === status.timeout
    if (!isUsual && !(code === status.conflict && harmless.test(description))) {
      throw new Error(`the server ends the requests: ${cutText(description, 200)} (${code})`)
    }
    if (tooLarge.test(description)) {
      if (this.#isAlone) throw new SourceRefused(noRoom)
      this.#isLargeNext = true
    }
    this.#empty.count()
    // Somebody else of a group may have taken it before it was asked for alone.
    this.#isAlone = false
    slot.open = 0
    this.#refill()
  }

  #refill(): void {
    if (this.#isOver) return
    if (this.#isLargeNext) {
      const isIdle = this.#slots.every(({ open, unsettled }) => open === 0 && unsettled === 0)
      const [slot] = this.#slots
      if (!isIdle || slot === undefined) return
      this.#isLargeNext = false
      this.#isAlone = true
      this.#ask(slot, 1, messageBytesMax)
      return
    }
    for (const slot of this.#slots) {
      if (slot.open === 0 && slot.unsettled === 0) this.#ask(slot, batchMax, bytesMax)
    }
  }

  #ask(slot: Slot, batch: number, bytes: number): void {
    const { connection, limits } = this.#needs
    const { max_batch: batchLimit, max_bytes: bytesLimit } = limits
    const expires = this.#expiresNs
    slot.open = Math.min(batch, batchLimit || batch)
    const request = {
      batch: slot.open,
      max_bytes: Math.min(bytes, bytesLimit || bytes),
      expires,
      // The heartbeat is half of the time at most.
      idle_heartbeat: Math.min(heartbeatNs, Math.floor(expires / 2)),
    }
    connection.publish(this.#subject, JSON.stringify(request), { reply: slot.inbox })
  }
}

const noRoom =
  'the next message is larger than the consumer allows to be asked for (max_request_max_bytes)'
