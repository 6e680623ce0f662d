import { monotonicMs } from '../../../src/core/clock.ts'
import { ClosingError } from './closing.ts'
import { packetType } from './fixed-header.ts'
import { type Packet, variableHeaderAt } from './framing.ts'
import {
  type CheckedConnect,
  type CheckedPacket,
  checkConnect,
  checkPacket,
} from './packet-check.ts'
import { PacketRate, type RatedPacket } from './rates.ts'
import type { BrokerTurns } from './turns.ts'

/** What the broker is given in one go at most: it handles the packets of a client side by side. */
const packetsMax = 32
const bytesMax = 64 * 1024

/** Work of the broker for a CONNECT, see `BrokerTurns`: the credentials, the session. */
const connectUnits = 20

/** PINGRESP, section 3.13. */
const pingresp = Buffer.from([0xd0, 0])

export interface BrokerLaneNeeds {
  readonly turns: BrokerTurns
  /** Takes a SUBSCRIBE or an UNSUBSCRIBE. */
  readonly onFilters: (packet: Packet) => void
  /** Hands bytes to the broker. */
  readonly push: (bytes: Buffer) => void
  /** Answers the client without the broker. */
  readonly answer: (bytes: Buffer) => void
  /** Called with a CONNECT that goes on to the broker: nothing behind it may before it is answered. */
  readonly onConnect: (keepAliveS: number) => void
  /** Called when a CONNECT is answered with this return code. */
  readonly onRefusal: (returnCode: number) => void
  /** Called when the lane has waited and may be free again. */
  readonly resume: () => void
}

/** A packet that is the next for the broker. */
interface Passage {
  readonly units: number
  readonly pass: () => void
}

/**
 * The way of one connection's packets to the broker: checked, at a rate that one client may have, in
 * turns with the other connections, and no more of them than the broker handles at a time.
 */
export class BrokerLane {
  readonly #needs: BrokerLaneNeeds
  #next: Passage | undefined
  /** What the broker was given since it last asked for something. */
  #packets = 0
  #bytes = 0
  #isInLine = false
  #rate: PacketRate | undefined
  #heldBack: NodeJS.Timeout | undefined
  #hasLeft = false

  constructor(needs: BrokerLaneNeeds) {
    this.#needs = needs
  }

  /** True when there is a packet that has not gone on. */
  get hasNext(): boolean {
    return this.#next !== undefined
  }

  /** True when nothing more may be added or passed on at the moment. */
  get isBlocked(): boolean {
    if (this.#isInLine || this.#hasLeft || this.#heldBack !== undefined) return true
    return this.#packets >= packetsMax || this.#bytes >= bytesMax
  }

  /** To be called when the broker has taken what it was given. */
  clear(): void {
    this.#packets = 0
    this.#bytes = 0
  }

  /** Nothing goes on any more. */
  close(): void {
    clearTimeout(this.#heldBack)
    this.#needs.turns.leave(this.#takeTurn)
  }

  /**
   * Makes a packet the next one.
   *
   * @throws ClosingError for what is against the standard, or far too often
   */
  add(packet: Packet): void {
    const first = packet.bytes[packet.start] as number
    const type = first >> 4
    if (type === packetType.connect) {
      const connect = checkConnect(packet)
      this.#next = { units: connectUnits, pass: () => this.#connect(packet, connect) }
      return
    }
    const checked = checkPacket(packet)
    const { filters } = checked
    this.#next = { units: 1 + filters, pass: () => this.#passOn(packet, checked) }
    this.#holdBack({ type, qos: (first >> 1) & 3, filters })
  }

  /** Hands the next packet on, or waits for its turn. */
  passNext(): void {
    if (this.#next === undefined || this.isBlocked) return
    const { units, pass } = this.#next
    if (this.#needs.turns.enter(units, this.#takeTurn)) {
      this.#next = undefined
      pass()
    } else this.#isInLine = true
  }

  readonly #takeTurn = (): void => {
    this.#isInLine = false
    this.#needs.resume()
  }

  #holdBack(packet: RatedPacket): void {
    this.#rate ??= new PacketRate()
    const waitMs = this.#rate.waitMs(packet, monotonicMs())
    if (waitMs === undefined) throw new ClosingError('rate', 'too many packets for too long')
    if (waitMs === 0) return
    this.#heldBack = setTimeout(() => {
      this.#heldBack = undefined
      this.#needs.resume()
    }, waitMs)
  }

  #connect(packet: Packet, { refusal, keepAliveS, keepAliveAt }: CheckedConnect): void {
    if (refusal !== undefined) {
      this.#needs.onRefusal(refusal)
      return
    }
    this.#needs.onConnect(keepAliveS)
    // The broker sees no readings, so it must not watch the keep-alive: 0 is none.
    packet.bytes.writeUInt16BE(0, keepAliveAt)
    this.#push(packet)
  }

  #passOn(packet: Packet, { filters, isTaken }: CheckedPacket): void {
    const type = (packet.bytes[packet.start] as number) >> 4
    // PINGREQ is answered here, so that a client stays whatever the broker waits for
    // ([MQTT-3.12.4-1]).
    if (type === packetType.pingreq) this.#needs.answer(pingresp)
    else if (type === packetType.subscribe && !isTaken) {
      this.#needs.answer(subackOfFailures(packet, filters))
    } else if (type === packetType.subscribe || type === packetType.unsubscribe) {
      this.#needs.onFilters(packet)
    } else {
      // What comes behind it was sent against the standard ([MQTT-3.14.4-2]), and is not looked at.
      this.#hasLeft = type === packetType.disconnect
      this.#push(packet)
    }
  }

  #push({ bytes, start, end }: Packet): void {
    this.#packets++
    this.#bytes += end - start
    this.#needs.push(bytes.subarray(start, end))
  }
}

/** SUBACK with a failure for every filter, section 3.9. */
function subackOfFailures(subscribe: Packet, filters: number): Buffer {
  const at = variableHeaderAt(subscribe)
  const body = Buffer.alloc(2 + filters, 0x80)
  subscribe.bytes.copy(body, 0, at, at + 2)
  const length = [body.length & 0x7f]
  if (body.length >= 128) {
    length[0] = (body.length & 0x7f) | 0x80
    // Two digits are enough: there are fewer filters than 16,384 in the largest SUBSCRIBE.
    length.push(body.length >> 7)
  }
  return Buffer.concat([Buffer.from([0x90, ...length]), body])
}
