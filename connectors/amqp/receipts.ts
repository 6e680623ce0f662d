import { hash } from 'node:crypto'
import { LruMap } from '../../src/core/lru-map.ts'

interface Receipt {
  readonly payloadDigest: string
  readonly receivedAtUs: number
}

/**
 * Times of receipt of messages whose readings have no time of their own, by their message id. What is delivered again,
 * because the connection broke before its acknowledgement was heard, keeps its time: so it is the same reading.
 */
export class Receipts {
  readonly #known: LruMap<string, Receipt>

  /** @param messagesMax as many as a server may deliver anew */
  constructor(messagesMax: number) {
    this.#known = new LruMap(messagesMax)
  }

  remember(messageId: string, payload: Buffer, receivedAtUs: number): void {
    this.#known.set(messageId, { payloadDigest: digestOf(payload), receivedAtUs })
  }

  /** The time of the first receipt, where it is known. */
  find(messageId: string, payload: Buffer): number | undefined {
    const receipt = this.#known.get(messageId)
    // An id that somebody gives twice stands for two messages.
    return receipt?.payloadDigest === digestOf(payload) ? receipt.receivedAtUs : undefined
  }
}

function digestOf(payload: Buffer): string {
  return hash('sha256', payload).slice(0, 16)
}
