import type { ConsumeMessage } from 'amqplib'
import type { MessageOutcome } from '../../src/contracts/connector.ts'
import { contextTexts } from '../../src/contracts/context-texts.ts'
import {
  type FetchedMessage,
  type FetchRun,
  SourceRefused,
} from '../../src/contracts/fetch-connector.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { tooLarge } from '../message-size.ts'
import { usesReceiptTime } from '../mqtt-broker/retransmissions.ts'
import type { AmqpOptions } from './options.ts'
import type { Receipts } from './receipts.ts'
import type { AmqpSession } from './session.ts'
import { offsetOf, type StreamReader } from './stream-reader.ts'

/** Memory that messages may take that are not durable yet; what has arrived already may be a little more. */
const unsettledBytesMax = 4 * 1024 * 1024

/** Seconds since the epoch that can be microseconds. */
const secondsMax = Number.MAX_SAFE_INTEGER / 1_000_000

/** Characters of a routing key, and of a type, that are kept. */
const shownLength = 200

interface Delivery {
  readonly message: FetchedMessage
  /** Undefined where the message has none. */
  readonly messageId: string | undefined
  readonly payload: Buffer
}

interface DeliveriesNeeds {
  readonly session: AmqpSession
  readonly options: AmqpOptions
  readonly run: Pick<FetchRun, 'accept'>
  readonly receipts: Receipts
  /** Where the queue is a stream. */
  readonly stream?: StreamReader | undefined
  /** Whether the server is told what is durable. */
  readonly acknowledges: boolean
}

/** Hands over what a server delivers, and acknowledges what is durable. */
export class Deliveries {
  readonly #needs: DeliveriesNeeds
  #batch: Delivery[] = []
  #newestTag = 0
  #unsettled = 0
  #unsettledBytes = 0
  #isClosing = false
  readonly #closed = Promise.withResolvers<void>()

  constructor(needs: DeliveriesNeeds) {
    this.#needs = needs
  }

  /** @param delivered null when the server has ended the subscription (RabbitMQ, consumer cancellation) */
  readonly hear = (delivered: ConsumeMessage | null): void => {
    const { session, stream, acknowledges } = this.#needs
    const cutFrom = session.gate.takeCut()
    if (delivered === null) {
      session.fail(new Error('the server has ended the subscription: is the queue still there?'))
      return
    }
    if (this.#isClosing) return
    try {
      if (stream?.passesOver(delivered) === true) {
        session.channel.ack(delivered)
        return
      }
      if (stream === undefined && acknowledges) assertNoStream(delivered)
    } catch (error) {
      this.#isClosing = true
      session.fail(error as Error)
      return
    }
    this.#take(delivered, cutFrom)
  }

  /** Takes no more; resolves when what was taken is durable and acknowledged, or has failed. */
  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#unsettled > 0) await this.#closed.promise
  }

  #take(delivered: ConsumeMessage, cutFrom: number | undefined): void {
    // Messages that arrive together become one batch.
    if (this.#batch.length === 0) queueMicrotask(() => this.#handOver())
    this.#batch.push(this.#deliveryOf(delivered, cutFrom))
    this.#newestTag = delivered.fields.deliveryTag
    this.#unsettled++
    this.#unsettledBytes += delivered.content.length
    this.#flow()
  }

