import type { NotificationMessage, PublishResponse, RepublishResponse } from 'node-opcua-client'
import type { FetchedMessage, FetchRun } from '../../src/pipeline/fetch-connector.ts'
import { BadAnswer, type OpcUaConnection } from './connection.ts'
import type { MonitoredItem } from './options.ts'
import type { Notified, Readings } from './readings.ts'
import { type Subscription, type SubscriptionPosition, writePosition } from './subscription.ts'

/** Notifications that are under way: asked for, or taken and not durable yet. Servers keep at least as many. */
const openMax = 5

/** Bytes of readings that are not durable yet, beyond which no notification is asked for. */
const unsettledBytesMax = 8 * 1024 * 1024

/** Numbers go on after the largest one with 1: OPC 10000-4, section 7.26. */
const sequenceMax = 0xffff_ffff

interface PublishingNeeds {
  readonly connection: OpcUaConnection
  readonly subscription: Subscription
  readonly items: readonly MonitoredItem[]
  readonly readings: Readings
  readonly run: Pick<FetchRun, 'accept'>
}

/** What a server sends belongs to another subscription: ours is gone, and its number was given anew. */
export class ForeignSubscription extends Error {
  override readonly name = 'ForeignSubscription'
}

/**
 * Takes the notifications of a subscription, in their order and without a gap where the server still has them, and
 * acknowledges those that are durable.
 */
export class Publishing {
  readonly #needs: PublishingNeeds
  #position: SubscriptionPosition
  /** Durable, and the server does not know yet. */
  #acknowledgements: number[]
  #openMax = openMax
  #asked = 0
  #unsettled = 0
  #unsettledBytes = 0
  #isClosing = false
  /** Answers are taken one after the other: a gap has to be filled before what comes after it. */
  #turn: Promise<void> = Promise.resolve()
  #accepted: Promise<unknown> = Promise.resolve()
  #watch: NodeJS.Timeout | undefined

  constructor(needs: PublishingNeeds) {
    this.#needs = needs
    const { position, available } = needs.subscription
    this.#position = position
    this.#acknowledgements = available.filter((sequence) => !isNewer(sequence, position.sequence))
  }

  /** First what was sent and did not get here, then what comes. */
  async start(): Promise<void> {
    if (this.#needs.subscription.isResumed) await this.#catchUp(undefined)
    this.#ask()
  }

  /** Takes no more; resolves when what was taken is durable, or has failed. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#watch)
    await this.#turn
    await this.#accepted
  }

  #ask(): void {
    while (this.#mayAsk()) {
      this.#asked++
      this.#askOnce().then(
        (response) => this.#hear(response),
        (error: Error) => this.#stumble(error),
      )
    }
    this.#listen()
  }

  #mayAsk(): boolean {
    if (this.#isClosing || this.#unsettledBytes >= unsettledBytesMax) return false
    return this.#asked + this.#unsettled < this.#openMax
  }

  async #askOnce(): Promise<PublishResponse> {
    const { connection, subscription } = this.#needs
    const request = new connection.library.PublishRequest({
      subscriptionAcknowledgements: this.#acknowledgements.map((sequenceNumber) => ({
        subscriptionId: subscription.id,
        sequenceNumber,
      })),
    })
    this.#acknowledgements = []
    return await connection.ask<PublishResponse>(request, 2 * openMax * subscription.silenceMs)
  }

  #stumble(error: Error): void {
    this.#asked--
    const isTooMany = error instanceof BadAnswer && error.state === 'BadTooManyPublishRequests'
    if (isTooMany && this.#asked > 0) this.#openMax = this.#asked
    else this.#needs.connection.fail(error)
  }

  /** A server that has something to answer to has to answer in time. */
  #listen(): void {
    clearTimeout(this.#watch)
    if (this.#isClosing || this.#asked === 0) return
    const { connection, subscription } = this.#needs
    this.#watch = setTimeout(() => {
      connection.fail(new Error('the server has said nothing for too long'))
    }, subscription.silenceMs)
  }

