import type { ServerResponse } from 'node:http'
import { DomainError } from '../../core/errors.ts'

/** Bodies below this are not counted: ten thousand of them fit into the memory. */
const countedBytes = 8 * 1024

/** Bytes of bodies that one user, and all users, may have in flight. */
const bytesOfUserMax = 32 * 1024 * 1024
const bytesMax = 128 * 1024 * 1024

/** The room of one body, which is given back when its request is answered or its connection ends. */
export interface BodyRoom {
  /** @throws DomainError `overloaded` when there is no room for so many bytes more */
  take(bytes: number): void
}

/**
 * The memory of bodies whose requests are not answered yet: those that arrive, compressed or not,
 * and those that are dealt with. One user alone cannot use up the room of all. A body that never
 * ends gives its room back within half a minute, because a request has to arrive in that time.
 */
export class BodiesInFlight {
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  roomOf(owner: string, answer: ServerResponse): BodyRoom {
    let uncounted = 0
    let counted = 0
    return {
      take: (bytes) => {
        uncounted += bytes
        // Nobody would tell us any more when to give it back.
        if (answer.destroyed) throw new DomainError('malformed_body', 'the body was cut off')
        if (counted + uncounted < countedBytes) return
        this.#take(owner, uncounted)
        if (counted === 0) answer.once('close', () => this.#giveBack(owner, counted))
        counted += uncounted
        uncounted = 0
      },
    }
  }

  #take(owner: string, bytes: number): void {
    const ofOwner = this.#bytesOf.get(owner) ?? 0
    if (ofOwner + bytes > bytesOfUserMax || this.#bytes + bytes > bytesMax) {
      const message = 'too many large bodies are in flight: send fewer at once'
      throw new DomainError('overloaded', message, { retryAfter: 1 })
    }
    this.#bytes += bytes
    this.#bytesOf.set(owner, ofOwner + bytes)
  }

  #giveBack(owner: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#bytesOf.get(owner) ?? 0) - bytes
    // Owners who have nothing in flight are not remembered: the map has no more than all bodies.
    if (left === 0) this.#bytesOf.delete(owner)
    else this.#bytesOf.set(owner, left)
  }
}
