import {
  decodeFunctionResult,
  encodeFunctionData,
  getCreate2Address,
  numberToHex,
  parseAbi,
} from 'viem/utils'
import { type IssuedAsset, LedgerUnreachable } from '../ledger.ts'
import { knowsAssets } from '../nodes/contract-code.ts'
import type { RpcCall } from '../nodes/json-rpc.ts'
import { answered, issuersIn, numberOfUuid, tokenHashCall } from './anchors-contract.ts'
import { type EvmNode, resultOf } from './evm-node.ts'
import { type Hex, hexOf, hexOfNumber } from './quantities.ts'

/** What is asked of `contract/StreamvaultToken.sol`. */
const tokenAbi = parseAbi([
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function maker() view returns (address)',
])

const questions = ['symbol', 'decimals', 'totalSupply', 'maker'] as const

/** Assets that the contract has made, or would make: where each is follows from the contract and from the stream alone. */
export class ContractAssets {
  readonly #node: EvmNode
  readonly #contract: Hex
  /** It never changes. */
  #tokenHash: Hex | undefined

  constructor(node: EvmNode, contract: Hex) {
    this.#node = node
    this.#contract = contract
  }

  /**
   * Where the asset of a stream is, or would be (EIP-55, EIP-1014); undefined where the contract knows no assets.
   *
   * @throws LedgerUnreachable
   */
  async addressOf(streamId: string): Promise<Hex | undefined> {
    this.#tokenHash ??= await this.#askedHash()
    if (this.#tokenHash === undefined) return undefined
    return getCreate2Address({
      from: this.#contract,
      salt: numberToHex(numberOfUuid(streamId), { size: 32 }),
      bytecodeHash: this.#tokenHash,
    })
  }

  /**
   * The address of an asset that a transaction has made.
   *
   * @param logs those of its receipt
   * @throws LedgerUnreachable also where they are not of it
   */
  async madeBy({ streamId }: IssuedAsset, logs: readonly unknown[]): Promise<string> {
    const address = await this.addressOf(streamId)
    if (address !== undefined && issuersIn(logs).includes(address.toLowerCase())) return address
    throw new LedgerUnreachable('the node reports an asset that is not where it has to be')
  }

  /**
   * The address of an asset that is there already, if it is the same: code, precision, all of it, and made by our contract.
   *
   * @throws LedgerUnreachable
   */
  async same({ streamId, code, precision, amount }: IssuedAsset): Promise<string | undefined> {
    const address = await this.addressOf(streamId)
    if (address === undefined) return undefined
    const [there, ...said] = await this.#asked([
      codeCall(address),
      ...questions.map((functionName) =>
        viewCall(address, encodeFunctionData({ abi: tokenAbi, functionName })),
      ),
    ])
    if (there === '0x') return undefined
    const wanted = [code, `${precision}`, amount, this.#contract]
    const isSame = questions.every((name, at) => textSaid(name, said[at] ?? '0x') === wanted[at])
    return isSame ? address : undefined
  }

  /** One that was made before there were assets has none. */
  async #askedHash(): Promise<Hex | undefined> {
    const [code = '0x'] = await this.#asked([codeCall(this.#contract)])
    if (!knowsAssets(code)) return undefined
    const [answer = '0x'] = await this.#asked([viewCall(this.#contract, tokenHashCall())])
    const hash = answered('tokenHash', answer)
    return typeof hash === 'string' ? hexOf(hash) : undefined
  }

  /** At the newest block, by its number: whoever does not have that one says so, and not that there is nothing. */
  async #asked(calls: readonly RpcCall[]): Promise<readonly Hex[]> {
    const { head } = await this.#node.askFresh([])
    const block = hexOfNumber(head)
    const { answers } = await this.#node.askFresh(
      calls.map(({ method, params }) => ({ method, params: [...params, block] })),
    )
    return answers.map((answer) => hexOf(resultOf(answer)))
  }
}

/** These are asked at a block. */
function codeCall(address: Hex): RpcCall {
  return { method: 'eth_getCode', params: [address] }
}

function viewCall(to: Hex, data: Hex): RpcCall {
  return { method: 'eth_call', params: [{ to, data }] }
}

/** What a token answers; undefined where that is nothing that one of ours says. */
function textSaid(functionName: (typeof questions)[number], data: Hex): string | undefined {
  try {
    const value = decodeFunctionResult({ abi: tokenAbi, functionName, data })
    return functionName === 'maker' ? String(value).toLowerCase() : String(value)
  } catch {
    return undefined
  }
}
