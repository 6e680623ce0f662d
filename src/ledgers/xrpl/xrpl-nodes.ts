import { type Heights, LedgerUnreachable } from '../ledger.ts'
import { connectionTo } from '../nodes/node-connection.ts'
import { NodesInTurn } from '../nodes/nodes-in-turn.ts'
import type { NodeConnection } from '../nodes/wording.ts'
import { type NodeAnswer, type NodeCall, xrplCommands } from '../nodes/xrpl-commands.ts'
import { countOf, dropsOfXrp, type Members, membersOf, numberOf, textOf } from './answers.ts'

export interface XrplNodesNeeds {
  /** Tried in turn. */
  readonly endpoints: readonly string[]
  /** `xrpl:<network id>`: what each node has to say. */
  readonly network: string
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
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

interface NodeAnswers extends NodeState, Heights {
  /** To each call, in order. */
  readonly answers: readonly NodeAnswer[]
}

/** The nodes of a network of the XRP Ledger. */
export class XrplNodes extends NodesInTurn<NodeCall, NodeAnswers> {
  readonly #connections: readonly NodeConnection<NodeCall, NodeAnswer>[]

  constructor(needs: XrplNodesNeeds) {
    const connections = needs.endpoints.map((one) => connectionTo(one, xrplCommands))
    super(
      connections.map((connection) => async (calls) => await askOne(connection, needs, calls)),
      needs.heights,
    )
    this.#connections = connections
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

async function askOne(
  connection: NodeConnection<NodeCall, NodeAnswer>,
  { network }: XrplNodesNeeds,
  calls: readonly NodeCall[],
): Promise<NodeAnswers> {
  // First, and by itself: no answer to the others may be of an earlier state, nor of another network.
  const [server] = await connection.ask([{ command: 'server_info' }])
  const info = membersOf(resultOf(server)['info'])
  // Nodes of the main network need not be told which one they are of, and then do not say so.
  const named = `xrpl:${countOf(info['network_id'] ?? 0)}`
  if (named !== network) {
    throw new Error(`the node is one of ${named}, and ${network} is configured`)
  }
  const state = stateOf(info)
  const answers = calls.length > 0 ? await connection.ask(calls) : []
  // What is validated is final.
  return { ...state, head: state.validated, final: state.validated, answers }
}

/** Whether a node has all ledgers from one to another. */
export function isWhole(complete: readonly Stretch[], first: number, last: number): boolean {
  return complete.some((one) => one.first <= first && one.last >= last)
}

/** @throws LedgerUnreachable where the node says that it cannot */
export function resultOf(answer: NodeAnswer | undefined): Members {
  if (answer && 'result' in answer) return answer.result
  throw new LedgerUnreachable(`the node answers with the error ${answer?.error ?? 'nothing'}`)
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
    validated: countOf(ledger['seq']),
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
