import type { Packet } from './framing.ts'

/** Readings of one client that may be on their way to the disk before it is read further. */
const readingsMax = 2_000

/** Memory that they may keep meanwhile: one packet of the largest size, or many full chunks. */
const bytesMax = 4 * 1024 * 1024

/** Bytes of a PUBACK packet. */
const pubackBytes = 4

/**
 * A reading on its way to the disk. It keeps no more than where its packet stands: what waits for
 * the disk outlives young memory, and is dear.
 */
interface Slot extends Packet {
  /** 0 for QoS 0, which is not acknowledged. */
  readonly packetId: number
  /** Memory that it keeps alive and the slot before it does not. */
  readonly keptBytes: number
  state: 'pending' | 'durable' | 'failed'
}

/**
 * Readings of one client between their arrival and their acknowledgement.
 *
 * Each hand-on has one outcome, in the order in which they were handed on; so the next outcome
 * always belongs to the oldest hand-on without one.
 */
export class InFlight {
  /** Slots in the order of arrival, which is the order of acknowledgement ([MQTT-4.6.0-2]). */
  readonly #slots: Slot[] = []
  /** Slots in the order in which they were handed on, which is the order of their outcomes. */
  readonly #handedOn: Slot[] = []
  #finished = 0
  #bytes = 0

  /** True when the client has to wait before more of it is read. */
  get isFull(): boolean {
    return this.#slots.length >= readingsMax || this.#bytes >= bytesMax
  }

  /** Memory that the readings keep. */
  get bytes(): number {
    return this.#bytes
  }

  /** Hand-ons that are remembered: at most two for each reading, however often they fail. */
  get remembered(): number {
    return this.#handedOn.length
  }

  /** Notes a reading that was just handed on. */
  add(packet: Packet, packetId: number): void {
    this.#handedOn.push(this.#addSlot(packet, packetId, 'pending'))
  }

  /** Notes a reading that is not handed on before those that have failed. */
  addFailed(packet: Packet, packetId: number): void {
    this.#addSlot(packet, packetId, 'failed')
  }

  /** Takes the next outcome. */
  finish(outcome: 'durable' | 'failed'): void {
    const slot = this.#handedOn[this.#finished]
    if (slot === undefined) return
    slot.state = outcome
    this.#finished++
  }

  /** What has failed, which the caller hands on again at once and in this order. */
  takeFailed(): readonly Packet[] {
    this.#forgetFinished()
    const failed = this.#slots.filter(({ state }) => state === 'failed')
    for (const slot of failed) {
      slot.state = 'pending'
      this.#handedOn.push(slot)
    }
    return failed
  }

  /** PUBACK packets of all readings that are durable, like all before them; or nothing. */
  takeAcknowledgements(): Buffer | undefined {
    this.#forgetFinished()
    const waiting = this.#slots.findIndex(({ state }) => state !== 'durable')
    const durable = this.#slots.splice(0, waiting === -1 ? this.#slots.length : waiting)
    const bytes = Buffer.allocUnsafe(durable.length * pubackBytes)
    let end = 0
    for (const { packetId, keptBytes } of durable) {
      this.#bytes -= keptBytes
      // PUBACK, section 3.4: type and flags, remaining length, packet id.
      if (packetId !== 0) end = bytes.writeUInt32BE(0x40020000 + packetId, end)
    }
    return end === 0 ? undefined : bytes.subarray(0, end)
  }

  #addSlot({ bytes, start, end }: Packet, packetId: number, state: Slot['state']): Slot {
    // Packets that arrived together lie in the same memory, all of which the first keeps.
    const keptBytes = this.#slots.at(-1)?.bytes === bytes ? 0 : bytes.length
    const slot: Slot = { bytes, start, end, packetId, keptBytes, state }
    this.#bytes += keptBytes
    this.#slots.push(slot)
    return slot
  }

  #forgetFinished(): void {
    this.#handedOn.splice(0, this.#finished)
    this.#finished = 0
  }
}
