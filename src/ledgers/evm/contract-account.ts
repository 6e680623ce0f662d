import { LedgerUnreachable } from '../ledger.ts'
import type { RpcAnswer, RpcCall } from '../nodes/json-rpc.ts'
import {
  answered,
  ownerCall,
  ownerOfCall,
  reasonOf,
  saidBy,
  tokenUriCall,
} from './anchors-contract.ts'
import type { ContractAssets } from './contract-assets.ts'
import { type EvmNode, resultOf } from './evm-node.ts'
import type { EvmTerms } from './evm-transaction.ts'
import { bidFor, type EvmLedgerName, type Market, marketCalls, marketOfAnswers } from './fees.ts'
import { bigOf, type Hex, hexOf, hexOfNumber } from './quantities.ts'

/** For a mint or an issue that is known to revert, because the token is there. */
const revertingGas = 200_000n

export interface ContractAccountNeeds {
  readonly ledger: EvmLedgerName
  readonly node: EvmNode
  readonly contract: Hex
  readonly assets: ContractAssets
  readonly account: string
  /** Wei per gas. */
  readonly feeMax: bigint
}

/** What an account may do with the contract, and what that costs. */
export class ContractAccount {
  readonly #needs: ContractAccountNeeds

  constructor(needs: ContractAccountNeeds) {
    this.#needs = needs
  }

  /** @throws LedgerUnreachable, also while it would cost more than is allowed, or than there is */
  async termsOf(data: Hex): Promise<EvmTerms | { readonly refused: string }> {
    const { node, account, contract, feeMax } = this.#needs
    const { answers } = await node.ask([
      this.#call(ownerCall()),
      { method: 'eth_estimateGas', params: [{ from: account, to: contract, data }] },
      { method: 'eth_getBalance', params: [account, 'latest'] },
      ...marketCalls,
    ])
    const [owner, estimate, balance, ...fees] = answers
    this.#requireOwner(hexOf(resultOf(owner)))
    const gas = (await this.#unknown(data)) ?? (await this.#gasOf(estimate, data))
    if (typeof gas !== 'bigint') return gas
    const market = marketOfAnswers(fees, this.#needs.ledger)
    const bid = bidFor(market, feeMax)
    if (!bid) {
      const asked = market.baseFee + (market.tip ?? 0n)
      throw new LedgerUnreachable(`it costs ${asked} wei per gas now, and may cost ${feeMax}`)
    }
    const terms = { gas, ...bid }
    this.requireMoney(bigOf(resultOf(balance)), terms)
    return terms
  }

  /** @throws LedgerUnreachable */
  async market(): Promise<Market> {
    const { answers } = await this.#needs.node.ask(marketCalls)
    return marketOfAnswers(answers, this.#needs.ledger)
  }

  /** @throws LedgerUnreachable when there is too little */
  requireMoney(balance: bigint, { gas, maxFee }: EvmTerms): void {
    if (balance >= gas * maxFee) return
    const { account } = this.#needs
    throw new LedgerUnreachable(
      `${account} has ${balance} wei, and a transaction may take ${gas * maxFee}`,
    )
  }

  /** The token that a call would have made, where it is there, ours, and the same. */
  async ownToken(data: Hex): Promise<string | undefined> {
    const { token, asset } = (await saidBy(data)) ?? {}
    if (asset) return await this.#needs.assets.same(asset)
    if (!token) return undefined
    const { node, account } = this.#needs
    const { head } = await node.askFresh([])
    // By its number: whoever does not have that block says so, and not that there is no token.
    const block = hexOfNumber(head)
    const { answers } = await node.askFresh([
      this.#call(ownerOfCall(token.id), block),
      this.#call(tokenUriCall(token.id), block),
    ])
    const [owner, uri] = answers.map((answer) => revertData(answer) ?? hexOf(resultOf(answer)))
    const isOurs = answered('ownerOf', owner ?? '0x') === account
    return isOurs && answered('tokenURI', uri ?? '0x') === token.uri ? `${token.id}` : undefined
  }

  /** Why a call was reverted in a block: a sentence. */
  async reasonOf(data: Hex, height: number): Promise<string> {
    const { answers } = await this.#needs.node.ask([this.#call(data, hexOfNumber(height))])
    const reverted = revertData(answers[0])
    return reverted === undefined ? 'the network has reverted it' : reasonOf(reverted)
  }

  /** What the contract was made too early for. */
  async #unknown(data: Hex): Promise<{ readonly refused: string } | undefined> {
    const { contract, assets } = this.#needs
    const asset = (await saidBy(data))?.asset
    if (!asset || (await assets.addressOf(asset.streamId)) !== undefined) return undefined
    return {
      refused: `the contract ${contract} is from before there were assets: a new one is needed (ledger deploy)`,
    }
  }

  async #gasOf(
    estimate: RpcAnswer | undefined,
    data: Hex,
  ): Promise<bigint | { readonly refused: string }> {
    const reverted = revertData(estimate)
    // More than is estimated, as what is between now and then may change it a little.
    if (reverted === undefined) return (bigOf(resultOf(estimate)) * 11n) / 10n
    const isOurs = (await this.ownToken(data)) !== undefined
    return isOurs ? revertingGas : await this.#refusal(data)
  }

  /** What ends as a failure is refused at a block that is named: nobody answers then who does not have that one. */
  async #refusal(data: Hex): Promise<{ readonly refused: string }> {
    const { node } = this.#needs
    const { head } = await node.askFresh([])
    const { answers } = await node.askFresh([this.#call(data, hexOfNumber(head))])
    const reverted = revertData(answers[0])
    if (reverted !== undefined) return { refused: reasonOf(reverted) }
    throw new LedgerUnreachable('the node says that the contract refuses it, and that it does not')
  }

  #requireOwner(data: Hex): void {
    const { account } = this.#needs
    const owner = answered('owner', data)
    if (owner === account) return
    throw new LedgerUnreachable(
      owner === undefined
        ? 'there is no contract of ours at the address that is configured'
        : `the contract belongs to ${owner}, and not to ${account}`,
    )
  }

  #call(data: Hex, block = 'latest'): RpcCall {
    const { account, contract } = this.#needs
    return { method: 'eth_call', params: [{ from: account, to: contract, data }, block] }
  }
}

/**
 * What a contract reverts with. The error 3 is that of a revert (https://github.com/ethereum/execution-apis); others have the bytes
 * with another number, and some in an object.
 */
function revertData(answer: RpcAnswer | undefined): Hex | undefined {
  if (!answer || !('error' in answer)) return undefined
  const { code, data } = answer.error
  const bytes = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  if (typeof bytes === 'string' && /^0x[0-9a-f]*$/i.test(bytes)) return bytes as Hex
  return code === 3 ? '0x' : undefined
}
