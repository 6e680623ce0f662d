import type { Socket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import { isWellFormed } from './answer-tags.ts'

/** What one datagram over Ethernet has room for (ANSI/ASHRAE 135, annex J). */
const payloadBytesMax = 1_482

/** Bytes of the 65 segments that are accepted. */
const answerBytesMax = 65 * payloadBytesMax

/** The address that the library believes to send to: the socket is connected, and sends to no other one. */
export const theDevice = { address: 'device' } as const

/** What a request is answered with (clause 20.1): the upper half of the first byte. */
const complexAck = 0x30
const errorPdu = 0x50
const rejectPdu = 0x60
const abortPdu = 0x70
const segmented = 0b1000
const moreFollows = 0b0100

/** BVLC (four bytes: 0x81, original unicast) and NPDU (two bytes: version 1, no addresses, no network message). */
const apduAt = 6

export interface ExpectedAnswer {
  readonly invokeId: number
  readonly service: number
  /** The tag that values are in. */
  readonly valueTag: number
}

/**
 * What the library sends and receives with, for one request. Whatever is not the answer to that does not get to the
 * library, which would reply to some of it, and could be led astray by the rest.
 */
export class GuardedTransport extends EventEmitter {
  readonly #socket: Socket
  readonly #expected: ExpectedAnswer
  #segments: Buffer[] = []
  #bytes = 0
  /** How the device has refused, if it has. */
  refusal: 'reject' | 'abort' | undefined
  /** Whether something came that was dropped. */
  hasDropped = false

  constructor(socket: Socket, expected: ExpectedAnswer) {
    super()
    this.#socket = socket
    this.#expected = expected
  }

  getBroadcastAddress(): string {
    return theDevice.address
  }

  getMaxPayload(): number {
    return payloadBytesMax
  }

  send(buffer: Buffer, length: number): void {
    this.#socket.send(Buffer.from(buffer.subarray(0, length)))
  }

  open(): void {
    this.#socket.on('message', this.#receive)
  }

  close(): void {
    this.#socket.off('message', this.#receive)
  }

  readonly #receive = (datagram: Buffer): void => {
    try {
      if (this.#isAnswer(datagram)) {
        this.emit('message', datagram, theDevice.address)
        return
      }
    } catch {
      // The library throws at what it cannot decode.
    }
    this.hasDropped = true
  }

  #isAnswer(datagram: Buffer): boolean {
    const { invokeId, service, valueTag } = this.#expected
    if (datagram.length < apduAt + 3 || datagram.readUInt16BE(0) !== 0x810a) return false
    if (datagram.readUInt16BE(2) !== datagram.length || datagram[4] !== 1) return false
    // Bits 7, 5 and 3 of the control octet: a message of the network layer, a destination, a source (clause 6.2.2).
    if ((datagram.readUInt8(5) & 0b1010_1000) !== 0 || datagram[apduAt + 1] !== invokeId) {
      return false
    }
    const type = datagram.readUInt8(apduAt)
    switch (type & 0xf0) {
      case complexAck:
        if ((type & segmented) !== 0) return this.#isSegment(datagram)
        return datagram[apduAt + 2] === service && isWellFormed(datagram.subarray(9), valueTag)
      case errorPdu:
        return datagram[apduAt + 2] === service
      case rejectPdu:
        this.refusal = 'reject'
        return true
      case abortPdu:
        this.refusal = 'abort'
        return true
      default:
        return false
    }
  }

  /** The library puts segments together that come in their order, and sends for those that do not. */
  #isSegment(datagram: Buffer): boolean {
    if (datagram.length < apduAt + 5 || datagram[apduAt + 4] !== this.#expected.service)
      return false
    const sequence = datagram.readUInt8(apduAt + 2)
    if (sequence === 0 && this.#segments.length <= 1) {
      this.#segments = []
      this.#bytes = 0
    }
    if (sequence !== this.#segments.length) return true
    this.#segments.push(Buffer.from(datagram.subarray(apduAt + 5)))
    this.#bytes += datagram.length
    if (this.#bytes > answerBytesMax) return false
    if ((datagram.readUInt8(apduAt) & moreFollows) !== 0) return true
    return isWellFormed(Buffer.concat(this.#segments), this.#expected.valueTag)
  }
}