  #deliveryOf(delivered: ConsumeMessage, cutFrom: number | undefined): Delivery {
    const { receipts, options } = this.#needs
    const { content: payload, fields } = delivered
    const messageId: unknown = delivered.properties.messageId
    const id = typeof messageId === 'string' && messageId !== '' ? messageId : undefined
    const isKnown = fields.redelivered && id !== undefined
    const receivedAtUs = isKnown ? receipts.find(id, payload) : undefined
    const message = fetchedMessage(delivered, options)
    return {
      messageId: id,
      payload,
      message: {
        ...message,
        ...(receivedAtUs !== undefined && { receivedAtUs }),
        ...(cutFrom !== undefined && { problem: tooLarge(cutFrom) }),
      },
    }
  }

  #handOver(): void {
    const { run, stream, session } = this.#needs
    const batch = this.#batch
    const tag = this.#newestTag
    this.#batch = []
    const messages = batch.map(({ message }) => message)
    const accepted = run.accept(messages, stream?.position)
    accepted
      .then((outcomes) => this.#keep(batch, outcomes, tag))
      .catch((error: Error) => session.fail(error))
      .finally(() => this.#finish(batch))
  }

  #keep(
    batch: readonly Delivery[],
    outcomes: readonly MessageOutcome[],
    newestTag: number,
  ): undefined {
    for (const [index, outcome] of outcomes.entries()) {
      const { messageId, payload } = batch[index] ?? {}
      if (messageId === undefined || payload === undefined) continue
      if (!usesReceiptTime(outcome)) continue
      this.#needs.receipts.remember(messageId, payload, outcome.receivedAtUs)
    }
    this.#acknowledge(newestTag)
  }

  /** Acknowledges a delivery with all before it: what was accepted later is durable later. */
  #acknowledge(deliveryTag: number): void {
    const { session, acknowledges } = this.#needs
    if (!acknowledges) return
    session.channel.ack({ fields: { deliveryTag } } as ConsumeMessage, true)
  }

  #finish(batch: readonly Delivery[]): void {
    this.#unsettled -= batch.length
    for (const { payload } of batch) this.#unsettledBytes -= payload.length
    if (this.#unsettled === 0) this.#closed.resolve()
    this.#flow()
  }

  /**
   * Pauses the server at the limits: most queues hold to the prefetch by themselves, but a stream
   * sends whole chunks.
   */
  #flow(): void {
    const { session, options } = this.#needs
    const isTooMuch = this.#unsettledBytes >= unsettledBytesMax
    session.gate.pause(isTooMuch || this.#unsettled >= options.prefetch)
  }
}

/** A message as the pipeline takes it. */
export function fetchedMessage(
  {
    content,
    fields,
    properties,
  }: {
    readonly content: Buffer
    readonly fields: { readonly routingKey: string }
    readonly properties: AmqpProperties
  },
  options: AmqpOptions,
): FetchedMessage {
  const { queue, subscription, onlyKey, isMapped, endpoint } = options
  const { host, port } = endpoint
  const { type } = properties
  const from = subscription ? `exchange '${subscription.exchange}'` : `queue '${queue}'`
  const key = cutText(fields.routingKey, shownLength)
  const isTyped = typeof type === 'string' && type !== ''
  return {
    payload: content,
    source: `amqp ${from} of ${host}:${port}, routing key '${key}'`,
    topic: fields.routingKey,
    separator: '.',
    ...(fields.routingKey === onlyKey && { isOnlyTopic: true }),
    ...(isTyped && { eventType: cutText(type, shownLength) }),
    ...(isMapped && contextOf(properties)),
  }
}

/** What the server says of a message beside its body (AMQP 0-9-1, section 4.2.6). */
interface AmqpProperties {
  readonly type?: unknown
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  /** Seconds since the epoch. */
  readonly timestamp?: unknown
}

function contextOf({
  headers = {},
  timestamp,
}: AmqpProperties): Pick<FetchedMessage, 'headers' | 'sentAtUs'> {
  const texts = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), headerText(value)] as const,
  )
  const isTimed = Number.isSafeInteger(timestamp) && (timestamp as number) <= secondsMax
  return {
    headers: contextTexts(texts),
    ...(isTimed && { sentAtUs: (timestamp as number) * 1_000_000 }),
  }
}

/** What is no text, number or boolean, such as a table, is left out. */
function headerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** @throws SourceRefused when positions would be lost */
function assertNoStream(delivered: ConsumeMessage): void {
  if (offsetOf(delivered) === undefined) return
  throw new SourceRefused('the queue is a stream: the source has to say so (queueType)')
}
