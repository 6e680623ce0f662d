import { familyOf, type LedgerSettings } from '../../core/ledger-settings.ts'
import { LedgerUnreachable } from '../ledger.ts'
import { askNode } from './ask-node.ts'
import { EvmNode } from './evm-node.ts'
import type { AskOfNode, LedgerNode } from './node-figures.ts'
import type { Patience } from './wording.ts'
import { XrplNode } from './xrpl-node.ts'

/** A node says that it is of another network than the settings: nothing is signed for it. */
export class WrongNetwork extends LedgerUnreachable {
  constructor(named: string, wanted: string) {
    super(`the node is of the network ${named}, and the settings say ${wanted}: nothing is signed`)
  }
}

/** A node that was asked which network it is of. */
export interface RightNode {
  /** Where it is. It may hold a token. */
  readonly endpoint: string
  readonly node: LedgerNode
}

/**
 * The first node of a ledger that answers, and is of the network that the settings say. Whoever is to sign something asks
 * here before, at the start and whenever a connection was made anew: a node may be another one behind the same name.
 *
 * @throws WrongNetwork when one is of another network, whatever the others say; LedgerUnreachable when none answers
 */
export async function rightNode(settings: LedgerSettings, patience: Patience): Promise<RightNode> {
  let last: LedgerUnreachable | undefined
  for (const endpoint of settings.endpoints) {
    const node = nodeAt(endpoint, settings, patience)
    try {
      const named = await node.network()
      if (named !== settings.network) throw new WrongNetwork(named, settings.network)
      return { endpoint, node }
    } catch (error) {
      if (error instanceof WrongNetwork || !(error instanceof LedgerUnreachable)) throw error
      last = error
    }
  }
  throw last ?? new LedgerUnreachable('there is no node')
}

function nodeAt(endpoint: string, settings: LedgerSettings, patience: Patience): LedgerNode {
  const ask: AskOfNode = (question) => askNode(endpoint, question, patience)
  return familyOf(settings.ledger) === 'evm' ? new EvmNode(ask, settings) : new XrplNode(ask)
}
