import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import { monotonicMs, wallDate } from '../../src/core/clock.ts'
import type { ChangePages } from './change-pages.ts'
import { writePosition } from './log-position.ts'
import type { LogListener, ReplicationConnection } from './replication-connection.ts'

/** Bytes of rows that are not durable yet; what has arrived already may be a little more. */
const unsettledBytesMax = 4 * 1024 * 1024

/** Pages that are handed over and not durable yet: 500 rows each, at most. */
const unsettledPagesMax = 20

/** How often a server hears from us: it takes us for dead after a minute. */
const statusMs = 10_000

/** A server that was asked, and says nothing for so long, is dead. */
const silenceMs = 60_000

/** Bytes of the log that a slot may hold for a table that nothing happens to. */
const idleBytesMax = 1024n * 1024n

/** Types of messages, section 55.4 of the manual. */
const messageType = { log: 0x77, keepAlive: 0x6b, status: 0x72 } as const
const logHeaderBytes = 25

/** Microseconds from 1970 to 2000, which times of the protocol count from. */
const epochUs = 946_684_800_000_000n

interface LogFollowerNeeds {
  readonly connection: ReplicationConnection
  readonly pages: ChangePages
  readonly run: Pick<FetchRun, 'accept'>
  /** All before it is durable. */
  readonly durable: bigint
}

/**
 * Hands over what a server sends, and confirms what is durable. While pages are on their way to the disk, the next
 * ones become larger, and in the end nothing more is read.
 */
export class LogFollower implements LogListener {
  readonly #needs: LogFollowerNeeds
  #durable: bigint
  #unsettledPages = 0
  #unsettledBytes = 0
  #isAskedFor = false
  #isClosing = false
  #heardAtMs = monotonicMs()
  readonly #closed = Promise.withResolvers<void>()
  readonly #timer: NodeJS.Timeout

  constructor(needs: LogFollowerNeeds) {
    this.#needs = needs
    this.#durable = needs.durable
    this.#timer = setInterval(() => this.#remind(), statusMs)
  }

  hear(message: Buffer): void {
    this.#heardAtMs = monotonicMs()
    if (this.#isClosing) return
    const { pages } = this.#needs
    if (message[0] === messageType.log) {
      pages.read(message.subarray(logHeaderBytes))
      if (pages.isFull) this.#handOver()
    } else if (message[0] === messageType.keepAlive) {
      // Keep-alives are sent in the midst of transactions, too.
      if (pages.isBetween) pages.pass(message.readBigUInt64BE(1))
      if (message[17] === 1) this.#isAskedFor = true
    }
  }

  pause(): void {
    const { pages } = this.#needs
    if (this.#unsettledPages === 0 && pages.isBetween) {
      if (!pages.isEmpty || this.#isWorthAPosition()) this.#handOver()
    }
    if (this.#isAskedFor && this.#unsettledPages === 0) this.#confirm(false)
    this.#flow()
  }

  /** Takes no more; resolves when what was taken is durable and confirmed, or has failed. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#timer)
    if (this.#unsettledPages > 0) await this.#closed.promise
  }

  #handOver(): void {
    const { connection, pages, run } = this.#needs
    const { messages, bytes, position } = pages.take()
    this.#unsettledPages++
    this.#unsettledBytes += bytes
    run.accept(messages, writePosition(position)).then(
      () => this.#finish(bytes, position.lsn),
      (error: Error) => {
        this.#finish(bytes, this.#durable)
        connection.fail(error)
      },
    )
  }

  #finish(bytes: number, durable: bigint): void {
    this.#unsettledPages--
    this.#unsettledBytes -= bytes
    this.#durable = durable
    if (this.#unsettledPages > 0) {
      this.#flow()
      return
    }
    this.#confirm(false)
    // Nothing was read meanwhile, perhaps.
    this.#heardAtMs = monotonicMs()
    if (this.#isClosing) this.#closed.resolve()
    else this.pause()
  }

  #flow(): void {
    const bytes = this.#unsettledBytes + this.#needs.pages.bytes
    const isFull = bytes >= unsettledBytesMax || this.#unsettledPages >= unsettledPagesMax
    this.#needs.connection.flow(!isFull)
  }

  /** The server is told only of what is in the journal, so that a slot that was moved by others is found out. */
  #isWorthAPosition(): boolean {
    const passed = this.#needs.pages.reached - this.#durable
    return passed >= idleBytesMax || (this.#isAskedFor && passed > 0n)
  }

  #remind(): void {
    const isReading = this.#unsettledPages === 0
    if (isReading && monotonicMs() - this.#heardAtMs > silenceMs) {
      this.#needs.connection.fail(new Error('the server has said nothing for a minute'))
    } else this.#confirm(true)
  }

  /** Confirms what is durable: written, flushed and applied are the same to us. */
  #confirm(asksForAnswer: boolean): void {
    this.#isAskedFor = false
    const status = Buffer.alloc(34)
    status[0] = messageType.status
    for (const at of [1, 9, 17]) status.writeBigUInt64BE(this.#durable, at)
    status.writeBigInt64BE(BigInt(wallDate().getTime()) * 1_000n - epochUs, 25)
    if (asksForAnswer) status[33] = 1
    this.#needs.connection.send(status)
  }
}
