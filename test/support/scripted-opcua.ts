import * as library from 'node-opcua-client'
import { BadAnswer } from '../../connectors/opcua/connection.ts'
import type { MonitoredItem } from '../../connectors/opcua/options.ts'
import { PartialReadings } from '../../connectors/opcua/partial-readings.ts'
import { Publishing } from '../../connectors/opcua/publishing.ts'
import { Readings } from '../../connectors/opcua/readings.ts'
import { ReportedValues } from '../../connectors/opcua/reported-values.ts'
import { ValueTexts } from '../../connectors/opcua/values.ts'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'

/** Our number of the item that it tells of. */
const handle = 7

const subscriptionId = 1

export interface Retransmitted {
  readonly sequence: number
  /** Without: nothing but the number. */
  readonly value?: number
}

export interface Published extends Retransmitted {
  readonly available?: readonly number[]
  readonly subscription?: number
}

/** A notification of one value, which is measured at a second of its own. */
function notification({ sequence, value }: Retransmitted) {
  return new library.NotificationMessage({
    sequenceNumber: sequence,
    publishTime: new Date(),
    notificationData: value === undefined ? [] : [dataChange(value)],
  })
}

function dataChange(value: number) {
  return new library.DataChangeNotification({
    monitoredItems: [
      {
        clientHandle: handle,
        value: {
          value: { dataType: library.DataType.Int32, value },
          sourceTimestamp: new Date(Date.UTC(2026, 2, 1) + value * 1_000),
        },
      },
    ],
  })
}

interface Script {
  /** A name is that of a state. */
  readonly republish?: (sequence: number) => Retransmitted | string
  /** The count is that of the requests; undefined: no answer. */
  readonly publish?: (count: number) => Published | string | undefined
  /** The last number that was taken before. */
  readonly sequence?: number
  readonly available?: readonly number[]
  readonly fields?: readonly string[]
}

/** A server of OPC UA that answers as a test says, without a connection: service by service. */
export class ScriptedOpcUa {
  readonly #script: Script
  readonly #failed = Promise.withResolvers<Error>()
  readonly messages: FetchedMessage[] = []
  /** Names of what was asked, in its order. */
  readonly asked: string[] = []
  readonly acknowledged: number[] = []
  readonly publishing: Publishing
  position: SourcePosition | undefined
  #publishes = 0

  constructor(script: Script) {
    this.#script = script
    const { sequence = 0, available = [], fields } = script
    const items = (fields ?? [undefined]).map(itemOf)
    const position = { subscription: subscriptionId, firstHandle: handle, startedAt: '', sequence }
    this.publishing = new Publishing({
      connection: {
        library,
        ask: async (request) => (await this.#ask(request)) as never,
        fail: (reason) => this.#failed.resolve(reason),
      },
      subscription: {
        id: subscriptionId,
        position,
        available,
        silenceMs: 60_000,
        publishingMs: 1_000,
        apartMs: 60_000,
        isResumed: true,
        isTransferred: true,
      },
      items,
      readings: new Readings({
        texts: new ValueTexts(library),
        timestampField: 'timestamp',
        source: 'a script',
      }),
      partial: fields && new PartialReadings({ fields, waitMs: 60_000 }),
      reported: new ReportedValues(),
      run: {
        accept: async (messages, kept) => {
          await Promise.resolve()
          this.messages.push(...messages)
          this.position = kept
          return []
        },
      },
    })
  }

  /** Why the connection was given up. */
  get failed(): Promise<Error> {
    return this.#failed.promise
  }

  get values(): number[] {
    return this.messages
      .filter(({ problem }) => problem === undefined)
      .flatMap(({ payload }) =>
        (JSON.parse(Buffer.from(payload).toString()) as readonly { value: number }[]).map(
          ({ value }) => value,
        ),
      )
  }

  get lost(): string[] {
    return this.messages.flatMap(({ problem }) => problem ?? [])
  }

  async #ask(request: object): Promise<unknown> {
    // As a network does: others have their turn.
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    if (request instanceof library.RepublishRequest) {
      const wanted = request.retransmitSequenceNumber
      this.asked.push(`republish ${wanted}`)
      const answer = this.#script.republish?.(wanted) ?? 'BadMessageNotAvailable'
      if (typeof answer === 'string') throw new BadAnswer(answer)
      return new library.RepublishResponse({ notificationMessage: notification(answer) })
    }
    this.asked.push('publish')
    const { subscriptionAcknowledgements } = request as library.PublishRequest
    for (const { sequenceNumber } of subscriptionAcknowledgements ?? []) {
      this.acknowledged.push(sequenceNumber)
    }
    const answer = this.#script.publish?.(this.#publishes++)
    if (answer === undefined) return await new Promise(() => undefined)
    if (typeof answer === 'string') throw new BadAnswer(answer)
    const { available = [], subscription = subscriptionId } = answer
    return new library.PublishResponse({
      subscriptionId: subscription,
      availableSequenceNumbers: [...available],
      notificationMessage: notification(answer),
    })
  }
}

function itemOf(field: string | undefined): MonitoredItem {
  const rates = { samplingInterval: 0, queueSize: 1, deadband: undefined }
  return { nodeId: 'ns=1;s=item', field, ...rates }
}
