import { packetType } from './fixed-header.ts'

/** What a client may send of what is not a reading: so many units at once, and then so many a second. */
const burstUnits = 10_000
const unitsPerSecond = 5_000

/** How long a client may be held back for its requests before it is closed. */
const heldBackMsMax = 30_000

/**
 * What a packet costs. Messages of a space of one's own: 5,000 a second. PINGREQ, SUBSCRIBE and
 * UNSUBSCRIBE, which nobody needs often: 100 a second, and fewer with many filters. Acknowledgements
 * and QoS 2 have no rate: others decide how many there are, or there is a window for them.
 */
function unitsOf(type: number, qos: number, filters: number): number {
  switch (type) {
    case packetType.publish:
      return qos === 2 ? 0 : 1
    case packetType.pingreq:
    case packetType.subscribe:
    case packetType.unsubscribe:
      return 50 + 5 * filters
    default:
      return 0
  }
}

/** A packet of a client, as far as its rate is concerned. */
export interface RatedPacket {
  readonly type: number
  readonly qos: number
  readonly filters: number
}

/** The rate of one client: the generic cell rate algorithm, which is one number. */
export class PacketRate {
  /** When there is nothing against this client any more. */
  #clearAtMs = 0
  /** Time since which it has been held back again and again. */
  #heldBackSinceMs: number | undefined

  /** Counts a packet; how long it has to wait (ms). Undefined: the client has to go. */
  waitMs({ type, qos, filters }: RatedPacket, nowMs: number): number | undefined {
    const units = unitsOf(type, qos, filters)
    if (units === 0) return 0
    this.#clearAtMs = Math.max(this.#clearAtMs, nowMs) + (units * 1_000) / unitsPerSecond
    const aheadMs = this.#clearAtMs - nowMs
    const waitMs = aheadMs - (burstUnits * 1_000) / unitsPerSecond
    if (waitMs <= 0) {
      // A client that keeps quiet for long enough to send half a burst again is held back no more.
      if (aheadMs < (burstUnits * 500) / unitsPerSecond) this.#heldBackSinceMs = undefined
      return 0
    }
    this.#heldBackSinceMs ??= nowMs
    const isRequest = type !== packetType.publish
    if (isRequest && nowMs - this.#heldBackSinceMs > heldBackMsMax) return undefined
    return waitMs
  }
}
