import { expect } from 'vitest'
import { Wallet } from 'xrpl'
import type { KeyRole } from '../../src/ledgers/keys/ledger-key.ts'
import { localSigner } from '../../src/ledgers/keys/local-signer.ts'
import { keyOfSecret } from '../../src/ledgers/keys/make-key.ts'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import type { Signer } from '../../src/ledgers/signer.ts'
import { XrplLedger, type XrplNeeds } from '../../src/ledgers/xrpl/xrpl-ledger.ts'
import type { TestedLedger } from '../contracts/ledger-contract.ts'
import type { Chain } from './xrpl-node/chain.ts'
import { XrplNode } from './xrpl-node/xrpl-node.ts'

/** Seeds of accounts, one of each algorithm. */
export const seeds = {
  ed25519: 'sEdTM1uX8pu2do5XvTnutH6HsouMaM2',
  secp256k1: 'sn3nxiW7v8KXzPzAqzyHXbSSKNuN9',
}

/** Drops that an account of a test has. */
const funds = 100_000_000n

export async function signerOf(seed: string): Promise<Signer> {
  const pair = await keyOfSecret('xrpl', seed)
  if (!pair) throw new Error('it is no seed')
  return localSigner(pair)
}

/** The issuer of a node, whether or not it has money there. */
export async function openXrplLedger(
  node: XrplNode,
  said: Partial<XrplNeeds> = {},
): Promise<XrplLedger> {
  return new XrplLedger({
    endpoints: [node.endpoint],
    network: `xrpl:${node.networkId}`,
    feeMax: undefined,
    issuer: await signerOf(seeds.secp256k1),
    distributor: await signerOf(seeds.ed25519),
    role: 'issuer',
    batchWaitUs: 50_000,
    ...said,
  })
}

/** A node of its own, with an issuer that has money. */
export async function fundedLedger(said: Partial<XrplNeeds> = {}) {
  const node = await XrplNode.start()
  const ledger = await openXrplLedger(node, said)
  node.chain.fund(ledger.account, funds)
  return {
    node,
    chain: node.chain,
    ledger,
    async [Symbol.asyncDispose]() {
      await ledger.close()
      await node[Symbol.asyncDispose]()
    },
  }
}

/** A node of its own, as both of our accounts see it; they have money. */
export async function fundedAccounts(said: Partial<XrplNeeds> = {}) {
  const node = await XrplNode.start()
  const { chain } = node
  const opened = async () => ({
    issuer: await openXrplLedger(node, said),
    distributor: await openXrplLedger(node, { ...said, role: 'distributor' }),
  })
  let ledgers = await opened()
  const close = async () => {
    for (const ledger of Object.values(ledgers)) await ledger.close()
  }
  for (const { account } of Object.values(ledgers)) chain.fund(account, funds)
  return {
    node,
    chain,
    ledgerOf: (role: KeyRole) => ledgers[role],
    async restart() {
      await close()
      ledgers = await opened()
    },
    async [Symbol.asyncDispose]() {
      await close()
      await node[Symbol.asyncDispose]()
    },
  }
}

/** What the contract of ledgers is tried on: ledgers are closed fast, and nothing is ever taken back. */
export async function testedXrpl(seed: string): Promise<TestedLedger> {
  const issuer = await signerOf(seed)
  const { node, chain, ledger: first } = await fundedLedger({ issuer })
  chain.closeEvery(100)
  let ledger = first
  return {
    ledger,
    keepsLeaves: false,
    async restart(between) {
      await ledger.close()
      between?.()
      await node.down()
      await node.up()
      ledger = await openXrplLedger(node, { issuer })
      return ledger
    },
    async goDown() {
      await node.down()
    },
    async [Symbol.asyncDispose]() {
      await ledger.close()
      await node[Symbol.asyncDispose]()
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

/** Sends something from the account of the issuer without us. */
export function sendByHand(chain: Chain): void {
  const wallet = Wallet.fromSeed(seeds.secp256k1)
  const account = wallet.classicAddress
  const { networkId } = chain.rules
  const { tx_blob: blob } = wallet.sign({
    TransactionType: 'AccountSet',
    Account: account,
    Fee: '10',
    Sequence: chain.current().get(account)?.sequence ?? 0,
    ...(networkId > 1_024 && { NetworkID: networkId }),
  })
  expect(chain.submit(blob)).toBe('tesSUCCESS')
}
