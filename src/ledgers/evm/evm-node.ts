import { type Heights, LedgerUnreachable } from '../ledger.ts'
import { jsonRpc, type RpcAnswer, type RpcCall } from '../nodes/json-rpc.ts'
import { connectionTo } from '../nodes/node-connection.ts'
import { NodesInTurn } from '../nodes/nodes-in-turn.ts'
import type { NodeConnection } from '../nodes/wording.ts'
import { blockOf, numberOf } from './quantities.ts'

/** Which block is final: what the network calls so, or one that so many blocks follow. */
export type Finality = 'finalized' | 'safe' | number

export interface EvmNodeNeeds {
  /** Tried in turn. */
  readonly endpoints: readonly string[]
  /** `eip155:<chain id>`: what each node has to say. */
  readonly network: string
  readonly finality: Finality
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
}

interface Answers extends Heights {
  /** To each call, in order. */
  readonly answers: readonly RpcAnswer[]
}

/** The nodes of a network of the EVM. */
export class EvmNode extends NodesInTurn<RpcCall, Answers> {
  readonly #connections: readonly NodeConnection<RpcCall, RpcAnswer>[]

  constructor(needs: EvmNodeNeeds) {
    const connections = needs.endpoints.map((one) => connectionTo(one, jsonRpc))
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
  connection: NodeConnection<RpcCall, RpcAnswer>,
  { network, finality }: EvmNodeNeeds,
  calls: readonly RpcCall[],
): Promise<Answers> {
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
  return { answers, head, final }
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
