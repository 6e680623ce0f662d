import { setTimeout as sleep } from 'node:timers/promises'
import type { XrplNodes } from './xrpl-nodes.ts'

/** Until a node is asked again: more each time that there is no new ledger. They come every three to five seconds. */
const waitMsMin = 50
const waitMsMax = 1_000

/** Tells of validated ledgers, also of those that came while nobody waited. */
export class LedgerWatch {
  readonly #nodes: XrplNodes
  #told = -1

  constructor(nodes: XrplNodes) {
    this.#nodes = nodes
  }

  /** Resolves when there is another ledger than at the last time, or the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    for (let waitMs = waitMsMin; !signal.aborted; waitMs = Math.min(waitMsMax, waitMs * 1.5)) {
      const validated = await this.#validated()
      if (validated !== undefined && !signal.aborted && validated !== this.#told) {
        this.#told = validated
        return
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Undefined while nobody answers: that is told to whoever asks for more than this. */
  async #validated(): Promise<number | undefined> {
    try {
      return (await this.#nodes.ask([])).validated
    } catch {
      return undefined
    }
  }
}
