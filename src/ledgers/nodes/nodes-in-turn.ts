import { messageOf } from '../../core/errors.ts'
import { type Heights, LedgerUnreachable } from '../ledger.ts'

/** After as many answers without a new block all nodes are asked how far they are. */
const silentMax = 20

/** Asks one node for several things at once; resolves with what it says, and how far it was by then. */
export type AskOne<Call, Answers extends Heights> = (calls: readonly Call[]) => Promise<Answers>

/** What a node says, and whether it knows all blocks that any had told of. Only such a one is believed that something is not there. */
export type Told<Answers extends Heights> = Answers & { readonly isFresh: boolean }

/** The nodes of a network, asked one at a time: the next one when one does not answer, or lags behind. */
export class NodesInTurn<Call, Answers extends Heights> {
  readonly #nodes: readonly AskOne<Call, Answers>[]
  #current = 0
  #heights: Heights | undefined
  #silent = 0
  #isComparing = false

  /** @param heights how far nodes were, as it is written down */
  constructor(nodes: readonly AskOne<Call, Answers>[], heights: Heights | undefined) {
    this.#nodes = nodes
    this.#heights = heights
  }

  /** The newest that any of them has told of, also before this; undefined before the first answer. */
  get heights(): Heights | undefined {
    return this.#heights
  }

  /**
   * Asks for several things at once, of one node.
   *
   * @param isEnough whether an answer is to be taken; else the next node is asked
   * @throws LedgerUnreachable when nobody gives one
   */
  async ask(
    calls: readonly Call[],
    isEnough: (told: Told<Answers>) => boolean = () => true,
  ): Promise<Told<Answers>> {
    if (this.#silent >= silentMax) void this.#compare()
    const problems = new Set<string>()
    const first = this.#current
    for (let tried = 0; tried < this.#nodes.length; tried++) {
      // Others may ask at the same time: each goes round by itself.
      const at = (first + tried) % this.#nodes.length
      const seen = this.#heights
      try {
        const told = await this.#askOne(at, calls)
        if (isEnough(told)) {
          this.#current = at
          return told
        }
        problems.add(behind(told, seen))
      } catch (error) {
        problems.add(messageOf(error))
      }
    }
    throw new LedgerUnreachable([...problems].join('; '))
  }

  /** As `ask`, of a node that knows all that any has told of. */
  async askFresh(calls: readonly Call[]): Promise<Told<Answers>> {
    return await this.ask(calls, ({ isFresh }) => isFresh)
  }

  /** Has all say how far they are: one that has stopped would else be believed, because nobody has told of more. */
  async #compare(): Promise<void> {
    if (this.#nodes.length === 1 || this.#isComparing) return
    this.#isComparing = true
    await Promise.allSettled(this.#nodes.map(async (_, at) => await this.#askOne(at, [])))
    this.#silent = 0
    this.#isComparing = false
  }

  async #askOne(at: number, calls: readonly Call[]): Promise<Told<Answers>> {
    const before = this.#heights ?? { head: 0, final: 0 }
    const answers = await (this.#nodes[at] as AskOne<Call, Answers>)(calls)
    const { head, final } = answers
    const now = this.#heights ?? before
    this.#silent = head > now.head ? 0 : this.#silent + 1
    this.#heights = { head: Math.max(head, now.head), final: Math.max(final, now.final) }
    return { ...answers, isFresh: head >= before.head && final >= before.final }
  }
}

/** Why a node is not asked any further: it does not know all that one has told of. */
function behind({ head, final }: Heights, seen: Heights = { head: 0, final: 0 }): string {
  const [what, is, was] =
    head < seen.head ? ['block', head, seen.head] : ['final block', final, seen.final]
  return `the node is at the ${what} ${is}, and one has reported ${was} before: it lags behind, or its chain was begun again`
}
