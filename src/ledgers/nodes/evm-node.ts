import type { Ledger } from '../../core/ledger.ts'
import type { LedgerSettings } from '../../core/ledger-settings.ts'
import { LedgerUnreachable } from '../ledger.ts'
import { knowsAssets } from './contract-code.ts'
import { tipMinOfPolygon } from './least-tip.ts'
import type { AskOfNode, LedgerAccountFigures, LedgerNode, OwnAccounts } from './node-figures.ts'
import { hasOnePrice } from './one-price.ts'

/** What a root costs at most, of however many leaves: the contract stores none of them. */
export const gasOfAnchor = 60_000n

/** Tips that blocks are made for. */
const tipMin: Readonly<Partial<Record<Ledger, bigint>>> = { POLYGON_POS: tipMinOfPolygon }

const usPerSecond = 1_000_000

/** A node of an EVM network (https://ethereum.org/developers/docs/apis/json-rpc/). */
export class EvmNode implements LedgerNode {
  readonly #askNode: AskOfNode
  readonly #settings: LedgerSettings

  constructor(askNode: AskOfNode, settings: LedgerSettings) {
    this.#askNode = askNode
    this.#settings = settings
  }

  async network(): Promise<string> {
    return `eip155:${quantity(await this.#ask('eth_chainId', []))}`
  }

  async figures({ issuer: account }: OwnAccounts): Promise<LedgerAccountFigures> {
    const { contract, ledger } = this.#settings
    const [block, tip, balance, code] = await Promise.all([
      this.#ask('eth_getBlockByNumber', ['latest', false]),
      // Networks without such a market do not know the question.
      this.#ask('eth_maxPriorityFeePerGas', []).catch(() => '0x0'),
      account === undefined ? undefined : this.#ask('eth_getBalance', [account, 'latest']),
      contract === undefined ? undefined : this.#ask('eth_getCode', [contract, 'latest']),
    ])
    const { timestamp, baseFeePerGas } = { ...(block as Block | null) }
    const least = tipMin[ledger] ?? 0n
    const offered = quantity(tip)
    const price = hasOnePrice(ledger, baseFeePerGas)
      ? quantity(await this.#ask('eth_gasPrice', []))
      : quantity(baseFeePerGas) + (offered > least ? offered : least)
    return {
      feeOfAnchor: price * gasOfAnchor,
      balances: balance === undefined ? {} : { issuer: quantity(balance) },
      reserveEach: 0n,
      blockTimeUs: Number(quantity(timestamp)) * usPerSecond,
      hasContract: code === undefined ? undefined : code !== '0x',
      knowsAssets: typeof code === 'string' && code !== '0x' ? knowsAssets(code) : undefined,
    }
  }

  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    return await this.#askNode({ method, params })
  }
}

interface Block {
  readonly timestamp?: unknown
  readonly baseFeePerGas?: unknown
}

/** A number as nodes write it: hexadecimal with 0x. @throws LedgerUnreachable when it is none */
function quantity(text: unknown): bigint {
  if (typeof text === 'string' && /^0x[\da-f]{1,64}$/i.test(text)) return BigInt(text)
  throw new LedgerUnreachable('the node answers with something that is not a number')
}
