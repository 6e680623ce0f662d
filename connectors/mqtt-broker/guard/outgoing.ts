import type { Duplex } from 'node:stream'
import { ClosingError } from './closing.ts'
import { packetType } from './fixed-header.ts'
import type { MqttGuards } from './guards.ts'
import type { Holder } from './shared-bytes.ts'

/** Bytes that a client has not read, beyond which messages of QoS 0 to it are dropped. */
const unreadBytesForQos0Max = 256 * 1024

/** Bytes beyond which nothing more is kept for it: the connection is closed. */
const unreadBytesMax = 1024 * 1024

/** Who has not read anything for so long will not read any more. */
const stalledMs = 60_000

export interface OutgoingNeeds {
  readonly transport: Duplex
  readonly guards: MqttGuards
  readonly close: (error: ClosingError) => void
}

/**
 * What the broker says to a client. The broker never waits for it: otherwise one subscriber who
 * does not read would hold up whoever publishes, and with them all other subscribers.
 */
export class Outgoing implements Holder {
  readonly #needs: OutgoingNeeds
  #stalled: NodeJS.Timeout | undefined
  #sentBytes = 0

  constructor(needs: OutgoingNeeds) {
    this.#needs = needs
    needs.transport.on('drain', () => this.forget())
  }

  /** True when the client has not read what the system can keep for it. */
  get isFull(): boolean {
    return this.#needs.transport.writableNeedDrain
  }

  /** Writes whole packets. */
  write(packets: Buffer): void {
    const { transport, guards, close } = this.#needs
    if (!this.isFull) this.#send(packets)
    else if (transport.writableLength > unreadBytesMax) close(tooSlow())
    else if (transport.writableLength <= unreadBytesForQos0Max) this.#send(packets)
    else {
      const { kept, dropped } = withoutQos0(packets)
      guards.countUndelivered(dropped)
      if (kept.length > 0) this.#send(kept)
    }
  }

  /** To be called when the client is gone: nothing waits for it any more. */
  forget(): void {
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    this.#needs.guards.unread.hold(this, 0)
  }

  giveBack(): void {
    this.#needs.close(
      new ClosingError('memory', 'what subscribers do not read takes too much memory'),
    )
  }

  #send(bytes: Buffer): void {
    const { transport, guards } = this.#needs
    this.#sentBytes += bytes.length
    if (transport.write(bytes)) return
    if (this.#stalled === undefined) this.#watch()
    guards.unread.hold(this, transport.writableLength)
  }

  /** Who is always sent as much as it reads is never done, and goes on nevertheless. */
  #watch(): void {
    const readBytes = this.#readBytes
    this.#stalled = setTimeout(() => {
      if (this.#readBytes > readBytes) this.#watch()
      else this.#needs.close(tooSlow())
    }, stalledMs)
  }

  get #readBytes(): number {
    return this.#sentBytes - this.#needs.transport.writableLength
  }
}

function tooSlow(): ClosingError {
  return new ClosingError('slow', 'the client does not read what it has subscribed to')
}

/** Leaves the PUBLISHes of QoS 0 out of some whole packets. */
function withoutQos0(packets: Buffer): { readonly kept: Buffer; readonly dropped: number } {
  const kept: Buffer[] = []
  let dropped = 0
  let end: number
  for (let start = 0; start < packets.length; start = end) {
    end = endOf(packets, start)
    const first = packets[start] as number
    const isQos0 = first >> 4 === packetType.publish && (first & 6) === 0
    if (isQos0) dropped++
    else kept.push(packets.subarray(start, end))
  }
  return { kept: Buffer.concat(kept), dropped }
}

/** Where a packet of our own ends. */
function endOf(packets: Buffer, start: number): number {
  let length = 0
  for (let digits = 0; digits < 4; digits++) {
    const digit = packets[start + 1 + digits] ?? 0
    length += (digit & 0x7f) * 128 ** digits
    if (digit < 0x80) return start + 2 + digits + length
  }
  return packets.length
}
