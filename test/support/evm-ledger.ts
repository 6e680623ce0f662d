import { readFileSync } from 'node:fs'
import { encodeDeployData } from 'viem/utils'
import { artifactFile, targets } from '../../scripts/contracts/compile-contract.ts'
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

/** A contract of somebody that knows no assets, as those from before there were any: nobody can call what has another name. */
export async function contractBeforeAssets(node: LocalNode, owner: string): Promise<string> {
  const [target] = targets
  const { abi, bytecode } = JSON.parse(readFileSync(artifactFile(target), 'utf8')) as {
    readonly abi: readonly unknown[]
    readonly bytecode: string
  }
  const before = bytecode.replace('63096faae414', '63ffffffff14') as `0x${string}`
  const data = encodeDeployData({ abi, bytecode: before, args: [owner] })
  const [from] = (await node.call('eth_accounts')) as readonly string[]
  const hash = await node.call('eth_sendTransaction', { from, data })
  for (;;) {
    const receipt = (await node.call('eth_getTransactionReceipt', hash)) as {
      readonly contractAddress: string
    } | null
    if (receipt) return receipt.contractAddress
    await node.mine()
  }
}
