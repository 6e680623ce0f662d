import type { NotificationMessage, PublishResponse } from 'node-opcua-client'
import type { FetchedMessage, FetchRun } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { EmptyAnswers } from '../empty-answers.ts'
import { BadAnswer, type OpcUaConnection } from './connection.ts'
import type { MonitoredItem } from './options.ts'
import type { PartialReadings } from './partial-readings.ts'
import type { Notified, Readings } from './readings.ts'
import type { ReportedValues } from './reported-values.ts'
import { type NumberRange, Retransmission } from './retransmission.ts'
import { isNewer, next } from './sequence-numbers.ts'
import { type Subscription, type SubscriptionPosition, writePosition } from './subscription.ts'

/** Notifications that are under way: asked for, or taken and not durable yet. Servers keep at least as many. */
const openMax = 5

/** Bytes of readings that are not durable yet, beyond which no notification is asked for. */
const unsettledBytesMax = 8 * 1024 * 1024

interface PublishingNeeds {
  readonly connection: Pick<OpcUaConnection, 'library' | 'ask' | 'fail'>
  readonly subscription: Subscription
  readonly items: readonly MonitoredItem[]
  readonly readings: Readings
  /** Undefined: each value is a reading of its own. */
  readonly partial: PartialReadings | undefined
  readonly reported: ReportedValues
  readonly run: Pick<FetchRun, 'accept'>
}

/** The subscription is gone, or another one has its number: a new one is needed. */
export class SubscriptionLost extends Error {
  override readonly name = 'SubscriptionLost'
}

/** The server has said nothing for too long. */
export class ServerSilent extends Error {
  override readonly name = 'ServerSilent'
}

/** States that say that the subscription is gone. */
const lostStates = ['BadSubscriptionIdInvalid', 'BadNoSubscription']

/**
 * Takes the notifications of a subscription, in their order and without a gap where the server still has them, and
 * acknowledges those that are durable. Values that wait for others of their time are durable with the position.
 */
export class Publishing {
  readonly #needs: PublishingNeeds
  readonly #retransmission: Retransmission
  readonly #empty: EmptyAnswers
  #position: SubscriptionPosition
  /** Sequence numbers that are durable, which the server does not know yet. */
  #acknowledgements: number[]
  #openMax = openMax
  #asked = 0
  /** Answers that wait for their turn. */
  #heard = 0
  #unsettled = 0
  #unsettledBytes = 0
  #isCaughtUp = false
  #isClosing = false
  #hasHeard = false
  /** Answers are taken one after the other: a gap has to be filled before what comes after it. */
  #turn: Promise<void> = Promise.resolve()
  #accepted: Promise<unknown> = Promise.resolve()
  #watch: NodeJS.Timeout | undefined
  #wait: NodeJS.Timeout | undefined

