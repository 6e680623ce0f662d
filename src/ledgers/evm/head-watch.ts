import { setTimeout as sleep } from 'node:timers/promises'
import type { EvmNode, Heights } from './evm-node.ts'

/** Until the node is asked again: more each time that there is no new block. */
const waitMsMin = 50
const waitMsMax = 2_000

/** Tells of new blocks, also of those that came while nobody waited. */
export class HeadWatch {
  readonly #node: EvmNode
  #told: Heights = { head: -1, final: -1 }

  constructor(node: EvmNode) {
    this.#node = node
  }

  /** Resolves when there is another block than at the last time, or the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    for (let waitMs = waitMsMin; !signal.aborted; waitMs = Math.min(waitMsMax, waitMs * 1.5)) {
      const heights = await this.#heights()
      if (heights && !signal.aborted && this.#isNew(heights)) {
        this.#told = heights
        return
      }
      await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #isNew({ head, final }: Heights): boolean {
    return head !== this.#told.head || final !== this.#told.final
  }

  /** Undefined while nobody answers: that is told to whoever asks for more than this. */
  async #heights(): Promise<Heights | undefined> {
    try {
      return await this.#node.ask([])
    } catch {
      return undefined
    }
  }
}
