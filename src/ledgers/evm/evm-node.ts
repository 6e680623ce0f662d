import { messageOf } from '../../core/errors.ts'
import { LedgerUnreachable } from '../ledger.ts'
import { type Connection, connectionTo, type RpcAnswer, type RpcCall } from './json-rpc.ts'
import { blockOf, numberOf } from './quantities.ts'

/** Which block is final: what the network calls so, or one that so many blocks follow. */
export type Finality = 'finalized' | 'safe' | number

export interface EvmNodeNeeds {
  /** Tried in turn. */
  readonly endpoints: readonly string[]
  /** `eip155:<chain id>`: what each node has to say. */
  readonly network: string
  readonly finality: Finality
}

/** How far a node was when it answered. */
export interface Heights {
  readonly head: number
  /** Up to here nothing is taken back. */
  readonly final: number
}

export interface Answers extends Heights {
  /** To each call, in order. */
  readonly answers: readonly RpcAnswer[]
  /** Whether it knows all blocks that any node has told of. Only such a one is believed that something is not there. */
  readonly isFresh: boolean
}

/** The nodes of a network, asked one at a time: the next one when one does not answer, or lags behind. */
export class EvmNode {
  readonly #needs: EvmNodeNeeds
  readonly #connections: readonly Connection[]
  #current = 0
  /** The newest that any of them has told of. */
  #seen: Heights = { head: 0, final: 0 }

  constructor(needs: EvmNodeNeeds) {
    this.#needs = needs
    this.#connections = needs.endpoints.map(connectionTo)
  }

  /**
   * Asks for several things at once, of one node.
   *
   * @param isEnough whether an answer is to be taken; else the next node is asked
   * @throws LedgerUnreachable when nobody gives one
   */
  async ask(
    calls: readonly RpcCall[],
    isEnough: (answers: Answers) => boolean = () => true,
  ): Promise<Answers> {
    const problems = new Set<string>()
    const first = this.#current
    for (let tried = 0; tried < this.#connections.length; tried++) {
      // Others may ask at the same time: each goes round by itself.
      const at = (first + tried) % this.#connections.length
      try {
        const answers = await this.#askOne(this.#connections[at] as Connection, calls)
        if (isEnough(answers)) {
          this.#current = at
          return answers
        }
        problems.add('the node is behind what a node has told before')
      } catch (error) {
        problems.add(messageOf(error))
      }
    }
    throw new LedgerUnreachable([...problems].join('; '))
  }

  /** As `ask`, of a node that knows all that any has told of. */
  async askFresh(calls: readonly RpcCall[]): Promise<Answers> {
    return await this.ask(calls, ({ isFresh }) => isFresh)
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  async #askOne(connection: Connection, calls: readonly RpcCall[]): Promise<Answers> {
    const { network, finality } = this.#needs
    const [chain, latest, tagged, ...answers] = await connection.ask([
      { method: 'eth_chainId', params: [] },
      blockCall('latest'),
      blockCall(typeof finality === 'number' ? 'latest' : finality),
      ...calls,
    ])
    const named = `eip155:${numberOf(resultOf(chain))}`
    if (named !== network) {
      throw new Error(`the node is one of ${named}, and ${network} is configured`)
    }
    const head = blockOf(resultOf(latest)).height
    const final =
      typeof finality === 'number'
        ? head - finality
        : blockOf(resultOf(tagged, `the node does not say which block is ${finality}`)).height
    const isFresh = head >= this.#seen.head && final >= this.#seen.final
    this.#seen = {
      head: Math.max(head, this.#seen.head),
      final: Math.max(final, this.#seen.final),
    }
    return { answers, head, final, isFresh }
  }
}

function blockCall(tag: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** @throws LedgerUnreachable where the node says that it cannot */
export function resultOf(answer: RpcAnswer | undefined, problem?: string): unknown {
  if (answer && 'result' in answer) return answer.result
  const code = answer?.error.code ?? 0
  throw new LedgerUnreachable(problem ?? `the node answers with the error ${code}`)
}
