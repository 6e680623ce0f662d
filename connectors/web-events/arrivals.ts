import type { FetchedMessage, FetchRun } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { type Holder, SharedBytes } from '../mqtt-broker/guard/shared-bytes.ts'

/** Messages that are on their way to the disk, of one source. */
const unsettledMax = 1_000

/** Memory that they take: from then on nothing more is read. */
const unsettledBytesMax = 4 * 1024 * 1024

/** Bytes that all sources of this kind together have been sent, and that are not durable yet. */
const sharedBytesMax = 256 * 1024 * 1024

const shared = new SharedBytes(sharedBytesMax)

/** What has come: a message, how far the source has been read with it, or both. */
export interface Arrival {
  readonly message?: FetchedMessage | undefined
  readonly position?: SourcePosition | undefined
}

interface ArrivalsNeeds {
  readonly run: Pick<FetchRun, 'accept'>
  /** Has the other side go on, or wait. */
  readonly flow: (isOpen: boolean) => void
  /** Ends the connection: what has come could not be kept. */
  readonly fail: (error: Error) => void
}

/**
 * Hands over what has come, in its order. Nothing more is read while much of it is on its way to the disk; what was
 * read with the same bytes waits here.
 */
export class Arrivals implements Holder {
  readonly #needs: ArrivalsNeeds
  #waiting: Arrival[] = []
  #waitingBytes = 0
  #unsettled = 0
  #unsettledBytes = 0
  #hasFailed = false
  #onIdle: (() => void) | undefined

  constructor(needs: ArrivalsNeeds) {
    this.#needs = needs
  }

  /** Adds an arrival; `handOver` has to follow. */
  add(arrival: Arrival): void {
    if (this.#hasFailed) return
    this.#waiting.push(arrival)
    this.#waitingBytes += bytesOf([arrival])
  }

  /** Hands over as much as may be on its way. */
  handOver(): void {
    while (this.#waiting.length > 0 && this.#isOpen()) {
      this.#pass(this.#waiting.splice(0, unsettledMax - this.#unsettled))
    }
    this.#count()
    if (!this.#hasFailed) this.#needs.flow(this.#isOpen())
  }

  /** Resolves when all that has come is durable, or has failed. */
  async finish(): Promise<void> {
    if (!this.#isIdle()) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
  }

  giveBack(): void {
    this.fail(new Error('what event sources have sent takes too much memory'))
  }

  /** What waits is let go. */
  fail(error: Error): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#waiting = []
    this.#waitingBytes = 0
    this.#needs.fail(error)
    if (this.#isIdle()) this.#onIdle?.()
  }

  #pass(arrivals: readonly Arrival[]): void {
    const messages = arrivals.flatMap(({ message }) => (message === undefined ? [] : [message]))
    const position = arrivals.findLast((one) => one.position !== undefined)?.position
    const bytes = bytesOf(arrivals)
    this.#waitingBytes -= bytes
    this.#unsettledBytes += bytes
    this.#unsettled += arrivals.length
    const finish = () => {
      this.#unsettledBytes -= bytes
      this.#unsettled -= arrivals.length
      this.handOver()
      if (this.#isIdle()) this.#onIdle?.()
    }
    this.#needs.run.accept(messages, position).then(finish, (error: Error) => {
      this.fail(error)
      finish()
    })
  }

  #isOpen(): boolean {
    const isFull = this.#unsettled >= unsettledMax || this.#unsettledBytes >= unsettledBytesMax
    return !isFull && !this.#hasFailed
  }

  #isIdle(): boolean {
    return this.#unsettled === 0 && this.#waiting.length === 0
  }

  #count(): void {
    shared.hold(this, this.#waitingBytes + this.#unsettledBytes)
  }
}

function bytesOf(arrivals: readonly Arrival[]): number {
  return arrivals.reduce((sum, { message }) => sum + (message?.payload.length ?? 0), 0)
}
