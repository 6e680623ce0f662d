import { expect } from 'vitest'
import { EvmLedger, type EvmNeeds } from '../../src/ledgers/evm/evm-ledger.ts'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { openEvmLedger, settingsOf } from './evm-ledger.ts'
import type { LocalNode } from './evm-nodes.ts'
import { NodeProxy } from './node-proxy.ts'

/** A ledger behind proxies of its own. */
export interface ProxiedEvm extends AsyncDisposable {
  readonly ledger: EvmLedger
  readonly proxies: readonly NodeProxy[]
}

/** Sees a node over so many ways, which are tried in turn. */
export async function proxiedEvm(
  node: LocalNode,
  ways = 1,
  said: Partial<EvmNeeds> = {},
): Promise<ProxiedEvm> {
  const first = await openEvmLedger(node, said)
  const proxies: NodeProxy[] = []
  for (let at = 0; at < ways; at++) proxies.push(await NodeProxy.start(node.endpoint))
  const endpoints = proxies.map(({ endpoint }) => endpoint)
  const { contract } = first
  await first.close()
  const ledger = new EvmLedger({ ...settingsOf(node, said), contract, endpoints })
  return {
    ledger,
    proxies,
    async [Symbol.asyncDispose]() {
      await ledger.close()
      for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
    },
  }
}

/** What is thrown by something that cannot be asked now: it must not show an address. */
export async function problemOf(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(LedgerUnreachable)
  const { message } = error as LedgerUnreachable
  expect(message).not.toContain('127.0.0.1')
  return message
}
