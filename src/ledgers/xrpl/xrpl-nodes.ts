import { messageOf } from '../../core/errors.ts'
import { LedgerUnreachable } from '../ledger.ts'
import { dropsOfXrp, type Members, membersOf, numberOf, textOf } from './answers.ts'
import {
  connectionTo,
  type NodeAnswer,
  type NodeCall,
  type NodeConnection,
} from './node-connection.ts'

export interface XrplNodesNeeds {
  /** Tried in turn. */
  readonly endpoints: readonly string[]
  /** `xrpl:<network id>`: what each node has to say. */
  readonly network: string
}

/** How a node was when it answered. */
export interface NodeState {
  /** The newest ledger that is validated: it, and what is before it, is never taken back. */
  readonly validated: number
  /** Ledgers that it has, from the first to the last of each stretch. */
  readonly complete: readonly Stretch[]
  /** Drops that a transaction costs now, without what the open ledger asks for. */
  readonly loadFee: bigint
  /** Drops that stay in an account: by itself, and for each thing that it owns. */
  readonly reserveBase: bigint
  readonly reserveEach: bigint
}

interface Stretch {
  readonly first: number
  readonly last: number
}

export interface NodeAnswers extends NodeState {
  /** To each call, in order. */
  readonly answers: readonly NodeAnswer[]
  /** Whether it has all ledgers that any node has told of. Only such a one is believed that something is not there. */
  readonly isFresh: boolean
}

/** The nodes of a network, asked one at a time: the next one when one does not answer, or lags behind. */
export class XrplNodes {
  readonly #needs: XrplNodesNeeds
  readonly #connections: readonly NodeConnection[]
  #current = 0
  /** The newest validated ledger that any of them has told of. */
  #seen = 0

  constructor(needs: XrplNodesNeeds) {
    this.#needs = needs
    this.#connections = needs.endpoints.map(connectionTo)
  }

  /**
   * Asks for several things, of one node.
   *
   * @param isEnough whether an answer is to be taken; else the next node is asked
   * @throws LedgerUnreachable when nobody gives one
   */
  async ask(
    calls: readonly NodeCall[],
    isEnough: (answers: NodeAnswers) => boolean = () => true,
  ): Promise<NodeAnswers> {
    const problems = new Set<string>()
    for (let tried = 0; tried < this.#connections.length; tried++) {
      const at = this.#current
      try {
        const answers = await this.#askOne(this.#connections[at] as NodeConnection, calls)
        if (isEnough(answers)) return answers
        problems.add('the node is behind what a node has told before')
      } catch (error) {
        problems.add(messageOf(error))
      }
      // Others that were asked meanwhile may have gone on already.
      if (this.#current === at) this.#current = (at + 1) % this.#connections.length
    }
    throw new LedgerUnreachable([...problems].join('; '))
  }

  /** As `ask`, of a node that has all that any has told of. */
  async askFresh(calls: readonly NodeCall[]): Promise<NodeAnswers> {
    return await this.ask(calls, ({ isFresh }) => isFresh)
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  async #askOne(connection: NodeConnection, calls: readonly NodeCall[]): Promise<NodeAnswers> {
    const seenBefore = this.#seen
    // First, and by itself: no answer to the others may be of an earlier state, nor of another network.
    const [server] = await connection.ask([{ command: 'server_info' }])
    const info = membersOf(resultOf(server)['info'])
    // Nodes of the main network need not be told which one they are of, and then do not say so.
    const named = `xrpl:${numberOf(info['network_id'] ?? 0)}`
    const { network } = this.#needs
    if (named !== network) {
      throw new Error(`the node is one of ${named}, and ${network} is configured`)
    }
    const state = stateOf(info)
    const answers = calls.length > 0 ? await connection.ask(calls) : []
    this.#seen = Math.max(state.validated, this.#seen)
    return { ...state, answers, isFresh: state.validated >= seenBefore }
  }
}

/** Whether a node has all ledgers from one to another. */
export function isWhole(complete: readonly Stretch[], first: number, last: number): boolean {
  return complete.some((one) => one.first <= first && one.last >= last)
}

/** @throws LedgerUnreachable where the node says that it cannot */
export function resultOf(answer: NodeAnswer | undefined): Members {
  if (answer && 'result' in answer) return answer.result
  throw new LedgerUnreachable(`the node answers ${answer?.error ?? 'nothing'}`)
}

/** As `resultOf`; undefined where it says that there is no such thing. */
export function foundIn(answer: NodeAnswer | undefined, absent: string): Members | undefined {
  return answer && 'error' in answer && answer.error === absent ? undefined : resultOf(answer)
}

function stateOf(info: Members): NodeState {
  if (info['validated_ledger'] === undefined) {
    throw new Error('the node has no validated ledger yet')
  }
  const ledger = membersOf(info['validated_ledger'])
  const loadFactor = numberOf(info['load_factor'] ?? 1)
  return {
    validated: numberOf(ledger['seq']),
    complete: stretchesOf(textOf(info['complete_ledgers'])),
    loadFee: dropsOfXrp(numberOf(ledger['base_fee_xrp']) * loadFactor),
    reserveBase: dropsOfXrp(ledger['reserve_base_xrp']),
    reserveEach: dropsOfXrp(ledger['reserve_inc_xrp']),
  }
}

/** Reads `24900901-24900984,24901116-24901158`, or `empty`. */
function stretchesOf(text: string): readonly Stretch[] {
  return text.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number)
    return Number.isInteger(first) && Number.isInteger(last) ? [{ first, last }] : []
  })
}
