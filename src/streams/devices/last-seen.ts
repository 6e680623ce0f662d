import type { Compilable } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'

/** Devices that are remembered between two writes; those beyond are written down the next time. */
const pendingMax = 100_000

/** Devices that are written in one transaction. */
const flushedMax = 500

interface Origin {
  readonly address: string
  readonly protocol: string
}

interface Sight extends Origin {
  readonly atUs: number
}

/** Who sends over a connection that stays open. */
export type ActiveDevices = () => readonly { readonly id: string; readonly address: string }[]

export interface LastSeenNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/**
 * When devices were seen, and from where. It is only remembered, and written about once a minute: a
 * fleet that sends every second would otherwise be a write for each reading.
 */
export class LastSeen {
  readonly #needs: LastSeenNeeds
  readonly #pending = new Map<string, Sight>()
  #active: ActiveDevices = () => []

  constructor(needs: LastSeenNeeds) {
    this.#needs = needs
  }

  /** Devices that were seen and are not written down yet. */
  get pending(): number {
    return this.#pending.size
  }

  /** Names the devices that are asked before each write, so that what arrives over an open connection costs nothing. */
  watch(active: ActiveDevices): void {
    this.#active = active
  }

  note(id: string, { address, protocol }: Origin): void {
    if (this.#pending.size >= pendingMax && !this.#pending.has(id)) return
    this.#pending.set(id, { address, protocol, atUs: this.#needs.clock.nowUs() })
  }

  /** Called about once a minute. What cannot be written is tried again the next time. */
  async flush(): Promise<void> {
    for (const { id, address } of this.#active()) this.note(id, { address, protocol: 'mqtt' })
    const seen = [...this.#pending]
    for (let from = 0; from < seen.length; from += flushedMax) {
      const flushed = seen.slice(from, from + flushedMax)
      await this.#needs.writer.commit(...flushed.map(([id, sight]) => this.#update(id, sight)))
      for (const [id, sight] of flushed) {
        // Who was seen again meanwhile is written down the next time.
        if (this.#pending.get(id) === sight) this.#pending.delete(id)
      }
    }
  }

  #update(id: string, { atUs, address, protocol }: Sight): Compilable {
    return this.#needs.state
      .updateTable('devices')
      .set({
        last_seen_at: atUs,
        last_seen_address: address,
        last_seen_protocol: protocol,
      })
      .where('id', '=', id)
  }
}
