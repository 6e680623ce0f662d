import { systemClock } from '../../src/core/clock.ts'
import { deployContract } from '../../src/ledgers/evm/deploy-contract.ts'
import { EvmLedger, type EvmNeeds } from '../../src/ledgers/evm/evm-ledger.ts'
import { signerOf } from './evm-account.ts'
import type { LocalNode } from './evm-nodes.ts'

/** How a ledger of a local node is set; final is what is in a block. */
export function settingsOf(
  node: Pick<LocalNode, 'endpoint'> & Partial<LocalNode>,
  said: Partial<EvmNeeds> = {},
) {
  const { endpoint, network = 'eip155:31337' } = node
  return {
    ledger: 'ETHEREUM',
    endpoints: [endpoint],
    network,
    finality: 0,
    feeMax: undefined,
    signer: signerOf(),
    clock: systemClock,
    batchWaitUs: 50_000,
    ...said,
  } as const
}

/** A contract of its own on a node, and what sees it. */
export async function openEvmLedger(
  node: LocalNode,
  said: Partial<EvmNeeds> = {},
): Promise<EvmLedger> {
  const settings = settingsOf(node, said)
  const contract = said.contract ?? (await deployContract(settings))
  return new EvmLedger({ ...settings, contract })
}
