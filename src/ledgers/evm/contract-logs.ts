import { LruMap } from '../../core/lru-map.ts'
import type { FoundTransaction } from '../ledger.ts'
import { LedgerUnreachable } from '../ledger.ts'
import {
  anchoredTopic,
  answered,
  firstBlockCall,
  intentOfTopic,
  intentTopic,
  saidBy,
} from './anchors-contract.ts'
import { type EvmNode, resultOf } from './evm-node.ts'
import { blobOfMembers } from './evm-transaction.ts'
import { type Hex, hexOf, listOf, membersOf, textOf } from './quantities.ts'

/** Intents that are asked for at once: nodes take 1,000 topics. */
const intentsMax = 250

/** Blocks whose logs are asked for at once: halved where a node refuses that. */
const blocksMax = 10_000

/** Intents of which it is remembered how far they were looked for. */
const rememberedMax = 10_000

/** Finds what the contract has said of intents, in its logs. */
export class ContractLogs {
  readonly #node: EvmNode
  readonly #contract: Hex
  /** By intent, the final block up to which there is nothing of it. */
  readonly #absentUpTo = new LruMap<string, number>(rememberedMax)
  #firstBlock: number | undefined
  #blocks = blocksMax

  constructor(node: EvmNode, contract: Hex) {
    this.#node = node
    this.#contract = contract
  }

  /** @throws LedgerUnreachable */
  async find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>> {
    const found = new Map<string, FoundTransaction>()
    for (let from = 0; from < intentIds.length; from += intentsMax) {
      const hashes = await this.#hashesOf(intentIds.slice(from, from + intentsMax))
      for (const [intentId, hash] of hashes) found.set(intentId, await this.#transaction(hash))
    }
    return found
  }

  async #hashesOf(intentIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const first = await this.#first()
    const { head, final } = await this.#node.askFresh([])
    const topics = [anchoredTopic, intentIds.map(intentTopic)]
    const absent = intentIds.map((id) => this.#absentUpTo.get(id) ?? 0)
    const hashes = new Map<string, string>()
    let from = Math.max(first, Math.min(...absent) + 1)
    while (from <= head) {
      const to = Math.min(head, from + this.#blocks - 1)
      const logs = await this.#logs(topics, from, to)
      if (logs === undefined) continue
      for (const [intentId, hash] of logs) if (!hashes.has(intentId)) hashes.set(intentId, hash)
      from = to + 1
    }
    for (const id of intentIds) if (!hashes.has(id)) this.#absentUpTo.set(id, final)
    return hashes
  }

  async #first(): Promise<number> {
    if (this.#firstBlock !== undefined) return this.#firstBlock
    const call = { to: this.#contract, data: firstBlockCall() }
    const { answers } = await this.#node.ask([{ method: 'eth_call', params: [call, 'latest'] }])
    const block = answered('firstBlock', hexOf(resultOf(answers[0])))
    if (typeof block !== 'bigint') throw new LedgerUnreachable('the contract is not there')
    return (this.#firstBlock = Number(block))
  }

  /** Pairs of intents and hashes; undefined where fewer blocks are to be asked for. */
  async #logs(
    topics: readonly unknown[],
    from: number,
    to: number,
  ): Promise<readonly (readonly [string, string])[] | undefined> {
    const [fromBlock, toBlock] = [`0x${from.toString(16)}`, `0x${to.toString(16)}`]
    const filter = { address: this.#contract, topics, fromBlock, toBlock }
    const { answers } = await this.#node.askFresh([{ method: 'eth_getLogs', params: [filter] }])
    const [answer] = answers
    if (answer && 'error' in answer && to > from) {
      this.#blocks = Math.max(1, Math.floor((to - from + 1) / 2))
      return undefined
    }
    return listOf(resultOf(answer)).map((log) => {
      const { topics: said, transactionHash } = membersOf(log)
      return [intentOfTopic(textOf(listOf(said)[1])), textOf(transactionHash)]
    })
  }

  async #transaction(hash: string): Promise<FoundTransaction> {
    const call = { method: 'eth_getTransactionByHash', params: [hash] }
    const { answers } = await this.#node.askFresh([call])
    const members = membersOf(resultOf(answers[0]))
    const said = await saidBy(hexOf(members['input']))
    if (!said) throw new LedgerUnreachable('the node reports a transaction that is not one of ours')
    const { kind, root, intentId, token, asset } = said
    const named = { ...(token && { uri: token.uri }), ...(asset && { asset }) }
    return { ...blobOfMembers(members), deed: { intentId, kind, root, leaves: [], ...named } }
  }
}
