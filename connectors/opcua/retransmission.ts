import type { NotificationMessage, RepublishResponse } from 'node-opcua-client'
import { BadAnswer, type OpcUaConnection } from './connection.ts'
import { between, isNewer, next, previous } from './sequence-numbers.ts'

/** Notifications that are asked for again in one go: no server keeps as many. */
export const askedAgainMax = 10_000

/** Numbers from one to another one. */
export interface NumberRange {
  readonly first: number
  readonly last: number
}

export interface RetransmissionNeeds {
  readonly connection: Pick<OpcUaConnection, 'library' | 'ask'>
  readonly subscriptionId: number
  /** Takes a notification; resolves when the next one may be asked for. */
  readonly take: (message: NotificationMessage, lost: readonly NumberRange[]) => Promise<void>
}

/** Asks again for notifications that were sent and have not arrived: OPC 10000-4, section 5.14.6. */
export class Retransmission {
  readonly #needs: RetransmissionNeeds
  #isHollow = false

  constructor(needs: RetransmissionNeeds) {
    this.#needs = needs
  }

  /** The server has called good what it had nothing to say to. */
  get isHollow(): boolean {
    return this.#isHollow
  }

  /**
   * Takes what comes after a number: what the server says that it has, and then what follows one by one.
   *
   * @param available numbers of notifications that the server still has, where it says so
   */
  async takeAllAfter(sequence: number, available: readonly number[]): Promise<void> {
    let last = sequence
    let asked = 0
    for (const wanted of between(available, sequence, undefined).slice(0, askedAgainMax)) {
      asked++
      if (await this.#takeOne(wanted, last)) last = wanted
    }
    while (asked <= askedAgainMax) {
      asked++
      const wanted = next(last)
      if (!(await this.#takeOne(wanted, last))) return
      last = wanted
    }
    throw new Error(`the server has more than ${askedAgainMax} notifications to send again`)
  }

  /**
   * Takes what is missing between two numbers.
   *
   * @returns numbers behind the last one that was taken, which the server has no more
   */
  async takeBetween(
    after: number,
    before: number,
    available: readonly number[],
  ): Promise<readonly NumberRange[]> {
    let last = after
    const known = between(available, after, before).slice(0, askedAgainMax)
    for (const wanted of known) if (await this.#takeOne(wanted, last)) last = wanted
    // Not all servers say what they have.
    for (let asked = 0; known.length === 0 && asked < askedAgainMax; asked++) {
      const wanted = next(last)
      if (wanted === before || !(await this.#takeOne(wanted, last))) break
      last = wanted
    }
    return missing(last, before)
  }

  /** @param last the number that was taken before: what is between them is lost */
  async #takeOne(wanted: number, last: number): Promise<boolean> {
    const message = await this.#ask(wanted)
    if (message === undefined) return false
    await this.#needs.take(message, missing(last, wanted))
    return true
  }

  /** @throws Error when something else is answered */
  async #ask(wanted: number): Promise<NotificationMessage | undefined> {
    const { connection, subscriptionId } = this.#needs
    const request = new connection.library.RepublishRequest({
      subscriptionId,
      retransmitSequenceNumber: wanted,
    })
    const answer = await connection.ask<RepublishResponse>(request).catch((error: unknown) => {
      if (error instanceof BadAnswer && error.state === 'BadMessageNotAvailable') return undefined
      throw error
    })
    if (answer === undefined) return undefined
    const { notificationMessage: message } = answer
    if (!message?.notificationData?.length) {
      this.#isHollow = true
      return undefined
    }
    if (message.sequenceNumber === wanted) return message
    throw new Error(
      `the server answers with notification ${message.sequenceNumber} when it is asked for ${wanted}`,
    )
  }
}

/** The numbers between two of them, which are one range or none. */
function missing(after: number, before: number): readonly NumberRange[] {
  const first = next(after)
  return isNewer(before, first) ? [{ first, last: previous(before) }] : []
}
