import { networkOf } from '../../../src/core/network-of.ts'

/** How many connections there may be at a time. */
export interface ConnectionLimits {
  readonly ofAll: number
  /** Connections from one address, or one /64 of IPv6. A whole fleet may stand behind it. */
  readonly ofAddress: number
  readonly ofUser: number
}

/** Why a connection is not let in: each is a label of a metric. */
export type RefusalReason = 'all' | 'address' | 'user'

/** The place that one connection has, from its beginning to its end. */
export interface Place {
  /** Counts it as one of this user, too; false when the user has no place left. */
  takeFor(userId: string): boolean
  leave(): void
}

/** Counts connections, so that neither one address nor one user takes the places of all others. */
export class Admission {
  readonly #limits: ConnectionLimits
  #ofAll = 0
  readonly #ofAddress = new Map<string, number>()
  readonly #ofUser = new Map<string, number>()
  readonly #refused: Record<RefusalReason, number> = { all: 0, address: 0, user: 0 }

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Connections that were not let in, by the limit that they would have broken. */
  get refused(): Readonly<Record<RefusalReason, number>> {
    return { ...this.#refused }
  }

  get open(): number {
    return this.#ofAll
  }

  /** Whether there is a place for one more connection of an address; counts a refusal. */
  hasPlace(address: string): boolean {
    return this.#hasPlace(networkOf(address))
  }

  /** Takes a place; undefined when there is none. */
  enter(address: string): Place | undefined {
    const network = networkOf(address)
    if (!this.#hasPlace(network)) return undefined
    this.#ofAll++
    add(this.#ofAddress, network, 1)
    let user: string | undefined
    let isOpen = true
    return {
      takeFor: (userId) => {
        if (!isOpen) return false
        if (user !== undefined) return user === userId
        if ((this.#ofUser.get(userId) ?? 0) >= this.#limits.ofUser) return this.#refuse('user')
        user = userId
        add(this.#ofUser, userId, 1)
        return true
      },
      leave: () => {
        if (!isOpen) return
        isOpen = false
        this.#ofAll--
        add(this.#ofAddress, network, -1)
        if (user !== undefined) add(this.#ofUser, user, -1)
      },
    }
  }

  #hasPlace(network: string): boolean {
    if (this.#ofAll >= this.#limits.ofAll) return this.#refuse('all')
    const isFull = (this.#ofAddress.get(network) ?? 0) >= this.#limits.ofAddress
    return isFull ? this.#refuse('address') : true
  }

  #refuse(reason: RefusalReason): false {
    this.#refused[reason]++
    return false
  }
}

function add(counts: Map<string, number>, name: string, difference: number): void {
  const count = (counts.get(name) ?? 0) + difference
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
