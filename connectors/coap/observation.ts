import type { Socket } from 'node:dgram'
import type { NamedOption, ParsedPacket } from 'coap-packet'
import {
  type FetchedMessage,
  type FetchRun,
  SourceRefused,
} from '../../src/contracts/fetch-connector.ts'
import { monotonicMs } from '../../src/core/clock.ts'
import { wholeBody } from './body.ts'
import { Exchanges } from './exchanges.ts'
import { isNewer, type Numbered } from './notification-order.ts'
import { blockOf, bytesOf, maxAgeOf, observeOf } from './options.ts'
import { refusalOf } from './refusals.ts'

/** Notifications that are not durable yet: one that comes then is left out, and not acknowledged. */
const unsettledMax = 256

/** Memory that they take. */
const unsettledBytesMax = 1024 * 1024

/** Bodies in a row that have changed while they were read: one that changes so often cannot be read. */
const changedMax = 10

/** RFC 7641, section 3.3.1: some time behind what is promised, so that not all ask at once. */
const overdueMs = { min: 5_000, max: 15_000 } as const

/** What a timer can wait for, and more than a device should be silent. */
const freshMsMax = 24 * 3_600_000

const observe = (value: 0 | 1): NamedOption => ({ name: 'Observe', value: bytesOf(value) })

interface ObservationNeeds {
  readonly socket: Socket
  readonly run: FetchRun
  /** Options that every request has. */
  readonly options: readonly NamedOption[]
  /** Where readings come from, for a person. */
  readonly source: string
}

