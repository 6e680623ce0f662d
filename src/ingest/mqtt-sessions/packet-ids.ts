/** Packet ids of MQTT: 1 to this. */
const packetIdMax = 65_535

/**
 * Packet ids that one client has not acknowledged yet: none of them may be given to another message
 * ([MQTT-2.3.1-2], [MQTT-2.3.1-4]). A bit for each takes 8 KiB, whatever the client does.
 */
export class PacketIds {
  readonly #used = new Uint8Array((packetIdMax + 1) / 8)
  #last = 0

  /** The next id that is free, beginning anew behind 65,535; undefined when none is. */
  take(): number | undefined {
    for (let tried = 0; tried < packetIdMax; tried++) {
      this.#last = (this.#last % packetIdMax) + 1
      if (this.#byteOf(this.#last) & bitOf(this.#last)) continue
      this.#used[this.#last >> 3] = this.#byteOf(this.#last) | bitOf(this.#last)
      return this.#last
    }
    return undefined
  }

  release(packetId: number): void {
    this.#used[packetId >> 3] = this.#byteOf(packetId) & ~bitOf(packetId)
  }

  #byteOf(packetId: number): number {
    return this.#used[packetId >> 3] ?? 0
  }
}

function bitOf(packetId: number): number {
  return 1 << (packetId & 7)
}