  #hear(response: PublishResponse): void {
    this.#asked--
    this.#turn = this.#takeNext(this.#turn, response)
  }

  async #takeNext(before: Promise<void>, response: PublishResponse): Promise<void> {
    await before
    try {
      if (!this.#isClosing) await this.#take(response)
      this.#ask()
    } catch (error) {
      this.#needs.connection.fail(error as Error)
    }
  }

  async #take({ subscriptionId, notificationMessage }: PublishResponse): Promise<void> {
    const { sequenceNumber, notificationData } = notificationMessage
    // One that says only that the server lives has the number of the next one.
    if (subscriptionId !== this.#needs.subscription.id || !notificationData?.length) return
    if (!isNewer(sequenceNumber, this.#position.sequence)) {
      this.#acknowledgements.push(sequenceNumber)
      return
    }
    const lost = await this.#catchUp(sequenceNumber)
    this.#handOver(notificationMessage, lost)
  }

  /**
   * Asks again for what comes after the last one that was taken: OPC 10000-4, section 5.14.6.
   *
   * @param before undefined: up to the last one that there is
   * @returns a message that tells of those that are lost
   */
  async #catchUp(before: number | undefined): Promise<readonly FetchedMessage[]> {
    const { connection, subscription, readings } = this.#needs
    for (;;) {
      const wanted = next(this.#position.sequence)
      if (wanted === before) return []
      const request = new connection.library.RepublishRequest({
        subscriptionId: subscription.id,
        retransmitSequenceNumber: wanted,
      })
      const answer = await connection.ask<RepublishResponse>(request).catch((error: unknown) => {
        if (error instanceof BadAnswer && error.state === 'BadMessageNotAvailable') return undefined
        throw error
      })
      if (answer === undefined) return before === undefined ? [] : [readings.gap(wanted, before)]
      this.#handOver(answer.notificationMessage, [])
      if (this.#unsettled >= openMax) await this.#accepted
    }
  }

  #handOver(message: NotificationMessage, lost: readonly FetchedMessage[]): void {
    const { readings } = this.#needs
    const told = readings.messagesOf(this.#notifiedBy(message), message.publishTime)
    this.#position = { ...this.#position, sequence: message.sequenceNumber }
    this.#accepted = this.#accept([...lost, ...told], this.#position)
  }

  async #accept(
    messages: readonly FetchedMessage[],
    position: SubscriptionPosition,
  ): Promise<void> {
    const { run, connection } = this.#needs
    const bytes = messages.reduce((sum, { payload }) => sum + payload.length, 0)
    this.#unsettled++
    this.#unsettledBytes += bytes
    try {
      await run.accept(messages, writePosition(position))
      this.#acknowledgements.push(position.sequence)
    } catch (error) {
      connection.fail(error as Error)
    } finally {
      this.#unsettled--
      this.#unsettledBytes -= bytes
    }
    this.#ask()
  }

  #notifiedBy({ notificationData }: NotificationMessage): readonly Notified[] {
    const { DataChangeNotification, StatusChangeNotification } = this.#needs.connection.library
    const notified: Notified[] = []
    for (const data of notificationData ?? []) {
      if (data instanceof StatusChangeNotification) {
        // Meant for the session that we had before. Who has really lost it is told so with the next answer.
        if (data.status.name === 'GoodSubscriptionTransferred') continue
        throw new Error(`the server has ended the subscription: ${data.status.name}`)
      }
      if (!(data instanceof DataChangeNotification)) continue
      for (const { clientHandle, value } of data.monitoredItems ?? []) {
        const item = this.#needs.items[clientHandle - this.#position.firstHandle]
        if (item === undefined) throw new ForeignSubscription('the subscription is another one')
        notified.push({ item, value })
      }
    }
    return notified
  }
}

function next(sequence: number): number {
  return sequence === sequenceMax ? 1 : sequence + 1
}

function isNewer(sequence: number, other: number): boolean {
  return sequence !== other && (sequence - other) >>> 0 < 2 ** 31
}