  constructor(needs: PublishingNeeds) {
    this.#needs = needs
    const { connection, subscription } = needs
    const { position, available } = subscription
    this.#position = position
    this.#acknowledgements = available.filter((sequence) => !isNewer(sequence, position.sequence))
    this.#empty = new EmptyAnswers(subscription.publishingMs)
    this.#retransmission = new Retransmission({
      connection,
      subscriptionId: subscription.id,
      // One by one: some servers forget what they have sent again.
      take: async (message, lost) => {
        this.#handOver(message, { lost, isMoreToCome: true })
        await this.#accepted
      },
    })
  }

  /** All that was taken, and what of it waits for more. */
  get position(): SourcePosition {
    return writePosition({ ...this.#position, open: this.#needs.partial?.saved ?? [] })
  }

  /** Whether the server has answered at all. */
  get hasHeard(): boolean {
    return this.#hasHeard
  }

  /**
   * What was sent and did not get here.
   *
   * @returns whether the server has answered as it has to where it has no more
   */
  async catchUp(): Promise<boolean> {
    const { subscription } = this.#needs
    if (subscription.isResumed) {
      const { available } = subscription
      await this.#named(this.#retransmission.takeAllAfter(this.#position.sequence, available))
    }
    return !this.#retransmission.isHollow
  }

  /** Takes what comes. */
  start(): void {
    this.#isCaughtUp = true
    this.#waitForMore()
    this.#ask()
  }

  /** Takes no more; resolves when what was taken is durable, or has failed. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#watch)
    clearTimeout(this.#wait)
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
    if (!this.#isCaughtUp || this.#isClosing) return false
    if (this.#unsettledBytes >= unsettledBytesMax) return false
    return this.#asked + this.#heard + this.#unsettled < this.#openMax
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
    const patienceMs = 2 * openMax * subscription.silenceMs
    return await this.#named(connection.ask<PublishResponse>(request, patienceMs))
  }

  #stumble(error: Error): void {
    this.#asked--
    const isTooMany = error instanceof BadAnswer && error.state === 'BadTooManyPublishRequests'
    if (isTooMany && this.#asked > 0) this.#openMax = this.#asked
    else this.#fail(error)
  }

  /** A server that has something to answer to has to answer in time. */
  #listen(): void {
    clearTimeout(this.#watch)
    if (this.#isClosing || this.#asked === 0) return
    this.#watch = setTimeout(() => {
      this.#fail(new ServerSilent('the server has said nothing for too long'))
    }, this.#needs.subscription.silenceMs)
  }

  #hear(response: PublishResponse): void {
    this.#asked--
    this.#hasHeard = true
    this.#heard++
    this.#inTurn(async () => {
      try {
        await this.#take(response)
      } finally {
        this.#heard--
      }
    })
  }

  #inTurn(work: () => Promise<void>): void {
    const before = this.#turn
    const take = async () => {
      await before
      try {
        if (!this.#isClosing) await work()
        this.#waitForMore()
        this.#ask()
      } catch (error) {
        this.#fail(error as Error)
      }
    }
    this.#turn = take()
  }

  async #take(response: PublishResponse): Promise<void> {
    const { subscriptionId, notificationMessage, moreNotifications: isMoreToCome } = response
    const { sequenceNumber, notificationData } = notificationMessage
    const { sequence } = this.#position
    const isOurs = subscriptionId === this.#needs.subscription.id
    const isNews = isOurs && notificationData?.length && isNewer(sequenceNumber, sequence)
    const available = [...(response.availableSequenceNumbers ?? [])]
    if (isNews) {
      const lost = await this.#fill(sequenceNumber, available)
      this.#handOver(notificationMessage, { lost, isMoreToCome })
      return
    }
    this.#empty.count()
    if (!isOurs) return
    if (notificationData?.length) this.#acknowledgements.push(sequenceNumber)
    // One that says only that the server lives has the number of the next one: there may be some before it.
    else if (isNewer(sequenceNumber, next(sequence))) await this.#fill(sequenceNumber, available)
  }

  async #fill(before: number, available: readonly number[]): Promise<readonly NumberRange[]> {
    const { sequence } = this.#position
    return await this.#named(this.#retransmission.takeBetween(sequence, before, available))
  }

  #handOver(
    message: NotificationMessage,
    {
      lost,
      isMoreToCome,
    }: { readonly lost: readonly NumberRange[]; readonly isMoreToCome: boolean },
  ): void {
    const { readings, partial, reported } = this.#needs
    const { notified, ended } = this.#notifiedBy(message)
    const values = readings
      .valuesOf(notified, message.publishTime)
      .filter(({ item, time, fieldValue }) => reported.take(item, time, fieldValue))
    for (const { item, time, fieldValue } of values) {
      partial?.add(time, item.field as string, fieldValue)
    }
    const complete =
      partial === undefined ? readings.long(values) : readings.wide(partial.take(isMoreToCome))
    const gaps = lost.map(({ first, last }) => readings.gap(first, last))
    this.#position = { ...this.#position, sequence: message.sequenceNumber }
    const newest = reported.newestOf(values.map(({ item }) => item))
    this.#accepted = this.#accept([...gaps, ...complete], () => {
      reported.noteDurable(newest)
      this.#acknowledgements.push(message.sequenceNumber)
    })
    if (ended !== undefined) {
      throw new SubscriptionLost(`the server has ended the subscription: ${ended}`)
    }
  }

  /** What has waited long enough goes as it is. */
  #waitForMore(): void {
    clearTimeout(this.#wait)
    const { partial, readings } = this.#needs
    const dueInMs = partial?.dueInMs
    if (partial === undefined || dueInMs === undefined || this.#isClosing) return
    this.#wait = setTimeout(() => {
      this.#inTurn(async () => {
        const timed = partial.take(false)
        if (timed.length > 0) {
          this.#accepted = this.#accept(readings.wide(timed), () => undefined)
        }
      })
    }, dueInMs)
  }

  async #accept(messages: readonly FetchedMessage[], onDurable: () => void): Promise<void> {
    const { run } = this.#needs
    const bytes = messages.reduce((sum, { payload }) => sum + payload.length, 0)
    const { position } = this
    this.#unsettled++
    this.#unsettledBytes += bytes
    try {
      await run.accept(messages, position)
      onDurable()
    } catch (error) {
      this.#fail(error as Error)
    } finally {
      this.#unsettled--
      this.#unsettledBytes -= bytes
    }
    this.#ask()
  }

  /** What a notification tells of items, and why the subscription has ended with it. */
  #notifiedBy({ notificationData }: NotificationMessage) {
    const { DataChangeNotification, StatusChangeNotification } = this.#needs.connection.library
    const notified: Notified[] = []
    let ended: string | undefined
    for (const data of notificationData ?? []) {
      if (data instanceof StatusChangeNotification) {
        // This status is meant for the session that we had before. The next answer says when it is
        // really lost.
        if (data.status.name !== 'GoodSubscriptionTransferred') ended = data.status.name
      }
      if (!(data instanceof DataChangeNotification)) continue
      for (const { clientHandle, value } of data.monitoredItems ?? []) {
        const item = this.#needs.items[clientHandle - this.#position.firstHandle]
        if (item === undefined) throw new SubscriptionLost('the subscription is another one')
        notified.push({ item, value })
      }
    }
    return { notified, ended }
  }

  /** Nothing more is asked for. */
  #fail(error: Error): void {
    this.#isClosing = true
    this.#needs.connection.fail(error)
  }

  /** A subscription that the server does not know any more is lost. */
  async #named<Wanted>(asking: Promise<Wanted>): Promise<Wanted> {
    try {
      return await asking
    } catch (error) {
      if (!(error instanceof BadAnswer) || !lostStates.includes(error.state)) throw error
      throw new SubscriptionLost('the server does not know the subscription any more', {
        cause: error,
      })
    }
  }
}
