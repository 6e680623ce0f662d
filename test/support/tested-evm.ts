import type { EvmNeeds } from '../../src/ledgers/evm/evm-ledger.ts'
import type { TestedLedger } from '../contracts/ledger-contract.ts'
import { openEvmLedger } from './evm-ledger.ts'
import type { LocalNode } from './evm-nodes.ts'
import { NodeProxy } from './node-proxy.ts'

/** What the contract of ledgers is tried on: a contract of its own on a node, behind something that can be cut. */
export async function testedEvm(
  node: LocalNode,
  said: Partial<EvmNeeds> = {},
): Promise<TestedLedger> {
  const proxy = await NodeProxy.start(node.endpoint)
  proxy.before(async (method) => {
    if (method === 'eth_sendRawTransaction') await node.beforeTransaction()
  })
  const first = await openEvmLedger(node, said)
  const { contract } = first
  await first.close()
  const endpoints = [proxy.endpoint]
  const open = async () => await openEvmLedger(node, { ...said, contract, endpoints })
  let ledger = await open()
  return {
    ledger,
    keepsLeaves: false,
    issuesAtOnce: true,
    raiseFees: async () => undefined,
    async restart(between) {
      await ledger.close()
      between?.()
      proxy.mend()
      ledger = await open()
      return ledger
    },
    async reorg() {
      await node.takeBlockBack()
      return ledger
    },
    async goDown() {
      proxy.cut()
    },
    async [Symbol.asyncDispose]() {
      await ledger.close()
      await proxy[Symbol.asyncDispose]()
    },
  }
}