/** Observation of one resource of one device, which says each change: RFC 7641. */
export class Observation {
  readonly #needs: ObservationNeeds
  readonly #exchanges: Exchanges
  readonly #ended = Promise.withResolvers<void>()
  #newest: Numbered | undefined
  #overdue: NodeJS.Timeout | undefined
  /** Message ids of what the device waits for an acknowledgement of. */
  readonly #unacknowledged = new Set<number>()
  #unsettled = 0
  #unsettledBytes = 0
  /** Notifications that do not come again and that there was no room for. */
  #leftOut = 0
  /** Whether the device may have a newer state than it has told of. */
  #isBehind = false
  /** Bodies in a row that could not be read whole. */
  #changed = 0
  /** The notification before: each is handed over after it. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #underWay = new Set<Promise<void>>()

  constructor(needs: ObservationNeeds) {
    this.#needs = needs
    this.#ended.promise.catch(() => undefined)
    this.#exchanges = new Exchanges(needs.socket, {
      onNotification: (packet, isAnswer) => this.#take(packet, isAnswer),
      fail: this.#ended.reject,
    })
  }

  /**
   * Follows the resource until the signal of the run is aborted.
   *
   * @throws Error when the device ends it, or is lost
   */
  async follow(): Promise<void> {
    const { signal } = this.#needs.run
    const stop = () => this.#ended.resolve()
    signal.addEventListener('abort', stop)
    try {
      signal.throwIfAborted()
      this.#register()
      await this.#ended.promise
    } finally {
      signal.removeEventListener('abort', stop)
      this.#exchanges.giveUp()
      clearTimeout(this.#overdue)
      // What has come and is not durable yet is nowhere else: it is waited for.
      while (this.#underWay.size > 0) await Promise.all(this.#underWay)
      await this.#exchanges.end([...this.#needs.options, observe(1)])
    }
  }

  #register(): void {
    this.#exchanges.register([...this.#needs.options, observe(0)])
  }

  #take(packet: ParsedPacket, isAnswer: boolean): void {
    const number = observeOf(packet)
    if (!packet.code.startsWith('2.') || number === undefined) {
      this.#exchanges.acknowledge(packet)
      this.#ended.reject(this.#endOf(packet))
      return
    }
    if (packet.confirmable && this.#unacknowledged.has(packet.messageId)) return
    const numbered = { number, atMs: monotonicMs() }
    const isNews = isAnswer || this.#newest === undefined || isNewer(numbered, this.#newest)
    if (!isNews) this.#exchanges.acknowledge(packet)
    else if (this.#isFull()) this.#leaveOut(packet)
    else {
      if (this.#newest === undefined) this.#needs.run.onRunning()
      this.#newest = numbered
      this.#expectNext(packet)
      // Nothing is no reading: a device may have none yet.
      if (packet.payload.length === 0) this.#exchanges.acknowledge(packet)
      else this.#keep(packet)
    }
  }

  /** Why a device tells nothing more with this. */
  #endOf(packet: ParsedPacket): Error {
    if (!packet.code.startsWith('2.')) return refusalOf(packet)
    if (this.#newest !== undefined) return new Error('the device has ended the observation')
    return new SourceRefused('the device does not let this resource be observed (RFC 7641)')
  }

  #isFull(): boolean {
    return this.#unsettled >= unsettledMax || this.#unsettledBytes >= unsettledBytesMax
  }

  /** What is confirmable comes again when it is not acknowledged. */
  #leaveOut({ confirmable }: ParsedPacket): void {
    if (!confirmable) this.#leftOut++
    this.#isBehind = true
  }

  #expectNext(packet: ParsedPacket): void {
    clearTimeout(this.#overdue)
    const { min, max } = overdueMs
    const lateMs = min + Math.random() * (max - min)
    const waitMs = Math.min(maxAgeOf(packet) * 1_000 + lateMs, freshMsMax)
    this.#overdue = setTimeout(() => this.#register(), waitMs)
  }

  #keep(packet: ParsedPacket): void {
    const { length } = packet.payload
    this.#unsettled++
    this.#unsettledBytes += length
    if (packet.confirmable) this.#unacknowledged.add(packet.messageId)
    const before = this.#turn
    const turn = Promise.withResolvers<void>()
    this.#turn = turn.promise
    const keepIt = async () => {
      try {
        await before
        await this.#handOver(packet, turn.resolve)
        this.#exchanges.acknowledge(packet)
      } catch (error) {
        this.#ended.reject(error)
      } finally {
        turn.resolve()
        this.#unacknowledged.delete(packet.messageId)
        this.#unsettled--
        this.#unsettledBytes -= length
      }
      if (this.#unsettled === 0 && this.#isBehind) await this.#catchUp()
    }
    this.#follow(keepIt())
  }

  #follow(work: Promise<void>): void {
    this.#underWay.add(work)
    work.then(
      () => this.#underWay.delete(work),
      () => this.#underWay.delete(work),
    )
  }

  /** @param isPassed to be called when the next one may be handed over, before this one is durable */
  async #handOver(packet: ParsedPacket, isPassed: () => void): Promise<void> {
    const { run, source, options } = this.#needs
    if (blockOf(packet) === undefined) {
      const accepted = run.accept([{ payload: packet.payload, source }])
      isPassed()
      await accepted
      return
    }
    // The rest of it cannot be asked for any more.
    run.signal.throwIfAborted()
    const ask = (more: readonly NamedOption[]) => this.#exchanges.ask([...options, ...more])
    const body = await wholeBody(packet, ask)
    // One such body at a time is in memory.
    if (body === undefined) {
      if (++this.#changed >= changedMax) throw new Error('the state changes while it is read')
      this.#isBehind = true
      return
    }
    this.#changed = 0
    await run.accept([{ ...body, source }])
  }

  /** Says what is missing, and asks for the state as it is now. */
  async #catchUp(): Promise<void> {
    const { run, source } = this.#needs
    this.#isBehind = false
    const count = this.#leftOut
    this.#leftOut = 0
    if (run.signal.aborted) return
    this.#register()
    if (count === 0) return
    const problem = `${count} notifications before this were left out: they came faster than they could be kept`
    const message: FetchedMessage = { payload: Buffer.alloc(0), source, problem }
    await run.accept([message]).catch(this.#ended.reject)
  }
}
