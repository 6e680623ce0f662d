import { setTimeout as sleep } from 'node:timers/promises'
import type { Heights } from '../ledger.ts'
import type { NodesInTurn } from './nodes-in-turn.ts'

/** Until a node is asked again: more each time that there is no new block. */
const waitMsMin = 50
const waitMsMaxUsual = 2_000

/** Tells of new blocks, also of those that came while nobody waited. */
export class BlockWatch {
  readonly #nodes: Pick<NodesInTurn<never, Heights>, 'ask'>
  readonly #waitMsMax: number
  #told: Heights = { head: -1, final: -1 }

  /** @param waitMsMax between two questions, at most */
  constructor(nodes: Pick<NodesInTurn<never, Heights>, 'ask'>, waitMsMax = waitMsMaxUsual) {
    this.#nodes = nodes
    this.#waitMsMax = waitMsMax
  }

  /** Resolves when there is another block than at the last time, or the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    for (let waitMs = waitMsMin; !signal.aborted; waitMs *= 1.5) {
      const heights = await this.#heights()
      if (heights && !signal.aborted && this.#isNew(heights)) {
        this.#told = heights
        return
      }
      const leftMs = Math.min(waitMs, this.#waitMsMax)
      await sleep(leftMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #isNew({ head, final }: Heights): boolean {
    return head !== this.#told.head || final !== this.#told.final
  }

  /** Undefined while nobody answers: that is told to whoever asks for more than this. */
  async #heights(): Promise<Heights | undefined> {
    try {
      return await this.#nodes.ask([])
    } catch {
      return undefined
    }
  }
}
